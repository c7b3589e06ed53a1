"""How Sphinx builds the documentation: `make docs`."""

import sys
from importlib import metadata
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "Conformio"
author = "The Conformio contributors"
version = release = metadata.version("conformio")
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "command_reference",
    "docstrings",
]
exclude_patterns = ["_build"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]
language = "en"

nitpicky = True

myst_enable_extensions = ["colon_fence", "attrs_block"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_imported_members = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": "BaseEstimator, Exception, tuple"}
napoleon_google_docstring = False
napoleon_use_rtype = False
napoleon_use_param = False
napoleon_custom_sections = [("Attributes", "params_style")]
python_maximum_signature_line_length = 88
python_display_short_literal_types = True

html_theme = "furo"
html_title = "Conformio"
html_static_path = ["_static"]
html_css_files = ["conformio.css"]
html_favicon = "_static/mark.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b6b6f", "color-brand-content": "#0b6b6f"},
    "dark_css_variables": {"color-brand-primary": "#5cc7c4", "color-brand-content": "#5cc7c4"},
    "sidebar_hide_name": False,
}
pygments_style = "friendly"
pygments_dark_style = "native"
