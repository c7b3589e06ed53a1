"""How the studies are shown: tables, figures, one page, one document."""
