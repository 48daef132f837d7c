"""What taut asks of a user's Python function before it relies on it."""

from __future__ import annotations

import cmath
import inspect
import linecache
import math
import re
import types as python_types
from collections.abc import Callable
from functools import cache
from numbers import Real
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from taut.errors import TautError, shown, warn


def agree(a: np.ndarray, b: np.ndarray, tolerance: float) -> bool:
    """Whether the entries that are finite in both are equal up to a relative tolerance."""
    both = np.isfinite(a) & np.isfinite(b)
    return bool(np.all(np.abs(a - b)[both] <= tolerance * (1.0 + np.abs(b[both]))))


def try_once(function: Callable, arrays: tuple[np.ndarray, ...], count: int) -> None:
    """Run the function once in Python: compiled code would not notice an index outside an array."""
    rng = np.random.default_rng(5)
    given = "t [s]" if not arrays else f"{', '.join('qv'[: len(arrays)])} and t, q of shape {arrays[0].shape}"
    check_call(function, name_of(function), given, len(arrays) + 1)
    try:
        result = function(*(rng.uniform(0.5, 1.5, a.shape) for a in arrays), 0.0)
    except (ArithmeticError, ValueError):
        return  # outside its domain here, which says nothing about the scene
    except Exception as mistake:
        if type(mistake).__module__.startswith("numba"):  # from a function that the user has compiled
            raise TautError(f"{name_of(function)} calls a function that can not be compiled: {why_not(mistake)}; "
                            "take numba's decorator away from that one") from None
        raise TautError(f"{name_of(function)} raised {type(mistake).__name__}: {str(mistake).rstrip('.')}"
                        f"{line_of(mistake)}; mend it there") from mistake
    try:
        returned = 0 if result is None else np.asarray(result, dtype=float).size
    except (TypeError, ValueError):
        returned = 0
    if returned != count:
        numbers = f"{count} numbers" if count > 1 else "one number"
        raise TautError(f"{name_of(function)} returned {shown(result)}; return {numbers}")


def check_function_of_time(function: Callable, where: str) -> None:
    """Refuse at once what is no f(t) -> number; outside its domain at t = 0 it is told where a run begins."""
    check_call(function, f"{where}{name_of(function)}", "t [s]", 1)
    try:
        result = function(0.0)
    except (ArithmeticError, ValueError):
        return
    except Exception as mistake:
        raise TautError(f"{where}{name_of(function)} raised {type(mistake).__name__}: {str(mistake).rstrip('.')}"
                        f"{line_of(mistake)}; mend it there.") from mistake
    if real_number(result) is None:
        raise TautError(f"{where}{name_of(function)} returned {shown(result)} at t = 0; return one number.")


