"""Words for checking what users write. Each returns the value in its plain form or raises TautError.

`what` names the thing in the message, such as "particle 'b': mass".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from functools import cache
from math import cos, hypot, isfinite, sin
from numbers import Real
from typing import Any

import numpy as np

from ..errors import TautError, shown
from ..expressions import Signal
from .specs import BodyRef, Matrix, Ref, Vector

_NOT_LISTS = (str, bytes, Mapping, Set, type)  # of a set nobody knows the order
_AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def number(value: Any, what: str) -> float:
    """A finite number."""
    if type(value) is not float:  # asking for Real is slow, and scenes hold many numbers
        if isinstance(value, bool) or not isinstance(value, Real):
            raise TautError(f"{what} is {shown(value)}; give a number.")
        try:
            value = float(value)
        except OverflowError:
            raise TautError(f"{what} is {shown(value)}, too large for a float; give a number below 1e308.") from None
    if not isfinite(value):
        raise TautError(f"{what} is {value}; give a finite number.")
    return value


def positive(value: Any, what: str) -> float:
    """A finite number above zero."""
    result = number(value, what)
    if result <= 0.0:
        raise TautError(f"{what} is {result:g}; it must be greater than zero.")
    return result


def fraction(value: Any, what: str) -> float:
    """A number from 0 to 1."""
    result = number(value, what)
    if not 0.0 <= result <= 1.0:
        raise TautError(f"{what} is {result:g}; it must lie between 0 and 1.")
    return result + 0.0  # no sign on zero, which no file would keep


def not_negative(value: Any, what: str) -> float:
    """A finite number that is zero or above."""
    result = number(value, what)
    if result < 0.0:
        raise TautError(f"{what} is {result:g}; it can not be negative.")
    return result + 0.0


def sense(value: Any, what: str) -> str:
    """How a condition compares with zero."""
    if not isinstance(value, str) or value not in ("==", ">=", "<="):
        raise TautError(f"{what} is {shown(value)}; choose '==', '>=' or '<='.")
    return value


def _listed(value: Any, what: str, wanted: str) -> list:
    try:
        if isinstance(value, _NOT_LISTS) or not hasattr(value, "__len__"):
            raise TypeError
        return list(value)
    except TypeError:  # an array of no dimensions has a length until it is asked for it
        raise TautError(f"{what} is {shown(value)}; give {wanted}.") from None


def numbers(value: Any, what: str) -> tuple[float, ...]:
    """A list of finite numbers, or one alone; rows of numbers are joined."""
    if isinstance(value, Real) and not isinstance(value, bool):
        return (number(value, what),)
    flat: list[Any] = []
    for item in _listed(value, what, "a list of numbers"):
        flat.extend(_listed(item, what, "a list of numbers") if hasattr(item, "__len__") else (item,))
    return tuple(number(item, f"{what}[{i}]") for i, item in enumerate(flat))


def vector(value: Any, what: str) -> Vector:
    """Three finite numbers."""
    items = _listed(value, what, "three numbers")
    if len(items) != 3:
        raise TautError(f"{what} is {shown(value)}, which has {len(items)} entries; give three numbers (x, y, z).")
    return number(items[0], what), number(items[1], what), number(items[2], what)


def direction(value: Any, what: str) -> Vector:
    """Three finite numbers, or "x", "y", "z", made to have length one."""
    if isinstance(value, str) and value in _AXES:
        return _AXES[value]
    x, y, z = vector(value, what)
    length = hypot(x, y, z)
    if length < 1e-300 or not isfinite(length):
        why = "which has no direction" if length < 1.0 else "which is too long"
        raise TautError(f"{what} is {shown(value)}, {why}; give a vector such as (0, 0, 1).")
    # Dividing what is of length one already could move its last bit, and files must read back exactly.
    return (x, y, z) if abs(length - 1.0) < 1e-15 else (x / length, y / length, z / length)


def quaternion(value: Any, what: str) -> tuple[float, float, float, float]:
    """A unit quaternion (w, x, y, z), from four numbers or from (axis, angle [rad])."""
    items = _listed(value, what, "a quaternion (w, x, y, z) or (axis, angle)")
    if len(items) == 2:
        x, y, z = direction(items[0], f"{what} axis")
        half = 0.5 * number(items[1], f"{what} angle")
        return cos(half), x * sin(half), y * sin(half), z * sin(half)
    if len(items) != 4:
        raise TautError(f"{what} is {shown(value)}; give a quaternion (w, x, y, z) or (axis, angle).")
    w, x, y, z = (number(item, what) for item in items)
    length = hypot(w, x, y, z)
    if not 1e-6 <= length < 1e300:
        raise TautError(f"{what} is {shown(value)}, a quaternion of length {length:g}; give one of length 1.")
    if abs(length - 1.0) < 1e-15:  # as in `direction`
        return w, x, y, z
    return w / length, x / length, y / length, z / length


def inertia(value: Any, what: str) -> Matrix:
    """A possible inertia matrix [kg m²], from three principal moments, 3×3 numbers, or one moment about every axis."""
    try:
        numbers = np.array(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        numbers = np.empty(0)
    if numbers.shape == () and isinstance(value, Real) and not isinstance(value, bool):
        numbers = np.full(3, float(value))
    if numbers.shape not in ((3,), (3, 3)):
        raise TautError(f"{what} is {shown(value)}; give three principal moments, a 3×3 matrix, or one moment about "
                        "every axis, which is all that a planar body needs [kg m²].")
    matrix = np.diag(numbers) if numbers.ndim == 1 else numbers
    if not np.isfinite(matrix).all():
        raise TautError(f"{what} is {shown(value)}; give finite numbers.")
    if abs(matrix - matrix.T).max() > 1e-12 * abs(matrix).max():
        raise TautError(f"{what} is {shown(value)}, not symmetric; give one equal to its transpose.")
    matrix = 0.5 * (matrix + matrix.T) + 0.0  # no sign on zeros, which no file would keep
    if abs(matrix).max() > 1e150 or abs(matrix).max() < 1e-150:
        raise TautError(f"{what} is {shown(value)}; give moments between 1e-150 and 1e150 kg m².")
    low, middle, high = np.linalg.eigvalsh(matrix)
    moments = f"principal moments {low:g}, {middle:g}, {high:g}"
    if low <= 0.0:
        raise TautError(f"{what} has {moments}; all must be positive (give a thin rod a small radius).")
    if high > (low + middle) * (1.0 + 1e-9):
        raise TautError(f"{what} has {moments}; no body has one above the sum of the other two.")
    first, second, third = (tuple(float(entry) for entry in row) for row in matrix)
    return first, second, third  # type: ignore[return-value]


def signal(value: Any, what: str) -> Signal:
    """A number, or a function of time as formula, keyframes or Python function."""
    if type(value) is float or isinstance(value, Real) and not isinstance(value, bool):
        return Signal(number(value, what))
    return Signal.of(value, what)


@cache  # so that the same path gives equal signals
def _component(function: Callable[[float], Any], index: int) -> Callable[[float], float]:
    """One component of a Python function of time that returns a vector."""
    from numba.extending import register_jitable  # as late as possible: a scene without functions needs no numba

    register_jitable(function)  # so that what calls it can be compiled as well

    def component(t: float) -> float:
        return function(t)[index]

    component.__name__ = f"{getattr(function, '__name__', 'path')}[{index}]"
    return component


def signals(value: Any, what: str) -> tuple[Signal, Signal, Signal]:
    """Three functions of time: three values, one Python function t -> (x, y, z), or keyframes of places."""
    if isinstance(value, dict):
        value = _keyframes_apart(value, what)
    elif callable(value):
        vector(called(value, what, 0.0), f"{what} at t = 0")
        value = [_component(value, i) for i in range(3)]
    items = _listed(value, what, "three numbers or formulas, keyframes, or a function t -> (x, y, z)")
    if len(items) != 3:
        raise TautError(f"{what} is {shown(value)}, which has {len(items)} entries; give three (x, y, z).")
    x, y, z = (signal(item, f"{what}[{i}]") for i, item in enumerate(items))
    return x, y, z


def _keyframes_apart(frames: dict, what: str) -> list[dict]:
    """Keyframes of places as three keyframes of numbers."""
    if "values" not in frames:
        raise TautError(f"{what} has no 'values'; keyframes are {{times: [...], values: [[x, y, z], ...]}}.")
    rows = _listed(frames["values"], f"{what} values", "places [[x, y, z], ...]")
    places = [vector(row, f"{what} values[{i}]") for i, row in enumerate(rows)]
    return [{**frames, "values": [place[i] for place in places]} for i in range(3)]


def text(value: Any, what: str) -> str:
    """Text that is not empty, and that a file can hold."""
    if not isinstance(value, str) or not value.strip():
        raise TautError(f"{what} is {shown(value)}; give text.")
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise TautError(f"{what} is {shown(value)}, which holds half of a letter; give text.")
    return value


def one_line(value: Any, what: str) -> str:
    """Text without line breaks or control characters, of at most 1,000 letters: what a name may be."""
    if not isinstance(value, str) or not value.strip() or not value.isprintable() or len(value) > 1000:
        raise TautError(f"{what} is {shown(value)}; give text on one line, of at most 1,000 letters.")
    return value


def texts(value: Any, what: str) -> tuple[str, ...]:
    """A list of text; one alone will do."""
    items = [value] if isinstance(value, str) else _listed(value, what, "text or a list of text")
    if not items:
        raise TautError(f"{what} is empty; give at least one.")
    return tuple(text(item if isinstance(item, str) else _as_text(item), what) for item in items)


def _as_text(item: Any) -> Any:
    # A formula may be a bare number in a scene file: curve: [0, s, s**2].
    return shown(item) if isinstance(item, Real) and not isinstance(item, bool) else item


def called(given: Callable, what: str, *arguments: Any) -> Any:
    """What a user's function returns; what it raises is told as the user's own."""
    try:
        return given(*arguments)
    except TautError:
        raise
    except Exception as problem:
        name = getattr(given, "__name__", shown(given))
        raise TautError(f"{what}: the function {name} raised {type(problem).__name__}: {problem}") from problem


def function(value: Any, what: str) -> Callable:
    """A Python function."""
    if not callable(value):
        raise TautError(f"{what} is {shown(value)}; give a Python function.")
    return value


def suggestion(value: Any, what: str) -> Any:
    """What a scene may suggest for an option: a number, text, True or False."""
    if isinstance(value, bool):
        return value
    if not isinstance(value, int | float | str):
        raise TautError(f"{what} is {shown(value)}; give a number, text, True or False.")
    if isinstance(value, str):
        return text(value, what)
    number(value, what)  # judges it; a whole number stays one
    return float(value) if isinstance(value, float) else value


def joint(value: Any, what: str) -> str:
    """The name of a joint, or of a coordinate, from what adding it returned or from its name."""
    is_coordinate = isinstance(value, BodyRef) and value.kind == "coordinate"
    if isinstance(value, BodyRef) and not is_coordinate:
        raise TautError(f"{what} is '{value.name}', a body; give a joint, as scene.hinge(...) returns it, or its name.")
    if not (isinstance(value, Ref | str) or is_coordinate):
        raise TautError(f"{what} is {shown(value)}; give a joint, as scene.hinge(...) returns it, or its name.")
    return text(value if isinstance(value, str) else value.name, what)


# How each type of argument that constraints/base.py lists is read.
READERS: dict[str, Callable[[Any, str], Any]] = {
    "number": signal,
    "vector": signals,
    "constant": number,
    "constant_vector": vector,
    "quaternion": quaternion,
    "numbers": numbers,
    "joint": joint,
    "text": text,
    "texts": texts,
    "function": function,
}
