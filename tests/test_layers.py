"""Laws of the source: imports point to earlier stages only; functions and structures stay small."""

import ast
import re
from pathlib import Path

import taut
from taut import constraints, forces
from taut.methods import METHODS
from taut.shapes import SHAPES

STAGES = [
    {"errors", "arguments", "limits", "registry", "drafts", "settings"},
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


# A function fits a screen, and its parameters fit a head. Kernels of kinds take the arrays of a whole batch: their two
# signatures are documented once, in constraints/base.py and forces/base.py. Of functions that users call, keyword
# arguments are the contract.
MOST_LINES, MOST_PARAMETERS, MOST_FIELDS = 60, 10, 30
EXPERIMENTS = "analysis/papers"  # the papers' claims are lists, as long as the papers have claims
KERNELS = {
    "n at idx p p_t p_tt ints x v t second scratch phi J phi_t gamma": "constraints/base.py",
    "n at idx p p_t ints x v t scratch f power": "forces/base.py",
}
CALLED_BY_USERS = {"simulation/run.py: simulate", "scene/scene.py: rigid"}


def definitions(kind):
    """(file, node) of everything of that kind in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        yield from ((name, node) for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kind))


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[str]:
    every = function.args
    names = [argument.arg for argument in (*every.posonlyargs, *every.args, *every.kwonlyargs)]
    return names[1:] if names[:1] in (["self"], ["cls"]) else names


def test_functions_are_short_and_take_few_parameters():
    long, many = [], []
    for name, function in definitions(ast.FunctionDef | ast.AsyncFunctionDef):
        lines = function.end_lineno - function.lineno + 1
        taken, where = parameters(function), f"{name}: {function.name}"
        if lines > MOST_LINES and not name.startswith(EXPERIMENTS):
            long.append(f"{where}, {lines} lines")
        if len(taken) > MOST_PARAMETERS and " ".join(taken) not in KERNELS and where not in CALLED_BY_USERS:
            many.append(f"{where}, {len(taken)} parameters")
    assert not long and not many, "\n".join([*long, *many])


def test_nothing_is_asserted():
    """python -O leaves assertions out, and they say nothing to whom they stop: errors.present does, and TautError."""
    asserted = [f"{name}:{node.lineno}" for name, node in definitions(ast.Assert)]
    assert not asserted, asserted


def test_the_signatures_of_kernels_are_documented():
    for signature, name in KERNELS.items():
        text = " ".join((PACKAGE / name).read_text().split())
        assert f"kernel({', '.join(signature.split())})" in text, f"{name} does not say kernel({signature})"


def test_structures_of_compiled_code_are_small():
    large = []
    for name, node in definitions(ast.ClassDef):
        fields = sum(isinstance(line, ast.AnnAssign) for line in node.body)
        if any(getattr(base, "id", "") == "NamedTuple" for base in node.bases) and fields > MOST_FIELDS:
            large.append(f"{name}: {node.name}, {fields} fields")
    assert not large, large


def test_importing_taut_loads_nothing_heavy():
    import subprocess
    import sys

    heavy = ("numba", "scipy", "sympy", "xarray", "zarr", "rich")
    code = f"import sys, taut; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert found == "[]", f"import taut loads {found}"


# Elsewhere names of kinds, methods and shapes may be spoken of only where that decides nothing a declaration could.
REGISTRIES = ("constraints", "joints", "forces", "methods", "shapes")
SPOKEN = {
    "scene/robots": "URDF and MJCF name joints and shapes in their own words, which happen to be taut's",
    "analysis/compare/report.py": "'reference' is the judge's role here, whichever method plays it",
    "analysis/papers": "papers are about certain methods and kinds",
    "analysis/bench": "benchmarks measure certain methods and kinds",
    "scene/gallery": "scenes are made of certain kinds",
    "scene/materials.py": "'limit' is an option of cloth, not the kind of that name",
}


def names_in(node: ast.expr) -> set[str]:
    """Words that an expression is compared with: itself, or the entries of a tuple, list, set or table."""
    if isinstance(node, ast.Constant):
        return {node.value} if isinstance(node.value, str) else set()
    entries = node.keys if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return set().union(*(names_in(entry) for entry in entries if entry is not None))


def test_no_file_outside_of_the_registries_decides_by_the_name_of_a_kind_method_or_shape():
    """A new kind, method or shape is one file and one word in a list: what others want to know of it, it declares."""
    known = {*constraints.ALL, *forces.KINDS, *METHODS, *SHAPES}
    about = re.compile(r"\b(kind|method|shape|name)('])?$")  # spec.kind, entry['kind'], method.name, name
    wrong = []
    for path in PACKAGE.rglob("*.py"):
        place = path.relative_to(PACKAGE).as_posix()
        if stage_of(path) in REGISTRIES or place.startswith(tuple(SPOKEN)):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare):
                sides, names = [node.left, *node.comparators], known
            elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("startswith", "endswith"):
                sides = [node.func.value, *node.args]  # a part of a name decides no less
                names = {part for name in known for part in (f"{name.split('_')[0]}_", f"_{name.split('_')[-1]}", name)}
            else:
                continue
            found = set().union(*(names_in(side) for side in sides)) & names
            if found and any(about.search(ast.unparse(side)) for side in sides if not names_in(side)):
                wrong.append(f"{place}:{node.lineno} {ast.unparse(node)}")
    assert not wrong, wrong


def test_declarations_have_few_fields():
    """At most 30: what belongs together is a structure of its own."""
    wrong = {}
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ClassDef) and any("dataclass" in ast.unparse(mark) for mark in node.decorator_list):
                count = sum(isinstance(line, ast.AnnAssign) for line in node.body)
                if count > MOST_FIELDS:
                    wrong[node.name] = count
    assert not wrong, wrong


# A number that trades speed, accuracy or robustness is a setting (taut/settings.py). What modules of solvers call by a
# name of their own all the same, and why it is none:
NO_SETTINGS = {
    "a guard against rounding, or a direction that only has to be along no axis": """
        contact/lawson_hanson.py ROUNDING, contact/face.py MOVABLE, contact/friction.py FLAT,
        contact/conjugate_residuals.py STICKS, contact/restitution.py NEVER, cloth/constraint_errors.py ROUNDING,
        cloth/augmented_lagrangian.py ENERGY_ROUNDING, cloth/release.py PROBE, cloth/release.py TURNED""",
    "a capacity that grows or is emptied in time, or what is refused by name": """
        contact/problem.py EVENT_CAPACITY, contact/problem.py LOG_CAPACITY, contact/algorithms.py GROWTH,
        cloth/algorithms.py MOST_BALLS, cloth/algorithms.py PAIRS_PER_NODE""",
    "the default of the option `tolerance`": """
        contact/algorithms.py FIXED_TOLERANCE, contact/algorithms.py RINGING_TOLERANCE,
        cloth/algorithms.py TOLERANCE, cloth/active_limits.py TOLERANCE""",
    "a code, a place or a shape": """
        contact/active_set.py UNLOGGED, contact/enforced_rows.py ACCELERATION_LEVEL, contact/problem.py SYSTEM_CHOSEN,
        contact/rows.py ZERO, contact/work.py OK, contact/work.py NOT_UNIQUE, contact/work.py INFEASIBLE,
        contact/work.py NOT_CONVERGED, cloth/codes.py ALMOST_CONVERGED, cloth/codes.py BUCKLING,
        cloth/codes.py BY_REGION, cloth/codes.py BY_VELOCITY, cloth/codes.py NOT_DEFINITE, cloth/codes.py RELEASE_RULES,
        cloth/baselines/explicit.py EULER, cloth/baselines/explicit.py ADAMS_BASHFORTH, cloth/contact_rows.py MEMBERS,
        cloth/implicit_springs.py ONE_FIXED, cloth/implicit_springs.py BOTH_FIXED, cloth/implicit_springs.py UNCOUPLED,
        cloth/implicit_springs.py DIRECT, cloth/optional_solvers.py NOT_PREPARED, cloth/optional_solvers.py STATUS,
        cloth/rigid_coupling.py NONE""",
}


def is_number(node: ast.expr) -> bool:
    """Whether an expression is made of numbers alone: 1e-9, -2, 0.1 * 3, (1.0, 2.0), np.int64(4), 2 * ABOVE."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, int | float) and not isinstance(node.value, bool)
    if isinstance(node, ast.Name):
        return node.id.isupper()
    parts = {ast.UnaryOp: ("operand",), ast.BinOp: ("left", "right")}.get(type(node))
    if parts:
        return all(is_number(getattr(node, part)) for part in parts)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).startswith(("np.", "float", "int", "math.")) and all(map(is_number, node.args))
    entries = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", [])
    return bool(entries) and all(map(is_number, entries))