def check_call(function: Callable, what: str, given: str, count: int) -> None:
    """Refuse a function that does not take what it will be called with."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # of some functions in C nothing is known
        return
    try:
        signature.bind(*[0.0] * count)
    except TypeError as mistake:
        raise TautError(f"{what} takes {signature} ({mistake}); it is called with {given}.") from None


def compilable(function: Callable, to_complex: bool = False) -> Callable:
    """A copy of the function that numba can compile, and so of every plain Python function that it calls by name.

    to_complex: math's functions are replaced by those of cmath, where they exist.
    """
    import numba

    twins = {getattr(math, n): getattr(cmath, n) for n in dir(cmath) if callable(getattr(math, n, None))}
    made: dict[Callable, Any] = {}

    def replaced(value: Any) -> Any:
        if to_complex and value is math:
            return cmath
        if to_complex and isinstance(value, python_types.BuiltinFunctionType):
            return twins.get(value, value)
        if not isinstance(value, python_types.FunctionType) or (value.__module__ or "").startswith("numpy"):
            return value
        if value not in made:
            made[value] = value  # one that calls itself is left as it is
            made[value] = numba.njit(error_model="numpy")(copied(value))
        return made[value]

    def copied(one: Callable) -> Callable:
        if not isinstance(one, python_types.FunctionType):
            return one
        globals_used = {name: one.__globals__[name] for name in _names_in(one.__code__) if name in one.__globals__}
        cells = tuple(cell if cell == python_types.CellType() else python_types.CellType(replaced(cell.cell_contents))
                      for cell in one.__closure__ or ())
        return python_types.FunctionType(
            one.__code__, {**one.__globals__, **{name: replaced(value) for name, value in globals_used.items()}},
            one.__name__, one.__defaults__, cells,
        )  # fmt: skip

    return copied(function)


def _names_in(code: python_types.CodeType) -> set[str]:
    """The names that a function uses, those of functions inside it included."""
    inner = (_names_in(part) for part in code.co_consts if isinstance(part, python_types.CodeType))
    return set(code.co_names).union(*inner)


def why_not(complaint: Exception) -> str:
    """Where and why numba could not compile a user's function, in words for somebody who knows Python alone."""
    text = str(complaint)
    places = re.findall(r'File "([^"\n]+)", line (\d+)|(?:at|Raised from) (/[^\n]*?) \((\d+)\)', text)
    where = "something in it"
    if places:  # the innermost stands first; of some numba gives the file's name alone
        name, number = places[0][0] or places[0][2], int(places[0][1] or places[0][3])
        path = next((whole for *_, whole, _ in places if Path(whole).name == Path(name).name), name)
        source = linecache.getline(path, number).strip()
        where = f"line {number} of {Path(name).name}" + f" ({shown(source)})" * bool(source)
    for pattern, words in (
        (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'", "{1}.{0} is not known to compiled code"),
        (r"Unknown attribute '(\w+)' of type", "what '.{0}' is taken of has no such thing in compiled code"),
        (r"unsupported NumPy function '([\w.]+)'", "compiled code does not know {0}, or not this use of it"),
        (r"Untyped global name '(\w+)'|freevar '(\w+)'", "compiled code can not use '{0}'"),
        (r"NameError: name '(\w+)' is not defined|global name '(\w+)' is not defined", "'{0}' is not defined"),
        (r"No implementation of function Function\(<(?:built-in )?function (\w+)", "'{0}' can not take what it gets"),
    ):
        match = re.search(pattern, text)
        if match:
            return f"{where}: " + words.format(*(group for group in match.groups() if group))
    return f"{where} does what compiled code can not"


def warn_interpreted(function: Callable) -> None:
    """Tell the user, once per function, why the run will be slow."""
    warn(f"{name_of(function)} runs in the interpreter: every step calls Python")


def plain(function: Callable, count: int) -> Callable:
    """The Python function itself, also where the user has compiled it already; of what is called like one (math.sin,
    an object) a function of so many arguments."""
    function = getattr(function, "py_func", function)
    if isinstance(function, python_types.FunctionType):
        return function
    try:
        return _called(function, count)
    except TypeError:  # it has no hash
        return _called.__wrapped__(function, count)


@cache  # so that the same object is compiled once
def _called(given: Callable, count: int) -> Callable:
    made: dict[int, Callable] = {1: lambda t: given(t), 2: lambda q, t: given(q, t), 3: lambda q, v, t: given(q, v, t)}
    made[count].__wrapped__ = given  # type: ignore[attr-defined]
    return made[count]


def name_of(function: Callable) -> str:
    """How a message calls the function: its name and where it is written."""
    function = getattr(function, "__wrapped__", function)
    code = getattr(function, "__code__", None)
    place = f" ({code.co_filename}:{code.co_firstlineno})" if code else ""
    return f"the function '{getattr(function, '__name__', function)}'{place}"


def line_of(mistake: Exception) -> str:
    """Where an exception was raised, for a message: " (file:line)"."""
    frames = list(walk_tb(mistake.__traceback__))
    if not frames or frames[-1][0].f_globals.get("__name__", "").partition(".")[0] == "taut":
        return ""
    return f" ({frames[-1][0].f_code.co_filename}:{frames[-1][1]})"


def real_number(value: Any) -> float | None:
    """A real number, or an array of just one; None: anything else, such as None, text, a truth value or a list."""
    if isinstance(value, np.ndarray) and value.size == 1:
        value = value.flat[0]
    return float(value) if isinstance(value, Real) and not isinstance(value, bool | np.bool_) else None
