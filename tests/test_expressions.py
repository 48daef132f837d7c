"""Laws of formulas and signals: what is read is what was written, and what is refused says why."""

import math
import random

import numba
import numpy as np
import pytest
import sympy

from taut.errors import TautError
from taut.expressions import Keyframes, Signal, check, parse
from taut.expressions.differences import central
from taut.expressions.source import rows_source


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
