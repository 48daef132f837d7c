"""Odd values, from which both parts draw, and how an answer of taut is judged."""

from __future__ import annotations

import random
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import taut

NUMBERS: list[Any] = [
    0, 1, -1, 2, 3, 0.5, -0.0, 1e-12, 5e-324, 1e-200, 1e200, -1e200, 1.7e308, float("inf"), float("-inf"), float("nan"),
    2**31, 2**53 + 1, 2**63, 2**64, 10**18, -(10**18), 10**30, 10**400, -(10**400), 16**5000, True, False, 1e18, 7.5,
]  # fmt: skip
TEXTS: list[str] = [
    "", " ", "a", "b", "t", "x", "t**t", "sin(t)", "1/t", "sqrt(-t)", "log(t)", "0/0", "1/0", "exp(t)**99", "1e999",
    "nan",
    "inf", "anchor", "ball", "<script>alert(1)</script>", "</script>", "a|b", "a\nb", "a\x00b", "é" * 30, "x" * 3000,
    "../up",
    "/etc/passwd", "con", "..", ".", "array:", "array:p", "array:nothing", "-", "*", "&a", "!!int 3", "~", "null",
    "yes",
    "{}", "[]", "((((((((((", "t+" * 400 + "t", "9" * 5000, "t**99**99", "b.x", "__import__('os')", "lambda t: t",
    "\u202e", "\ud800", "tan(tan(tan(tan(t))))", "abs(t)", "atan2(t,t)", "0.1*sin(10*t)", "1_0", "0x10", "1:30",
]  # fmt: skip


def number(rng: random.Random) -> Any:
    return rng.choice(NUMBERS)


def text(rng: random.Random) -> str:
    return rng.choice(TEXTS)


def plain(rng: random.Random, depth: int = 0) -> Any:
    """A value that a file can hold."""
    choice = rng.random()
    if choice < 0.4:
        return number(rng)
    if choice < 0.6:
        return text(rng)
    if choice < 0.65:
        return None
    if depth > 2:
        return 0
    if choice < 0.87:
        if rng.random() < 0.1:
            return [plain(rng, depth + 1)] * rng.choice([50, 300])
        return [plain(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3, 3, 3, 4]))]
    keys = ["times", "values", "smooth", "body", "offset", "vertex", "to", "box", "sphere", "kind", "name", "a", "1"]
    return {rng.choice(keys): plain(rng, depth + 1) for _ in range(rng.choice([0, 1, 2, 3]))}


class Odd:
    """An object that is nothing in particular."""

    def __repr__(self) -> str:
        return "<Odd>"


def _objects(rng: random.Random) -> Any:
    choices: list[Callable[[], Any]] = [
        lambda: np.array(rng.choice([0.5, 1e200, np.nan, 3])),
        lambda: np.zeros(0), lambda: np.zeros(3), lambda: np.ones((3, 3)), lambda: np.zeros((2, 0)),
        lambda: np.array([1e200, 0.0, 0.0]), lambda: np.array(["a", "b", "c"]),
        lambda: np.array([{}, [], None], object),
        lambda: np.float64(rng.choice([0.5, np.nan, np.inf])), lambda: np.int64(3), lambda: np.bool_(True),
        lambda: np.zeros(3, complex), lambda: 1j, lambda: b"bytes", lambda: {1, 2}, lambda: range(3), lambda: Odd(),
        lambda: object, lambda: len, lambda: (lambda t: t), lambda: (lambda t: (t, t, t)), lambda: (lambda t: None),
        lambda: (lambda: 0), lambda: (lambda t: 1 / 0), lambda: iter([1, 2, 3]), lambda: Path("nowhere"),
        lambda: Ellipsis,
        lambda: {(1, 2): 3}, lambda: {None: 1}, lambda: np.datetime64("2020-01-01"), lambda: slice(3),
        lambda: taut.Scene(), lambda: taut, lambda: frozenset([1]), lambda: np.array([2**63], np.uint64),
        lambda: memoryview(b"abc"), lambda: [[[[]]]], lambda: (1e200, 1e200, 1e200), lambda: np.ma.masked,
    ]  # fmt: skip
    return rng.choice(choices)()


def value(rng: random.Random) -> Any:
    """Anything that Python can hold."""
    return plain(rng) if rng.random() < 0.6 else _objects(rng)


def judged(work: Callable[[], Any]) -> tuple[Any, str | None]:
    """What the work returns and the fault that it shows, if any. A TautError is an answer, not a fault."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return work(), None
        except taut.TautError as mistake:
            try:
                said = str(mistake)
                said.encode("utf-8", "replace")
            except Exception:
                return None, f"the message can not be shown: {traceback.format_exc(limit=-3)}"
            if len(said) > 20_000 or not said.strip():
                return None, f"a message of {len(said):,} characters: {said[:200]}"
            return None, None
        except Exception:
            return None, traceback.format_exc(limit=-7)


def steps(scene: Any, rng: random.Random) -> str | None:
    """A few steps; a run that says "finished" holds finite numbers only. Large scenes take long as plain Python."""
    if len(scene.bodies) > 60:
        return None
    dt = rng.choice([0.01, 0.001, 0.5])
    method = rng.choice(["implicit_first", "implicit_second", "baumgarte", "lagrange", "rattle", "fast_projection",
        None])
    run, fault = judged(lambda: taut.simulate(scene, method=method, dt=dt, duration=3 * dt, progress=False))
    if run is not None and run.status == "finished":
        for name in ("x", "v", "lam", "phi"):
            if not np.isfinite(getattr(run.records, name)).all():
                return f"{method}, dt {dt}: the run is finished, but {name} is not finite"
    # Compiled kernels divide as numpy does (error_model), plain Python raises: x / 0 inside a step is no fault.
    if fault and "ZeroDivisionError" in fault.splitlines()[-1]:
        return None
    return fault and f"{method}, dt {dt}: {fault}"
