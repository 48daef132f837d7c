"""Laws of formulas, signals and the code compiled from them."""

import math
import os
import random
import subprocess
import sys
import warnings

import numba
import numpy as np
import pytest
import sympy

from taut.errors import TautError, TautWarning
from taut.expressions import (
    Keyframes,
    Signal,
    call_constraint,
    call_force,
    call_map,
    call_signal,
    check,
    codegen,
    parse,
)
from taut.expressions.differences import central
from taut.expressions.source import rows_source
from taut.jit import kernel

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


def random_formula(rng, depth):
    if depth == 0:
        return rng.choice(
            ["x", "b.y", "t", "pi", "e", repr(round(rng.uniform(0.1, 3), 3)), str(rng.randint(1, 9))]
        )
    one, two = random_formula(rng, depth - 1), random_formula(rng, rng.randint(0, depth - 1))
    shapes = [
        "({} + {})",
        "({} - {})",
        "{} * {}",
        "{} / (2.5 + abs({}))",
        "-{} + {}",
        "abs({}) ** (0.5 + cos({}) ** 2)",
    ]
    calls = [
        "sin({})",
        "cos({})",
        "atan({})",
        "tanh({})",
        "exp(-abs({}))",
        "sqrt(abs({}))",
        "log(1 + abs({}))",
    ]
    calls += [
        "atan2({}, 1.3)",
        "({}) ** 2",
        "abs({})",
        "asin(tanh({}))",
        "sinh(sin({}))",
        "acos(0.9 * sin({}))",
    ]
    return rng.choice(calls).format(one) if rng.random() < 0.5 else rng.choice(shapes).format(one, two)


@pytest.mark.parametrize("seed", range(60))
def test_parse_equals_python(seed):
    rng = random.Random(seed)
    text = random_formula(rng, 4)
    values = {"x": rng.uniform(-2, 2), "b.y": rng.uniform(-2, 2), "t": rng.uniform(0, 2)}
    words = {name: getattr(math, name) for name in dir(math) if name[0] != "_"} | {"abs": abs}
    expected = eval(text.replace("b.y", "b_y"), words, {**values, "b_y": values["b.y"]})
    ours = parse(text, values).subs({sympy.Symbol(k, real=True): v for k, v in values.items()})
    assert float(ours) == pytest.approx(expected, rel=1e-10, abs=1e-12), (
        f"{text}: {float(ours)} != {expected}"
    )


@pytest.mark.parametrize("seed", range(60, 90))
def test_written_source_equals_differences_of_python(seed):
    rng = random.Random(seed)
    text = random_formula(rng, 3)
    words = {name: getattr(math, name) for name in dir(math) if name[0] != "_"} | {"abs": abs}
    place, speed, t = [rng.uniform(-2, 2) for _ in range(3)], [rng.uniform(-1, 1) for _ in range(3)], 0.7

    def python(q, t):
        return eval(text.replace("b.y", "b_y"), words, {"x": q[0, 0], "b_y": q[0, 1], "t": t})

    written: dict = {}
    names = ["x", "b.y", "z"]
    exec(rows_source([parse(text, [*names, "t"])], names, "phi, J, phi_t, gamma"), written)
    ours = [np.empty(1), np.empty(3), np.empty(1), np.empty(1)]
    written["evaluate"](place, speed, t, *ours)
    checked = [np.empty(1), np.empty((1, 3)), np.empty(1), np.empty(1)]
    getattr(central, "py_func", central)(python, np.array(place), np.array(speed), t, *checked)
    errors = [float((np.abs(a - b) / (1 + np.abs(b))).max()) for a, b in zip(ours, checked)]
    assert max(errors) < 1e-6, f"{text}: errors of phi, J, phi_t, gamma {errors}"


@pytest.mark.parametrize("number", ["0.1", "1e-7", "3", "12345.678901234567", "2**53", "1/3", "-pi/2"])
def test_numbers_are_exact(number):
    value = float(parse(number, ()))
    assert value == eval(number, {"pi": math.pi}), f"{number} became {value!r}"


