"""Laws of the code compiled from formulas and functions: constraints, forces, maps, signals."""

import math
import os
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest
import scipy.special
import sympy

from taut.compiled import entry
from taut.errors import TautError, TautWarning
from taut.expressions import Signal, call_constraint, call_force, call_map, call_signal, codegen, parse

NAMES = ["a.x", "a.y", "a.z", "b.x", "b.y", "b.z"]
ROWS = ["(a.x - b.x)**2 + (a.y - b.y)**2 - (2 + 0.1*sin(3*t))**2", "exp(0.3*a.z)*b.z/(2 + t**2) + abs(a.y)"]
compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="asks for compiled code")


def evaluate_constraint(address, x, v, t, rows, offset=0):
    """Φ, J, Φ_t, γ, written into the middle of larger arrays that must stay NaN elsewhere."""
    size = len(x)
    phi, phi_t, gamma = (np.full(rows + 2 * offset, np.nan) for _ in range(3))
    J = np.full((rows + 2 * offset, size), np.nan)
    call_constraint(address, x, v, t, phi, offset, J, offset * size, phi_t, gamma)
    kept = slice(offset, offset + rows)
    for array in (phi, J, phi_t, gamma):
        outside = np.delete(array, np.arange(offset, offset + rows), axis=0)
        assert np.isnan(outside).all(), f"written outside its rows: {outside}"
    return phi[kept], J[kept], phi_t[kept], gamma[kept]


def symbolic(rows, names, x, v, t):
    """The same four from sympy's own evaluation."""
    symbols = [sympy.Symbol(n, real=True) for n in names]
    s = sympy.Symbol("s", real=True)
    time = sympy.Symbol("t", real=True)
    here = dict(zip(symbols, map(float, x))) | {time: float(t)}
    out = []
    for row in (parse(text, [*names, "t"]) for text in rows):
        along = {q: float(a) + float(b) * s for q, a, b in zip(symbols, x, v)} | {time: float(t) + s}
        moving = row.subs(along, simultaneous=True)
        out.append(
            (
                float(row.subs(here)),
                [float(row.diff(q).subs(here)) for q in symbols],
                float(row.diff(time).subs(here)),
                float(moving.diff(s, 2).subs(s, 0)),
            )
        )
    return [np.array(part) for part in zip(*out)]


@pytest.mark.parametrize("as_text", [True, False])
def test_compiled_constraint_equals_sympy(as_text):
    rows = ROWS if as_text else [parse(text, [*NAMES, "t"]) for text in ROWS]
    address = codegen.constraint_address(rows, NAMES)
    x, v = np.random.default_rng(1).uniform(-2, 2, (2, 6))
    ours = evaluate_constraint(address, x, v, 0.4, 2, offset=3)
    for name, a, b in zip(("phi", "J", "phi_t", "gamma"), ours, symbolic(ROWS, NAMES, x, v, 0.4)):
        error = np.abs(a - b).max()
        assert error < 1e-12, f"{name}: largest error {error:.2e}"


def drawn_length(t):
    return 2 + 0.1 * math.sin(3 * t)


def user_rows(q, t):
    """With a function of its own beside it, and another inside."""
    def square(value):
        return value**2

    return (
        square(q[0, 0] - q[1, 0]) + (q[0, 1] - q[1, 1]) ** 2 - drawn_length(t) ** 2,
        np.exp(0.3 * q[0, 2]) * q[1, 2] / (2 + t**2) + q[0, 1],
    )


def user_row_with_abs(q, t):
    return abs(q[0, 0]) * q[0, 1] - t


def user_row_of_strings(q, t):
    return float("%.17f" % (q[0, 0] ** 2)) + eval("t")


TOLERANCES = {"complex": (1e-14, 1e-11), "finite": (1e-9, 1e-7), "interpreted": (1e-9, 1e-7)}


@pytest.mark.parametrize("derivatives", TOLERANCES)
@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_function_constraint_equals_its_formula(derivatives):
    x, v = np.random.default_rng(2).uniform(0.1, 2, (2, 6))
    if derivatives == "interpreted":
        address = codegen.constraint_callback_address(user_rows, 2, 2)
    else:
        address = codegen.constraint_function_address(user_rows, 2, 2, derivatives)
    expected = evaluate_constraint(codegen.constraint_address(ROWS, NAMES), x, v, 0.4, 2)
    ours = evaluate_constraint(address, x, v, 0.4, 2)
    first, second = TOLERANCES["finite" if numba.config.DISABLE_JIT else derivatives]
    errors = [np.abs(a - b).max() for a, b in zip(ours, expected)]
    assert max(errors[:3]) < first and errors[3] < second, f"errors of phi, J, phi_t, gamma: {errors}"


@compiled_only
def test_complex_steps_refuse_a_function_that_is_not_analytic():
    with pytest.raises(TautError, match="is not analytic.*derivatives='finite'"):
        codegen.constraint_function_address(user_row_with_abs, 1, 1)


@compiled_only
def test_a_function_numba_can_not_compile_is_named_with_a_remedy():
    with pytest.raises(TautError, match="user_row_of_strings.*can not be compiled.*interpreted") as refusal:
        codegen.constraint_function_address(user_row_of_strings, 1, 1, "finite")
    assert "\n" not in str(refusal.value), f"{refusal.value}"


class Opaque:
    size = 1.0


UNKNOWN_TO_NUMBA = Opaque()


def row_with_helper(helper):
    def row(q, t):
        return helper(q[0, 0])

    return row


