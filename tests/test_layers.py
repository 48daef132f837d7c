"""Imports point to earlier stages only."""

import ast
from pathlib import Path

import taut

STAGES = [
    {"errors", "arguments", "limits", "registry", "drafts"},
    {"compiled"},
    {"geometry", "expressions"},
    {"shapes"},
    {"constraints", "forces", "joints"},
    {"scene"},
    {"linalg"},
    {"model"},
    {"methods"},
    {"contact"},
    {"cloth"},
    {"progress", "result"},
    {"initial"},
    {"simulation"},
    {"view", "picture", "export", "analysis"},
    {"cli", "__main__"},
]
PACKAGE = Path(taut.__file__).parent
RANK = {name: rank for rank, stage in enumerate(STAGES) for name in stage}


def stage_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """The stages that a file imports, wherever in the file it does so."""
    names = []
    parts = ("taut", *path.relative_to(PACKAGE).parts[:-1])
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = list(parts[: len(parts) - node.level + 1]) if node.level else []
            module = [*base, *(node.module.split(".") if node.module else [])]
            names += [module] if len(module) > 1 else [[*module, alias.name] for alias in node.names]
        elif isinstance(node, ast.Import):
            names += [alias.name.split(".") for alias in node.names]
    return {name[1] for name in names if name[0] == "taut" and len(name) > 1 and name[1] in RANK}


def test_imports_point_to_earlier_stages():
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        stage = stage_of(path)
        if stage == "__init__":
            continue  # the facade
        assert stage in RANK, f"{path.name}: say in STAGES where '{stage}' stands"
        wrong += [f"{stage} imports {other} ({path.name})" for other in imported(path) if RANK[other] > RANK[stage]]
    assert not wrong, wrong


def test_importing_taut_loads_nothing_heavy():
    import subprocess
    import sys

    heavy = ("numba", "scipy", "sympy", "xarray", "zarr", "rich")
    code = f"import sys, taut; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]", f"import taut loads {found}"