def numbers_of_modules(package: str) -> set[str]:
    """Module-level names that stand for numbers: "contact/face.py MOVABLE"."""
    found = set()
    for path in (PACKAGE / package).rglob("*.py"):
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None and is_number(node.value):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names = [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
                found |= {f"{path.relative_to(PACKAGE).as_posix()} {name}" for name in names}
    return found


def test_tunable_numbers_of_solvers_are_declared_settings():
    found = numbers_of_modules("contact") | numbers_of_modules("cloth")
    known = {" ".join(name.split()) for names in NO_SETTINGS.values() for name in names.split(",")}
    hidden, gone = sorted(found - known), sorted(known - found)
    assert not hidden, f"declare them in settings.py of their package, or say in NO_SETTINGS why not: {hidden}"
    assert not gone, f"NO_SETTINGS speaks of what is not there: {gone}"


def test_what_steps_work_on_is_a_structure():
    """The loop lays out a context in memory once (compiled/prepared.py); compiled code would find another layout in a
    tuple that it takes by value."""
    marked = {node.name: {ast.unparse(mark) for mark in node.decorator_list} for _, node in definitions(ast.ClassDef)
              if node.name.endswith("Context") and any(ast.unparse(base) == "NamedTuple" for base in node.bases)}
    assert len(marked) > 5 and all("structure" in marks for marks in marked.values()), marked