@compiled_only
@pytest.mark.parametrize("helper, words", [
    (lambda number: number * UNKNOWN_TO_NUMBA.size, "compiled code can not use 'UNKNOWN_TO_NUMBA'"),
    (lambda number: scipy.special.j0(number), "scipy.special.j0 is not known to compiled code"),
    (numba.njit(lambda number: number.missing), "calls a function that can not be compiled.*'.missing'.*decorator"),
], ids=["global", "module", "jitted"])  # fmt: skip
def test_a_helper_that_can_not_be_compiled_is_told_without_the_words_of_numba(helper, words):
    with pytest.raises(TautError, match=words) as refusal:
        codegen.constraint_function_address(row_with_helper(helper), 1, 1)
    told = str(refusal.value)
    assert "\n" not in told and "line " in told and "test_codegen.py" in told, told
    assert not any(word in told for word in ("nopython", "TypingError", "Untyped", "Function(", "Module(")), told


def test_a_callback_warns_once_and_a_failure_inside_gives_nan():
    def fails_later(q, t):
        if t > 1:
            raise RuntimeError("no value here")
        return q[0, 0]

    with pytest.warns(TautWarning, match="every step calls Python"):
        address = codegen.constraint_callback_address(fails_later, 1, 1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert codegen.constraint_callback_address(fails_later, 1, 1) == address, "another address"
    with pytest.warns(TautWarning, match="no value here"):
        phi, *_ = evaluate_constraint(address, np.ones(3), np.ones(3), 2.0, 1)
    assert np.isnan(phi[0]), f"phi is {phi[0]}"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda q, t: q[3, 0], "IndexError"),
        (lambda q, t: (1.0, 2.0), r"returned \(1.0, 2.0\); return one number"),
        (lambda q, t: "x", "returned 'x'; return one number"),
    ],
)
def test_functions_that_can_not_be_right_are_refused(function, reason):
    with pytest.raises(TautError, match=reason):
        codegen.constraint_function_address(function, 1, 1)


@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_forces_as_formula_function_and_callback_agree():
    def force(x, v, t):
        return -2.0 * x - t * v

    places = [f"b.{axis}" for axis in "xyz"]
    speeds = [f"b.v{axis}" for axis in "xyz"]
    formulas = [f"-2*{p} - t*{s}" for p, s in zip(places, speeds)]
    x, v = np.random.default_rng(3).normal(size=(2, 3))
    for address in (
        codegen.force_address(formulas, places + speeds),
        codegen.force_function_address(force, 1),
        codegen.force_callback_address(force, 1),
    ):
        out = np.full(3, np.nan)
        call_force(address, x, v, 0.6, out)
        error = np.abs(out - force(x, v, 0.6)).max()
        assert error < 1e-15, f"largest error {error:.2e}"


def test_map_of_reduced_coordinates():
    address = codegen.map_address(["2*sin(a) + t**2*b", "-2*cos(a)", "b*t"], ["a", "b"])
    (a, b), (da, db), t = (0.3, -0.7), (2.0, 0.5), 0.8
    x, B, c, x_t = np.empty(3), np.empty((3, 2)), np.empty(3), np.empty(3)
    call_map(address, np.array([a, b]), np.array([da, db]), t, x, B, c, x_t)
    s, k = math.sin(a), math.cos(a)
    expected = [
        [2 * s + t * t * b, -2 * k, b * t],
        [[2 * k, t * t], [2 * s, 0], [0, t]],
        [-2 * s * da**2 + 4 * t * db + 2 * b, 2 * k * da**2, 2 * db],
        [2 * t * b, 0, b],
    ]
    errors = [np.abs(ours - np.array(e)).max() for ours, e in zip((x, B, c, x_t), expected)]
    assert max(errors) < 1e-14, f"errors of x, B, c, x_t: {errors}"


def test_a_singular_place_gives_no_exception():
    out = np.empty(3)
    call_signal(codegen.signal_address(Signal.of("log(t) + sqrt(t) + 1/t")), 0.0, out, 0)
    assert not np.isfinite(out).any(), f"{out}"


@compiled_only
def test_one_kernel_serves_every_address():
    @entry
    def sample(addresses, t, out):
        for i in range(len(addresses)):
            call_signal(addresses[i], t, out, 3 * i)

    sources = ["sin(t)", "t**3", {"times": [0, 1], "values": [0, 1]}]
    signals = [Signal.of(source) for source in sources]
    out = np.empty((3, 3))
    for count in (3, 1, 2):
        sample(np.array([codegen.signal_address(s) for s in signals[:count]]), 0.3, out)
    assert len(sample.signatures) == 1, f"compiled {len(sample.signatures)} times"
    assert np.array_equal(out, [s.at(0.3) for s in signals]), f"{out}"


SECOND_PROCESS = """
import sys
from taut.expressions import codegen, Signal
from taut.expressions import compiled
codegen.constraint_address(["a.x**2 + 3*a.y - t"], ["a.x", "a.y", "a.z"])
codegen.signal_address(Signal.of("0.25*sin(7*t)"))
codegen.signal_address(Signal.of({"times": [0, 2], "values": [1, 5]}))
print(sum(code._cache_hits for code in compiled._kept_alive), "sympy" in sys.modules)
"""


@compiled_only
def test_a_second_process_compiles_nothing_and_needs_no_sympy(tmp_path):
    environment = os.environ | {"TAUT_CACHE_DIR": str(tmp_path)}
    told = [
        subprocess.run(
            [sys.executable, "-c", SECOND_PROCESS],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split()
        for _ in range(2)
    ]
    assert told == [["0", "True"], ["3", "False"]], f"(cache hits, sympy imported): {told}"
