"""Call a kind's kernel by its number, in compiled code, for as many kinds as are registered.

Numba needs the calls to be static, so the chain of comparisons is written from the registry at compile
time; without compilation the same names are plain look-ups.
"""

from __future__ import annotations

from collections.abc import Callable

from numba.extending import overload

from .. import constraints, forces

CONSTRAINT_CODES = {name: code for code, name in enumerate(constraints.KINDS)}
FORCE_CODES = {name: code for code, name in enumerate(forces.KINDS)}

_CONSTRAINTS = [kind.kernel for kind in constraints.KINDS.values()]
_CHARTS = [kind.rechart for kind in constraints.KINDS.values()]
_FORCES = [kind.kernel for kind in forces.KINDS.values()]


def _chain(functions: list[Callable | None], arguments: str, otherwise: str) -> Callable:
    """def chain(code, <arguments>): return function_0(<arguments>) if code == 0, and so on."""
    lines = [f"def chain(code, {arguments}):"]
    for code, function in enumerate(functions):
        if function is not None:
            lines.append(f"    if code == {code}:\n        return function_{code}({arguments})")
    lines.append(f"    return {otherwise}")
    scope = {f"function_{code}": function for code, function in enumerate(functions)}
    exec("\n".join(lines), scope)  # noqa: S102 - the text is made of numbers and the names above
    return scope["chain"]


def evaluate_kind(code, n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    _CONSTRAINTS[code](n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma)


@overload(evaluate_kind)
def _evaluate_kind(code, n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma):
    names = "n, at, idx, p, p_t, p_tt, ints, x, v, t, second, scratch, phi, J, phi_t, gamma"
    return _chain(_CONSTRAINTS, names, "None")


def rechart_kind(code, n, at, idx, ints, x):
    _CHARTS[code](n, at, idx, ints, x)


@overload(rechart_kind)
def _rechart_kind(code, n, at, idx, ints, x):
    return _chain(_CHARTS, "n, at, idx, ints, x", "None")


def force_kind(code, n, at, idx, p, ints, x, v, t, scratch, f):
    return _FORCES[code](n, at, idx, p, ints, x, v, t, scratch, f)


@overload(force_kind)
def _force_kind(code, n, at, idx, p, ints, x, v, t, scratch, f):
    return _chain(_FORCES, "n, at, idx, p, ints, x, v, t, scratch, f", "0.0")
