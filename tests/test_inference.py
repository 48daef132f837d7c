"""taut's way through numba (inference.py, passes.py) gives the types and the bits of numba's own pipeline."""

from __future__ import annotations

import types
from math import sqrt

import numba
import numpy as np
import pytest
from numba.core.registry import CPUDispatcher

from taut.compiled import entry, inline
from taut.constraints import KINDS
from taut.constraints.base import At
from taut.linalg import banded

pytestmark = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
NODES, COUNT, ROOM = 8, 2, 200


def twin(kernel, made):
    """The same function, and all that it calls, for numba's own pipeline; `made` collects pairs of both."""
    if kernel not in made:
        function = kernel.py_func
        names = {
            name: twin(value, made) if isinstance(value := function.__globals__[name], CPUDispatcher) else value
            for name in function.__code__.co_names
            if name in function.__globals__
        }
        copy = types.FunctionType(
            function.__code__, {**function.__globals__, **names}, function.__name__, function.__defaults__,
            function.__closure__,
        )  # fmt: skip
        made[kernel] = numba.njit(error_model="numpy")(copy)
    return made[kernel]


def agree(kernel, arrays, arguments):
    """Call both; arrays and results agree in every bit, and types of all functions that were called agree."""
    made: dict = {}
    own, plain = entry(kernel.py_func), twin(kernel, made)
    made[own] = made.pop(kernel)
    here, there = ({name: array.copy() for name, array in arrays.items()} for _ in range(2))
    results = own(*arguments(**here)), plain(*arguments(**there))
    assert np.array(results[0]).tobytes() == np.array(results[1]).tobytes(), results
    for name in arrays:
        assert here[name].tobytes() == there[name].tobytes(), f"{name}: {np.abs(here[name] - there[name]).max()}"
    for ours, numbas in made.items():
        for given, overload in numbas.overloads.items():
            signature = tuple(map(numba.types.unliteral, given))  # taut has one version for literals and variables
            assert signature in ours.overloads, f"{ours.__name__}: numba calls it with {signature}, taut does not"
            found, expected = ours.overloads[signature].signature.return_type, overload.signature.return_type
            assert found == expected, f"{ours.__name__}{signature}: {found} instead of {expected}"


SOME = [name for name, kind in KINDS.items() if kind.kernel and name not in ("on_curve", "custom")][::3]  # not formulas


@pytest.mark.parametrize("name", SOME)
def test_kernels_of_constraints(name, own_folder):
    random = np.random.default_rng(3)
    shapes = {
        "p": ROOM, "p_t": ROOM, "p_tt": ROOM, "x": (NODES, 3), "v": (NODES, 3), "scratch": ROOM, "phi": ROOM,
        "J": (ROOM, 3), "phi_t": ROOM, "gamma": ROOM,
    }  # fmt: skip
    arrays = {key: random.standard_normal(shape) for key, shape in shapes.items()}
    whole = {"idx": np.arange(ROOM) % NODES, "ints": np.arange(ROOM) % 2}
    place = At(*[0] * len(At._fields))

    def arguments(p, p_t, p_tt, x, v, scratch, phi, J, phi_t, gamma):
        return (COUNT, place, whole["idx"], p, p_t, p_tt, whole["ints"], x, v, 0.3, True, scratch, phi, J, phi_t, gamma)

    agree(KINDS[name].kernel, arrays, arguments)


@pytest.mark.parametrize("bandwidth", [1, 4])
def test_factors_and_solutions_within_a_band(bandwidth, own_folder):
    m = 30
    random = np.random.default_rng(bandwidth)
    val = random.standard_normal((m, bandwidth + 1))
    val[:, 0] = 4.0 * bandwidth + 1.0
    val[7, 0] = 0.0  # a dependent row
    arrays = {"val": val.ravel(), "fac": np.zeros(m * (bandwidth + 1)), "inverse": np.zeros(m)}
    perm, b = random.permutation(m), random.standard_normal(m)
    if bandwidth == 1:
        factor, solve = banded.factor_tridiagonal, banded.solve_tridiagonal
        agree(factor, arrays, lambda val, fac, inverse: (val, fac, inverse, 1e-12))
        entry(factor.py_func)(*arrays.values(), 1e-12)
        agree(solve, arrays | {"out": np.zeros(m)}, lambda val, fac, inverse, out: (fac, inverse, perm, b, out))
        return
    factor, solve = banded.factor_band.dispatcher, banded.solve_band.dispatcher
    agree(factor, arrays, lambda val, fac, inverse: (val, fac, inverse, bandwidth, 1e-12))
    entry(factor.py_func)(*arrays.values(), bandwidth, 1e-12)
    agree(solve, arrays | {"y": np.zeros(m), "out": np.zeros(m)},
          lambda val, fac, inverse, y, out: (fac, inverse, perm, bandwidth, y, b, out))


@inline
def scaled(a, by):
    return a * by


def becomes_a_float(n, a):
    total = 0
    for i in range(n):
        total = total + (a[i] if i % 3 else i)
    return total


def known_after_a_round(n, a):
    x = y = 0
    for _ in range(n):
        x, y = y + 1, scaled(x, 2) / 3
    return x, y


def literals_and_variables(n, a):
    k = 2
    return 1 + 1, 3 // 2, 7 % n, n * 0.5, k < 3, n**2, a[1] ** 3, a[0] ** -0.5 if a[0] > 0 else a[k] ** 0.5


def several_widths(n, a):
    small, big = np.int32(n), np.uint64(n)
    return small + 1, big + np.uint64(1), small * 2.0, np.float32(0.1) * a[0], np.float32(0.1) + np.float32(n)


def truth(n, a):
    yes = a[0] > a[1] and not n == 3 or n > 5
    return yes, yes + 1, -a[0] if yes else abs(a[1]), 1 < n <= 7


def parts_of_a_tuple(n, a):
    mixed = (n, a[0], a.shape, True)
    return mixed[0] + 1, mixed[-3], mixed[2][0], mixed[3], len(mixed)


def nothing_given(n, a, scale=None):
    return sqrt(n) if scale is None else scale * n


def extremes(n, a):
    nothing = (a[0] - a[0]) / (a[0] - a[0])
    return (
        max(a[0], a[1], a[2]), min(a[3], 0.5), max(n, 3), min(n, n - 1, 2), max(n, a[0]), max(nothing, 1.0),
        max(1.0, nothing), min(0.0, -0.0), max(np.uint64(n), np.uint64(9)), min(n, True),
    )  # fmt: skip


def given_as_a_literal(n, a):
    return scaled(a[0], 2), scaled(a[0], n), scaled(n, 2), scaled(True, n)


TRICKY = (becomes_a_float, known_after_a_round, literals_and_variables, several_widths, truth, parts_of_a_tuple,
          nothing_given, extremes, given_as_a_literal)


@pytest.mark.parametrize("function", TRICKY)
def test_types_that_are_not_plain_at_first_sight(function, own_folder):
    agree(inline(function), {"a": np.random.default_rng(5).standard_normal(7)}, lambda a: (7, a))


def two_kinds(n, a):
    return (n, a) if n > 3 else n


def unknown_attribute(n, a):
    return a.nothing_of_that_name


def wrong_operands(n, a):
    return (n, n) * 0.5


@pytest.mark.parametrize("function", [two_kinds, unknown_attribute, wrong_operands])
def test_what_numba_refuses_is_refused(function, own_folder):
    for compile_it in (entry, numba.njit):
        with pytest.raises(numba.TypingError, match=function.__name__):
            compile_it(function)(7, np.ones(7))