FORBIDDEN = {
    "t.real": "unknown symbol 't.real'",
    "a.x.y": "a dot may only follow a name",
    "(1).real": "a dot may only follow a name",
    "open(t)": "unknown function 'open'",
    "sni(t)": "Did you mean 'sin'",
    "a.xx": "Did you mean 'a.x'",
    "__import__('os').system('true')": "a call with keywords",
    "__import__('os')": "unknown function '__import__'",
    "lambda: t": "lambda is not allowed",
    "[t for t in (1, 2)]": "a comprehension is not allowed",
    "t[0]": "indexing",
    "'text'": "text is not allowed",
    "t if t > 0 else 1": "if … else is not allowed",
    "t < 1": "a comparison is not allowed",
    "t ^ 2": "use **",
    "t // 2": "only + - * / **",
    "t @ t": "only + - * / **",
    "~t": "not allowed",
    "True": "True is not allowed",
    "1j": "1j is not allowed",
    "((9**16)**16)**16": "too large for a float",
    "9**9**9": "the exponent 3.8742e+08 is beyond",
    "t**1000": "the exponent 1000 is beyond",
    "exp(exp(exp(9)))": "too large for a float",
    "1e999": "too large for a float",
    "1" + "0" * 30: "too large to be exact",
    "1e300*t*1e300": "too large for a float",
    "1/0": "divides by zero",
    "t/(2 - 2)": "divides by zero",
    "1/(t - t)": "divides by zero",
    "sqrt(-1)": "not a real number",
    "sqrt(-t**2)": "not a real number",
    "sin(t, t)": "takes 1 argument",
    "sin(x=t)": "a call with keywords",
    "sin": "needs its argument in parentheses",
    "2 t": "can not be read from here",
    "2(t)": "not allowed",
    "t(2)": "write products with *",
    "(t": "can not be read from here",
    "t # t": "has no comments",
    "t\0": "can not be read",
    "(" * 300 + "t" + ")" * 300: "can not be read",
    "-" * 1500 + "t": "nested",
    "t" + "+t*(t+1)" * 240: "nested",
    "t+" * 2000 + "t": "at most 2000",
    "": "empty",
    "t, t": "a comma",
    "(t := 1)": "not allowed",
    "f'{t}'": "not allowed",
}


@pytest.mark.parametrize("text", FORBIDDEN, ids=lambda text: text[:30].replace("\0", "null"))
def test_forbidden_formulas_are_refused_with_the_reason(text):
    for read in (parse, check) if text not in ("1/(t - t)", "sqrt(-t**2)", "1e300*t*1e300") else (parse,):
        with pytest.raises(TautError) as refusal:
            read(text, ["t", "a.x", "a.y"])
        assert FORBIDDEN[text] in str(refusal.value), f"{text[:60]}: {refusal.value}"


def test_the_caret_stands_under_the_mistake():
    with pytest.raises(TautError) as refusal:
        parse("a.x + 3*sni(t)", ["a.x", "t"])
    _, shown, caret = str(refusal.value).splitlines()
    assert shown[caret.index("^") :].startswith("sni("), f"{refusal.value}"


@pytest.mark.parametrize(
    "value", [2, 0.1, "0.1*sin(10*t)", {"times": [0, 1.5], "values": [1, 0.3], "smooth": False}]
)
def test_signals_survive_a_round_trip(value):
    signal = Signal.of(value)
    again = Signal.of(signal.plain())
    assert again == signal and hash(again) == hash(signal), f"{signal} became {again}"


def test_constant_text_is_a_constant():
    assert Signal.of("pi/2").value == math.pi / 2, f"{Signal.of('pi/2')}"
    with pytest.raises(TautError, match="changes with time"):
        _ = Signal.of("t").value


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (math.nan, "not a finite number"),
        (True, "not a function of time"),
        (None, "not a function of time"),
        ("q", "drive: formula, column 1: unknown symbol 'q'"),
        ({"times": [0, 1]}, "keyframes have"),
        ({"times": [0, 1], "values": [1]}, "2 times and 1 values"),
        ({"times": [1, 1], "values": [1, 2]}, "must increase"),
        ({"times": [0, 1], "values": [0, math.inf]}, "not a finite number"),
        ({"times": 3, "values": "x"}, "two lists of numbers"),
    ],
)
def test_bad_signals_are_refused(value, reason):
    with pytest.raises(TautError, match="^drive: ") as refusal:
        Signal.of(value, "drive")
    assert reason in str(refusal.value), f"{refusal.value}"


