"""Users' Python functions as addresses: compiled with their derivatives, or called back in Python.

A compiled function is not kept in the cache across processes: it may depend on variables of the user's
module whose change no cache would notice.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import carray

from taut.errors import TautError, shown
from taut.expressions.call import CONSTRAINT, FORCE, SIGNAL, call_constraint, call_signal
from taut.expressions.compiled import address_once, interpreting, machine_code, python_callback
from taut.expressions.differences import central, complex_step, linear_central, linear_complex_step, spread
from taut.expressions.inspection import (
    agree,
    compilable,
    line_of,
    name_of,
    plain,
    real_number,
    try_once,
    warn_interpreted,
    why_not,
)


def constraint_function_address(
    function: Callable, points: int, rows: int, derivatives: str = "complex"
) -> int:
    """The signature of `codegen.constraint_address`, for a Python function g(q, t), q of shape (points, 3).

    derivatives: "complex" (exact; g must be analytic) or "finite" (any g, about nine digits).
    """
    function = plain(function, 2)
    if derivatives not in ("complex", "finite"):
        raise TautError(f"derivatives is '{derivatives}'; choose 'complex' or 'finite'")
    try_once(function, (np.empty((points, 3)),), rows)
    if interpreting():
        return _constraint_callback(function, points, rows)
    return address_once(
        ("constraint", function, points, rows, derivatives),
        lambda: _compile_rows(function, points, rows, derivatives, central, complex_step),
    )


def constraint_callback_address(function: Callable, points: int, rows: int) -> int:
    """As `constraint_function_address`, for a function that only the interpreter can run."""
    function = plain(function, 2)
    try_once(function, (np.empty((points, 3)),), rows)
    return _constraint_callback(function, points, rows)


def velocity_function_address(function: Callable, points: int, rows: int, derivatives: str = "complex") -> int:
    """The signature of `codegen.velocity_address`, for a Python function g(q, v, t), linear in v.

    q and v have the shape (points, 3); derivatives as in `constraint_function_address`.
    """
    function = plain(function, 3)
    _check_linear(function, points, rows)
    if interpreting():
        return _velocity_callback(function, points, rows)
    return address_once(
        ("velocity", function, points, rows, derivatives),
        lambda: _compile_rows(function, points, rows, derivatives, linear_central, linear_complex_step),
    )


def velocity_callback_address(function: Callable, points: int, rows: int) -> int:
    """As `velocity_function_address`, for a function that only the interpreter can run."""
    function = plain(function, 3)
    _check_linear(function, points, rows)
    return _velocity_callback(function, points, rows)


def force_function_address(function: Callable, points: int) -> int:
    """void f(double* x, double* v, double t, double* out) of a Python function f(x, v, t) -> (points, 3)."""
    function = plain(function, 3)
    try_once(function, (np.empty((points, 3)), np.empty((points, 3))), 3 * points)
    if interpreting():
        return _force_callback(function, points)
    return address_once(("force", function, points), lambda: _compile_force(function, points))


def force_callback_address(function: Callable, points: int) -> int:
    """As `force_function_address`, for a function that only the interpreter can run."""
    function = plain(function, 3)
    try_once(function, (np.empty((points, 3)), np.empty((points, 3))), 3 * points)
    return _force_callback(function, points)


def controller_address(function: Callable, what: str, unit: str) -> int:
    """void f(double* q, double* qd, double t, double* out) of a Python function f(t, q, rate) -> number [unit].

    `what` names the controller; whatever else its function does is a TautError (compiled.raise_mistake).
    """

    def evaluate(q, rate, t, out):
        if not (np.isfinite(q[0]) and np.isfinite(rate[0])):
            out[0] = np.nan  # the run has diverged already, which is not the controller's mistake
            return
        where = f"{what}, at t = {t:.9g} s with q = {q[0]:.6g} and its rate {rate[0]:.6g}: {name_of(function)}"
        try:
            answer = function(t, q[0], rate[0])
        except Exception as mistake:
            complaint = f"{type(mistake).__name__}: {str(mistake).rstrip('.')}"
            raise TautError(f"{where} raised {complaint}{line_of(mistake)}; mend it there.") from mistake
        number = real_number(answer)
        if number is None or not np.isfinite(number):
            raise TautError(f"{where} returned {shown(answer)}; return one finite number [{unit}].")
        out[0] = number

    # It may keep a state of its own, so nothing is tried out, and two scenes do not share what belongs to one call.
    return address_once(("controller", function, what, unit),
                        lambda: python_callback(evaluate, FORCE, (1,), name_of(function)))


def signal_function_address(function: Callable) -> int:
    """void f(double t, double* out) of a Python function f(t), with two derivatives.

    Complex steps where they agree with differences, differences where f is not analytic, and the
    interpreter where numba can not compile f.
    """
    function = plain(function, 1)
    try_once(function, (), 1)
    return address_once(("signal", function), lambda: _signal(function))


def _compile_rows(
    function: Callable, points: int, rows: int, derivatives: str, differences: Callable, complex_steps: Callable
) -> int:
    """Φ and its derivatives of a Python function, by the one or the other of two functions of differences.py."""
    g = numba.njit(error_model="numpy")(compilable(function))
    size = 3 * points
    if derivatives == "finite":

        def evaluate(x, v, t, phi, J, phi_t, gamma):
            differences(
                g, carray(x, size), carray(v, size), t, carray(phi, rows),
                carray(J, (rows, size)), carray(phi_t, rows), carray(gamma, rows),
            )  # fmt: skip
    else:
        g_complex = numba.njit(error_model="numpy")(compilable(function, to_complex=True))

        def evaluate(x, v, t, phi, J, phi_t, gamma):
            complex_steps(
                g, g_complex, carray(x, size), carray(v, size), t, carray(phi, rows),
                carray(J, (rows, size)), carray(phi_t, rows), carray(gamma, rows),
            )  # fmt: skip

    address = _compiled(evaluate, CONSTRAINT, function, "derivatives='interpreted'", derivatives == "complex")
    if derivatives == "complex":
        _check_analytic(address, function, points, rows, differences)
    return address


def _compile_force(function: Callable, points: int) -> int:
    f = numba.njit(error_model="numpy")(compilable(function))
    size = 3 * points

    def evaluate(x, v, t, out):
        force = carray(out, size)
        force[:] = np.nan  # what the caller finds if the user's function raises
        spread(f(carray(x, (points, 3)), carray(v, (points, 3)), t), force)

    return _compiled(evaluate, FORCE, function, "interpreted=1", False)


def _signal(function: Callable) -> int:
    if interpreting():
        return _signal_callback(function)
    f = numba.njit(error_model="numpy")(compilable(function))
    f_complex = numba.njit(error_model="numpy")(compilable(function, to_complex=True))
    g = numba.njit(lambda q, t: f(t))
    g_complex = numba.njit(lambda q, t: f_complex(t))

    def analytic(t, out):
        o, none = carray(out, 3), np.empty(0)
        complex_step(g, g_complex, none, none, t, o[0:1], np.empty((1, 0)), o[1:2], o[2:3])

    def differences(t, out):
        o, none = carray(out, 3), np.empty(0)
        central(g, none, none, t, o[0:1], np.empty((1, 0)), o[1:2], o[2:3])

    try:
        address = machine_code(analytic, SIGNAL)
        if _signal_is_analytic(address, function):
            return address
    except Exception:  # numba fails in its own errors and in any other
        pass
    try:
        return machine_code(differences, SIGNAL)
    except Exception:
        warn_interpreted(function)
        return _signal_callback(function)


def _signal_is_analytic(address: int, function: Callable) -> bool:
    exact, checked = np.empty(3), np.empty(3)
    by_differences = _signal_callback(function)
    for t in (-1.37, 0.0, 0.41, 2.3, 17.9):
        call_signal(address, t, exact, 0)
        call_signal(by_differences, t, checked, 0)
        if not agree(exact, checked, 1e-4):
            return False
    return True


def _constraint_callback(function: Callable, points: int, rows: int, by: Callable = central) -> int:
    differences = getattr(by, "py_func", by)

    def evaluate(x, v, t, phi, J, phi_t, gamma):
        view = np.ctypeslib.as_array
        differences(
            function, view(x, (3 * points,)), view(v, (3 * points,)), t, view(phi, (rows,)),
            view(J, (rows, 3 * points)), view(phi_t, (rows,)), view(gamma, (rows,)),
        )  # fmt: skip

    def make() -> int:
        warn_interpreted(function)
        return python_callback(evaluate, CONSTRAINT, (rows, 3 * points * rows, rows, rows), name_of(function))

    return address_once(("constraint callback", function, points, rows, by.__name__), make)


def _velocity_callback(function: Callable, points: int, rows: int) -> int:
    return _constraint_callback(function, points, rows, linear_central)


def _force_callback(function: Callable, points: int) -> int:
    def evaluate(x, v, t, out):
        view = np.ctypeslib.as_array
        spread(function(view(x, (points, 3)), view(v, (points, 3)), t), view(out, (3 * points,)))

    def make() -> int:
        warn_interpreted(function)
        return python_callback(evaluate, FORCE, (3 * points,), name_of(function))

    return address_once(("force callback", function, points), make)


def _signal_callback(function: Callable) -> int:
    differences, none = getattr(central, "py_func", central), np.empty(0)

    def evaluate(t, out):
        o = np.ctypeslib.as_array(out, (3,))
        differences(lambda q, t: function(t), none, none, t, o[0:1], np.empty((1, 0)), o[1:2], o[2:3])

    return python_callback(evaluate, SIGNAL, (3,), name_of(function))


def _compiled(evaluate: Callable, signature: Any, function: Callable, remedy: str, analytic: bool) -> int:
    try:
        return machine_code(evaluate, signature)
    except Exception as complaint:  # numba fails in its own errors and in any other
        hint = "derivatives='finite' if it compares, rounds or takes absolute values; " if analytic else ""
        raise TautError(
            f"{name_of(function)} can not be compiled: {why_not(complaint)}. Use {hint}"
            f"{remedy} to let Python run it (slower), or write it with numbers, numpy and math only"
        ) from None


def _check_linear(function: Callable, points: int, rows: int) -> None:
    """A condition on velocities must be linear in them."""
    try_once(function, (np.empty((points, 3)), np.empty((points, 3))), rows)
    random = np.random.default_rng(2)
    q, v, w = random.uniform(0.5, 1.5, (3, points, 3))
    try:
        at = [np.reshape(function(q, speed, 0.3), -1).astype(float) for speed in (0 * v, v, w, 2 * v - 3 * w)]
    except (ArithmeticError, ValueError):
        return  # outside its domain here, which says nothing about the scene
    if not agree(at[3] - at[0], 2 * (at[1] - at[0]) - 3 * (at[2] - at[0]), 1e-9):
        raise TautError(f"{name_of(function)} is not linear in the velocities v; a condition on velocities is "
                        "A v + b = 0 with A and b of places and time")


def _check_analytic(address: int, function: Callable, points: int, rows: int, by: Callable) -> None:
    """abs() of a complex number compiles, and would give wrong derivatives without a word."""
    differences = getattr(by, "py_func", by)
    for seed in range(3):
        q, v = np.random.default_rng(seed).uniform(-1.5, 1.5, (2, 3 * points))
        exact = [np.empty(rows), np.empty((rows, 3 * points)), np.empty(rows), np.empty(rows)]
        checked = [np.empty_like(part) for part in exact]
        call_constraint(address, q, v, 0.3, exact[0], 0, exact[1], 0, exact[2], exact[3])
        try:
            differences(function, q, v, 0.3, *checked)
        except (ArithmeticError, ValueError):
            continue
        if not all(agree(a, b, 1e-4) for a, b in zip(exact, checked)):
            raise TautError(
                f"{name_of(function)} is not analytic (it uses abs, norm, a comparison or the like), so "
                "complex steps give wrong derivatives; use derivatives='finite', or np.sqrt for a length"
            )
