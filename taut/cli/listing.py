"""taut list: what there is to choose from, printed from the registries."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from .table import print_table

if TYPE_CHECKING:
    from ..methods import Method

SCENES_OF_FORMS = {"contact": "inequalities", "deformable": "cloth and solids", "active": "cloth with limits",
                   "choice": "cloth with limits"}
Subject = Literal["scenes", "methods", "rules", "releases", "constraints", "forces", "solvers", "settings", "formats",
                  "figures"]


def list_(subject: Subject | None = None, /, markdown: bool = False) -> None:
    """List scenes, methods, rules for inequalities, release rules of cloth, constraints, forces, solvers, tunable
    settings of solvers, formats, figures; all by default.

    markdown: print tables for documents
    """
    subjects = [subject] if subject else list(SUBJECTS)
    for i, name in enumerate(subjects):
        header, rows = SUBJECTS[name]()
        if i:
            print()
        if markdown:
            print(as_markdown(header, rows))
            continue
        print_table(rows, name if len(subjects) > 1 else "", header)


def as_markdown(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def methods_for_readme() -> str:
    """The short table of methods for any scene in README.md, which a test compares with this.

    A method that has no style of its own yet is on trial: it is in `taut list`, not in README.
    """
    from ..methods import METHODS

    def order(value: int | None) -> str:
        return "held" if value is None else f"h{_raised(value)}"

    rows = [
        [f"`{m.name}`", order(m.order), order(m.order_position), _inequalities(m), m.doc]
        for m in METHODS.values()
        if not m.is_for_deformables_only and m.style is not None
    ]
    return as_markdown(["method", "trajectory", "Φ", "Φ ≥ 0", "what it does"], rows)


def _inequalities(method: Method) -> str:
    """How a method treats inequalities: it stops at events, it takes fixed steps, or not at all."""
    from ..contact.algorithms import CONTACT_METHODS, STEP_METHODS

    form = CONTACT_METHODS.get(method.name)
    if form is None:
        return "steps" if method.is_for_deformables_only else "–"
    if method.name in STEP_METHODS:
        return "events, steps"
    return "events" if form.algorithm == "event_driven" else "steps"


def _raised(number: int) -> str:
    return "".join("⁰¹²³⁴⁵⁶⁷⁸⁹"[int(digit)] for digit in str(number))


def _scenes() -> tuple[list[str], list[list[str]]]:
    import inspect

    from ..scene import SCENES

    def taken(function: Callable) -> str:
        found = inspect.signature(function).parameters.values()
        return " ".join(f"{p.name}={_short(p.default)}" for p in found)

    return ["name", "", "--set"], [[e.name, e.doc, taken(e.function)] for e in SCENES.values()]


def _methods() -> tuple[list[str], list[list[str]]]:
    from ..methods import METHODS

    def order(value: int | None) -> str:
        return "held" if value is None else str(value)

    def trajectory(m: Method) -> str:
        others = ", ".join(f"{name}: {value}" for name, value in m.orders.items() if value != m.order)
        return f"{m.order} ({others})" if others else str(m.order)

    def treats(m: Method) -> str:
        if not m.form:
            return "equalities"
        return f"{SCENES_OF_FORMS[m.form]} ({m.algorithm})" if m.algorithm else SCENES_OF_FORMS[m.form]

    rows = [
        [m.name, treats(m), trajectory(m), order(m.order_position), order(m.order_velocity),
         "yes" if "velocity" in m.levels else "–", "sticks" if m.sticks else "creeps", m.level, m.solves,
         f"{m.doc} Beware: {m.caveat.text}." if m.caveat else m.doc,
         " ".join(f"{option.name}={_short(option.default)}" for option in m.options)]
        for method in METHODS.values()
        for m in _algorithms(method)
    ]  # fmt: skip
    return ["name", "for", "order", "of |Φ|", "of |dΦ/dt|", "A v + b = 0", "dry friction", "enforces", "solves", "",
            "--option"], rows


def _algorithms(method: Method) -> list[Method]:
    """All algorithms that run under the name of a method, each with a declaration of its own."""
    from ..cloth.algorithms import ACTIVE_LIMITS, CHOICE, DEFORMABLE_METHODS
    from ..contact.algorithms import CONTACT_METHODS, STEP_METHODS

    forms = (CONTACT_METHODS, STEP_METHODS, DEFORMABLE_METHODS)
    found = [method, *(named.get(method.name) for named in forms),
             *((ACTIVE_LIMITS, CHOICE) if method.name == ACTIVE_LIMITS.name else ())]  # fmt: skip
    found = found[3:] if method.is_for_deformables_only else found
    return [algorithm for algorithm in found if algorithm is not None]


def _rules() -> tuple[list[str], list[list[str]]]:
    from ..contact.rules import RULES

    return ["active_set", "", "source"], [[rule.name, rule.doc, rule.source] for rule in RULES.values()]


def _releases() -> tuple[list[str], list[list[str]]]:
    from ..cloth.algorithms import ACTIVE_LIMITS, DEFORMABLE_METHODS
    from ..cloth.release import RULES

    able = [m for m in (*DEFORMABLE_METHODS.values(), ACTIVE_LIMITS) if m.cloth_contacts.touches]
    rows = [
        [name, doc, " ".join(m.algorithm or m.name for m in able if name in m.cloth_contacts.releases)]
        for name, doc in RULES.items()
    ]
    return ["release", "a contact of cloth ends where", "algorithms"], rows


def _constraints() -> tuple[list[str], list[list[str]]]:
    from ..constraints import KINDS

    rows = [
        [kind.name, _points(kind.points, kind.points_optional), kind.sense, kind.level, str(kind.rows or "any"),
         kind.unit, kind.doc, " ".join(argument.name for argument in kind.arguments), _also(kind.synonyms)]
        for kind in KINDS.values()
    ]  # fmt: skip
    return ["name", "points", "sense", "level", "rows", "unit of Φ", "", "arguments", "also called"], rows


def _forces() -> tuple[list[str], list[list[str]]]:
    from ..forces import KINDS

    rows = [
        [kind.name, _points(kind.points, 0), kind.doc, " ".join(argument.name for argument in kind.arguments),
         _also(kind.synonyms)]
        for kind in KINDS.values()
    ]  # fmt: skip
    return ["name", "points", "", "arguments", "also called"], rows


def _also(synonyms: tuple[str, ...]) -> str:
    return ", ".join(word.replace("_", " ") for word in synonyms)


def _solvers() -> tuple[list[str], list[list[str]]]:
    from ..linalg import SOLVERS

    return ["name"], [["auto"], *([name] for name in SOLVERS)]


def _settings() -> tuple[list[str], list[list[str]]]:
    from ..cloth import settings as _cloth  # noqa: F401 - a package's settings are known once it is imported
    from ..contact import settings as _contact  # noqa: F401
    from ..settings import PACKAGES

    rows = [
        [f"{package}.{name}", own.group_of[name], f"{own.value(own.defaults, name):g}",
         f"{meaning.least:g} to {meaning.most:g}", meaning.text]
        for package, own in sorted(PACKAGES.items(), reverse=True)
        for name, meaning in own.meanings.items()
    ]  # fmt: skip
    return ["name", "group", "default", "range", ""], rows


def _formats() -> tuple[list[str], list[list[str]]]:
    from ..export import FORMATS
    from ..export.base import EXTRA

    rows = [
        [form.name, f"NAME{form.endings[0]}{'/' if form.is_folder else ''}", form.doc, EXTRA if form.modules else ""]
        for form in FORMATS.values()
    ]
    return ["--to", "writes", "", "needs"], rows


def _figures() -> tuple[list[str], list[list[str]]]:
    from ..analysis.papers import FIGURES

    return ["name", "", "paper"], [[figure.name, figure.title, figure.paper] for figure in FIGURES]


def _short(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _points(names: tuple[str, ...] | None, optional: int) -> str:
    if names is None:
        return "any"
    needed = len(names) - optional
    return " ".join([*names[:needed], *(f"[{name}]" for name in names[needed:])])


SUBJECTS = {
    "scenes": _scenes,
    "methods": _methods,
    "rules": _rules,
    "releases": _releases,
    "constraints": _constraints,
    "forces": _forces,
    "solvers": _solvers,
    "settings": _settings,
    "formats": _formats,
    "figures": _figures,
}