def test_python_functions_are_not_written_to_files():
    with pytest.raises(TautError, match="use a formula or keyframes"):
        Signal.of(math.sin).plain()


SINES = {
    "formula": ("sin(3*t) + 0.5*t**2", 1e-13),
    "function": (lambda t: math.sin(3 * t) + 0.5 * t**2, 1e-11),
    "not analytic": (lambda t: abs(math.sin(3 * t)) + 0.5 * t**2 if t > 0 else 0.0, 1e-8),
    "interpreted": (lambda t: eval("math.sin(3 * t) + 0.5 * t**2"), 1e-8),
}


@pytest.mark.parametrize("kind", SINES)
@pytest.mark.filterwarnings("ignore::taut.errors.TautWarning")
def test_signal_derivatives(kind):
    source, tolerance = SINES[kind]
    t = 0.7
    exact = (math.sin(3 * t) + 0.5 * t * t, 3 * math.cos(3 * t) + t, 1 - 9 * math.sin(3 * t))
    error = np.abs(np.subtract(Signal.of(source).at(t), exact)).max()
    allowed = tolerance if not numba.config.DISABLE_JIT else max(tolerance, 1e-8)
    assert error < allowed, f"largest error {error:.2e}"


@pytest.mark.parametrize("smooth", [True, False])
def test_keyframes_pass_through_their_points(smooth):
    frames = Keyframes((0.0, 0.4, 1.0, 2.5), (0.3, -1.0, 2.0, 0.1), smooth)
    signal = Signal.of(frames)
    error = max(abs(signal.at(t)[0] - value) for t, value in zip(frames.times, frames.values))
    assert error < 1e-15, f"largest error {error:.2e}"
    assert signal.at(-5.0) == (0.3, 0.0, 0.0) and signal.at(9.0) == (0.1, 0.0, 0.0), "constant outside"


def test_smooth_keyframes_have_continuous_derivatives_and_rest_at_the_ends():
    frames = Keyframes((0.0, 0.4, 1.0, 2.5), (0.3, -1.0, 2.0, 0.1))
    signal, d = Signal.of(frames), 1e-9
    for t in frames.times:
        jump = abs(signal.at(t + d)[1] - signal.at(t - d)[1])
        assert jump < 1e-6, f"first derivative jumps by {jump:.2e} at {t}"
    slope = (signal.at(0.8 + 1e-5)[0] - signal.at(0.8 - 1e-5)[0]) / 2e-5
    assert slope == pytest.approx(signal.at(0.8)[1], rel=1e-8), f"slope {slope} against {signal.at(0.8)[1]}"


@pytest.mark.parametrize("as_text", [True, False])
def test_compiled_constraint_equals_sympy(as_text):
    rows = ROWS if as_text else [parse(text, [*NAMES, "t"]) for text in ROWS]
    address = codegen.constraint_address(rows, NAMES)
    x, v = np.random.default_rng(1).uniform(-2, 2, (2, 6))
    ours = evaluate_constraint(address, x, v, 0.4, 2, offset=3)
    for name, a, b in zip(("phi", "J", "phi_t", "gamma"), ours, symbolic(ROWS, NAMES, x, v, 0.4)):
        error = np.abs(a - b).max()
        assert error < 1e-12, f"{name}: largest error {error:.2e}"


def user_rows(q, t):
    return (
        (q[0, 0] - q[1, 0]) ** 2 + (q[0, 1] - q[1, 1]) ** 2 - (2 + 0.1 * math.sin(3 * t)) ** 2,
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
        (lambda q, t: (1.0, 2.0), "returns 2"),
        (lambda q, t: "x", "returns 'x'"),
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
    @kernel
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
