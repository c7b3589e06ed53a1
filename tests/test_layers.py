"""Imports point down only: no upward, sibling or cyclic edge between the package's layers."""

import ast
from graphlib import TopologicalSorter
from pathlib import Path

import conformio

ROOT = Path(conformio.__file__).parent
SOLVER_LIBRARIES = {"highspy", "clarabel"}

# Each row may import the rows below it. Units of one row are siblings, except on the ground rows listed last, where a
# unit may import the units to its right.
ROWS = [
    ["cli"],
    ["studies", "report"],
    ["plots"],
    ["model", "diagnosis", "model_files"],
    ["estimators", "calibration", "prescription", "metrics", "bounds"],
    ["observations"],
    ["problems", "sets"],
    ["networks"],
    ["solvers", "_kernels", "data"],
    ["ranks", "cards"],
    ["checks"],
    ["errors"],
]
ORDERED_ROWS = {("model", "diagnosis"), ("model", "model_files")}
ENTRY_POINTS = {"__init__", "__main__"}


def unit_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_modules(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names.add(node.module or "")
            names.update(f"{node.module}.{alias.name}" for alias in node.names)
    return names


def edges() -> set[tuple[str, str]]:
    units = {unit for row in ROWS for unit in row}
    found = set()
    for path in sorted(ROOT.rglob("*.py")):
        source = unit_of(path)
        for name in imported_modules(path):
            parts = name.split(".")
            if parts[0] == "conformio" and len(parts) > 1 and parts[1] in units and parts[1] != source:
                found.add((source, parts[1]))
    return found


def level(unit: str) -> int:
    return next(k for k, row in enumerate(ROWS) if unit in row)


def allowed(source: str, target: str) -> bool:
    if level(source) == level(target):
        return (source, target) in ORDERED_ROWS
    return level(source) < level(target)


def test_every_module_belongs_to_a_row():
    units = {unit_of(path) for path in ROOT.rglob("*.py")} - ENTRY_POINTS
    assert units == {unit for row in ROWS for unit in row}


def test_imports_point_down():
    wrong = [(s, t) for s, t in edges() if s not in ENTRY_POINTS and not allowed(s, t)]
    assert not wrong


def test_the_check_sees_a_wrong_edge():
    assert not allowed("solvers", "problems")
    assert not allowed("estimators", "calibration")
    assert allowed("model", "calibration")


def test_modules_form_no_cycle():
    graph: dict[str, set[str]] = {}
    for path in ROOT.rglob("*.py"):
        if path.name == "__init__.py":
            continue
        module = module_name(path)
        graph[module] = {name for name in runtime_imports(path) if name != module}
    TopologicalSorter(graph).prepare()


def runtime_imports(path: Path) -> set[str]:
    """Modules imported by a file outside `if TYPE_CHECKING` blocks and outside functions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("conformio"):
            names.add(node.module)
    return names


def exported_names(path: Path) -> set[str] | None:
    """The names in `__all__`; None where a module has none."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return set(ast.literal_eval(node.value))
    return None


def test_modules_import_only_what_others_export():
    exports = {module_name(path): exported_names(path) for path in ROOT.rglob("*.py")}
    wrong = [
        (str(path.relative_to(ROOT)), f"{node.module}.{alias.name}")
        for path in ROOT.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and exports.get(node.module or "") is not None
        for alias in node.names
        if f"{node.module}.{alias.name}" not in exports and alias.name not in exports[node.module]
    ]
    assert not wrong


def module_name(path: Path) -> str:
    return ".".join(["conformio", *path.relative_to(ROOT).with_suffix("").parts]).removesuffix(".__init__")


def test_only_solvers_import_the_solver_libraries():
    for path in ROOT.rglob("*.py"):
        if unit_of(path) != "solvers":
            assert not {name.split(".")[0] for name in imported_modules(path)} & SOLVER_LIBRARIES, path
