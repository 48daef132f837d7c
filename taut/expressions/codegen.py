"""Addresses of compiled functions for signals, constraints, forces and maps.

Same content, same address: nothing is compiled twice in a process, and formulas and keyframes are
reloaded from numba's cache by later processes. Formulas may be given as text or as sympy expressions;
with text, a cached function is found without importing sympy. C signatures are in `call`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from taut.expressions import formula, source
from taut.expressions.call import CONSTRAINT, FORCE, MAP, SIGNAL
from taut.expressions.compiled import generated_address
from taut.expressions.functions import (
    constraint_callback_address,
    constraint_function_address,
    controller_address,
    force_callback_address,
    force_function_address,
    signal_function_address,
    velocity_callback_address,
    velocity_function_address,
)
from taut.expressions.signal import Keyframes, Signal

if TYPE_CHECKING:
    import sympy

    Formula: TypeAlias = str | sympy.Expr
    Turns: TypeAlias = Sequence[tuple[Sequence[float], str]]  # of one body: axis and angle

__all__ = [
    "constraint_address",
    "constraint_callback_address",
    "constraint_function_address",
    "controller_address",
    "force_address",
    "force_callback_address",
    "force_function_address",
    "kinetic_address",
    "map_address",
    "signal_address",
    "turns_address",
    "velocity_address",
    "velocity_callback_address",
    "velocity_function_address",
]


def signal_address(signal: Signal) -> int:
    """void f(double t, double* out): value, first and second derivative."""
    match signal.source:
        case Keyframes() as frames:
            return generated_address(
                frames,
                SIGNAL,
                (3,),
                lambda: source.keyframes_source(frames.times, frames.polynomials(), frames.values[-1], frames.smooth),
            )
        case float() | str() as text:
            return generated_address(
                ("signal", text),
                SIGNAL,
                (3,),
                lambda: source.signal_source(formula.parse(str(text), ("t",))),
            )
        case function:
            return signal_function_address(function)


def constraint_address(rows: Sequence[Formula], variables: Sequence[str]) -> int:
    """void f(double* x, double* v, double t, double* phi, double* J, double* phi_t, double* gamma).

    Φ_r are formulas in the variables (x in this order) and t; J is rows × variables, row-major.
    """
    return generated_address(
        ("constraint", _texts(rows), tuple(variables)),
        CONSTRAINT,
        (len(rows), len(rows) * len(variables), len(rows), len(rows)),
        lambda: source.rows_source(_parsed(rows, variables), variables, "phi, J, phi_t, gamma"),
    )


def velocity_address(
    rows: Sequence[str], places: Sequence[str], speeds: Sequence[str], meanings: Mapping[str, str]
) -> int:
    """The signature of `constraint_address`, for conditions A v + b = 0: phi is 0, J is A, phi_t is b.

    The rows are formulas in the places, their speeds (as many, in this order) and t, linear in the speeds. They may
    name what has its meaning in `meanings`, as formulas of places and speeds.
    """
    names = [*places, *speeds]

    def make() -> str:
        known = {source.symbol(name): text for name, text in zip(meanings, _parsed([*meanings.values()], names))}
        expressions = [row.subs(known) for row in _parsed(rows, [*names, *meanings])]
        return source.velocity_source(expressions, places, speeds)

    return generated_address(
        ("velocity", tuple(rows), tuple(names), tuple(meanings.items())),
        CONSTRAINT,
        (len(rows), len(rows) * len(places), len(rows), len(rows)),
        make,
    )


def map_address(x_of_q: Sequence[Formula], coordinates: Sequence[str]) -> int:
    """void f(double* q, double* qd, double t, double* x, double* B, double* c, double* x_t).

    B = ∂x/∂q is outputs × coordinates, row-major; c is d²x/dt² with q̈ = 0. It is a constraint's
    function in another order: x is Φ, B is J, c is γ.
    """
    return generated_address(
        ("map", _texts(x_of_q), tuple(coordinates)),
        MAP,
        (len(x_of_q), len(x_of_q) * len(coordinates), len(x_of_q), len(x_of_q)),
        lambda: source.rows_source(_parsed(x_of_q, coordinates), coordinates, "phi, J, gamma, phi_t"),
    )


def kinetic_address(kinetic: str, coordinates: Sequence[str]) -> int:
    """void f(double* q, double* qd, double t, double* T, double* H, double* g, double* T_rates) of H q̈ = g + Q.

    T is a formula in the coordinates, their rates (q.v) and t; H = ∂²T/∂q̇² is row-major; T_rates holds ∂T/∂q̇ and, as
    its last number, dT/dt at q̈ = 0.
    """
    n, names = len(coordinates), [*coordinates, *(f"{name}.v" for name in coordinates)]
    return generated_address(
        ("kinetic", kinetic, tuple(coordinates)),
        MAP,
        (1, n * n, n, n + 1),
        lambda: source.kinetic_source(formula.parse(kinetic, [*names, "t"]), coordinates),
    )


def turns_address(turns: Sequence[Turns], ends: Sequence[Sequence[float]], coordinates: Sequence[str]) -> int:
    """void f(double* q, double* qd, double t, double* p, double* B, double* c, double* w_t), of several bodies.

    Their quaternions p (of principal axes), ω = B q̇ + w_t and dω/dt = B q̈ + c in principal axes.
    """
    known = tuple(tuple((tuple(axis), angle) for axis, angle in of) for of in turns)

    def make() -> str:
        names = [*coordinates, "t"]
        parsed = [[(axis, formula.parse(angle, names)) for axis, angle in of] for of in known]
        return source.turns_source(parsed, ends, coordinates)

    count = len(known)
    return generated_address(
        ("turns", known, tuple(tuple(map(float, end)) for end in ends), tuple(coordinates)),
        MAP,
        (4 * count, 3 * count * len(coordinates), 3 * count, 3 * count),
        make,
    )


def force_address(components: Sequence[Formula], variables: Sequence[str]) -> int:
    """void f(double* x, double* v, double t, double* out).

    The first half of `variables` names the positions, the second half their velocities.
    """
    half = len(variables) // 2
    return generated_address(
        ("force", _texts(components), tuple(variables)),
        FORCE,
        (len(components),),
        lambda: source.force_source(_parsed(components, variables), variables[:half], variables[half:]),
    )


def _texts(formulas: Sequence[Formula]) -> tuple[str, ...]:
    texts = []
    for item in formulas:
        if isinstance(item, str):
            texts.append(item)
        else:
            from sympy import srepr

            texts.append(srepr(item))
    return tuple(texts)


def _parsed(formulas: Sequence[Formula], names: Sequence[str]) -> list[sympy.Expr]:
    return [formula.parse(f, [*names, "t"]) if isinstance(f, str) else f for f in formulas]
