"""What kernels are made of and when: loops do what Python does, and functions on demand wait until they are called."""

from __future__ import annotations

import signal
import time

import numba
import numpy as np
import pytest

from taut.compiled import entry, folder, inline, on_demand
from taut.compiled.on_demand import compile_later, waited

compiled_only = pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")


def up(n, a, out):
    for i in range(1, n):
        out[i, 1] = a[i] + i


def down_in_strides(n, a, out):
    k = 0
    for i in range(n - 1, -1, -3):
        out[k, 0] = a[i]
        k += 1


def nothing_to_do(n, a, out):
    for _ in range(n, 0):
        out[0, 0] = 1.0
    for _ in range(0, n, -1):
        out[0, 0] = 2.0


def stride_that_is_not_known(n, a, out):
    for i in range(0, n, 1 + n // 5):
        out[i, 0] = a[i]


def from_the_end(n, a, out):
    out[-1, -2] = a[-n]
    for i in range(-3, 0):
        out[i, 0] = a[i + 1]


def rows(n, a, out):
    for i in range(n):
        row = out[i]
        row[0] = a[n - 1 - i]
        row[-1] = row[0] * row.shape[0]


def unsigned(n, a, out):
    for i in range(np.uint64(1), np.uint64(n)):
        out[i, 0] = a[i - np.uint64(1)]


def known_only_later(n, a, out):
    last = 0.0
    for i in range(n):
        if i > 2:
            out[i, 1] = last
        if i % 2 == 0:
            last = a[i]
            seen = i
        for j in range(i):
            if j == 2:
                break
        else:
            out[i, 0] = seen


def swapped(n, a, out):
    x, y = 0.0, 1.0
    for i in range(n):
        x, y = y, x + y + a[i]
        out[i, 0] = x


@pytest.mark.parametrize(
    "function",
    (up, down_in_strides, nothing_to_do, stride_that_is_not_known, from_the_end, rows, unsigned, known_only_later,
     swapped),
)
def test_a_kernel_does_what_python_does(function, own_folder):
    n = 7
    a = np.random.default_rng(4).standard_normal(n)
    plain, compiled = np.zeros((n, 2)), np.zeros((n, 2))
    function(n, a, plain)
    entry(function)(n, a, compiled)
    assert np.array_equal(plain, compiled), f"{compiled} instead of {plain}"


def make_rare():
    """A function that is called for x > 1 only, and its caller, through an inlined function."""

    @on_demand(numba.float64)
    def rare(x, k):
        return 10.0 * x + k

    @inline
    def between(x):
        return rare(x, 3) if x > 1.0 else x

    @entry
    def caller(x):
        return between(x) + 1.0

    return rare, caller


@compiled_only
def test_a_function_on_demand_is_compiled_when_it_is_called(own_folder):
    rare, caller = make_rare()
    assert caller(0.5) == 1.5
    assert not rare.dispatcher.signatures
    before = waited()
    assert caller(2.0) == 24.0
    assert rare.dispatcher.signatures == [(numba.float64, numba.int64)], "a literal is taken for a variable"
    assert waited() > before
    assert rare(2.0, 3) == 23.0, "Python may call it as well"


@compiled_only
def test_a_stored_caller_finds_what_it_calls_on_demand(own_folder):
    _, caller = make_rare()
    caller(0.5)
    rare, again = make_rare()  # the same content, as in another process
    assert again(2.0) == 24.0
    assert not again.stats.cache_misses, "it was compiled again"
    assert len(rare.dispatcher.signatures) + len(make_rare()[0].dispatcher.signatures) <= 1


@compiled_only
def test_what_is_to_be_kept_is_compiled_ahead(own_folder):
    _, caller = make_rare()
    caller(0.5)
    compile_later()
    names = {path.name.partition("-")[0] for path in folder.cache_folder().glob("*.kernel")}
    assert any(name.endswith(".rare") for name in names), names


@compiled_only
def test_ctrl_c_waits_until_a_function_is_found(own_folder, monkeypatch):
    from taut.compiled import storage as stored

    _, caller = make_rare()
    caller(0.5)
    monkeypatch.setattr(stored, "before_compiling", [lambda _: signal.raise_signal(signal.SIGINT)])
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # in the background of a shell it is ignored
    try:
        with pytest.raises(KeyboardInterrupt):
            caller(2.0)
            for _ in range(1_000):  # the signal is told between two instructions of Python
                time.sleep(0.01)
    finally:
        signal.signal(signal.SIGINT, before)
    monkeypatch.undo()
    assert caller(2.0) == 24.0
