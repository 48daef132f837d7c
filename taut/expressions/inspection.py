"""What taut asks of a user's Python function before it relies on it."""

from __future__ import annotations

import cmath
import math
import types as python_types
from collections.abc import Callable

import numpy as np

from taut.errors import TautError, tell


def agree(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether the entries that are finite in both are equal up to a relative tolerance."""
    both = np.isfinite(a) & np.isfinite(b)
    return bool(np.all(np.abs(a - b)[both] <= tolerance * (1.0 + np.abs(b[both]))))


def try_once(function: Callable, arrays: tuple[np.ndarray, ...], count: int) -> None:
    """Run the function once in Python: compiled code would not notice an index outside an array."""
    rng = np.random.default_rng(5)
    try:
        result = function(*(rng.uniform(0.5, 1.5, a.shape) for a in arrays), 0.0)
    except (ArithmeticError, ValueError):
        return  # outside its domain here, which says nothing about the scene
    except Exception as mistake:
        raise TautError(f"{name_of(function)} fails: {type(mistake).__name__}: {mistake}") from mistake
    try:
        returned = np.asarray(result, dtype=float).size
    except (TypeError, ValueError):
        raise TautError(f"{name_of(function)} returns {result!r}, not {count} number(s)") from None
    if returned != count:
        raise TautError(f"{name_of(function)} returns {returned} number(s); {count} are needed")


def complex_twin(function: Callable) -> Callable:
    """The same function with math's functions replaced by those of cmath, where they exist."""
    if not isinstance(function, python_types.FunctionType):
        return function
    twins = {getattr(math, n): getattr(cmath, n) for n in dir(cmath) if callable(getattr(math, n, None))}
    changed = {}
    for name, value in function.__globals__.items():
        if value is math:
            changed[name] = cmath
        elif isinstance(value, python_types.BuiltinFunctionType) and value in twins:
            changed[name] = twins[value]
    return python_types.FunctionType(
        function.__code__, {**function.__globals__, **changed}, function.__name__,
        function.__defaults__, function.__closure__,
    )  # fmt: skip


def warn_interpreted(function: Callable) -> None:
    """Tell the user, once per function, why the run will be slow."""
    tell(f"{name_of(function)} runs in the interpreter: every step calls Python")


def plain(function: Callable) -> Callable:
    """The Python function itself, also where the user has compiled it already."""
    return getattr(function, "py_func", function)


def name_of(function: Callable) -> str:
    """How a message calls the function: its name and where it is written."""
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return f"the function '{getattr(function, '__name__', function)}'{place}"
