"""A method's options: from what the user wrote to the numbers that compiled code reads."""

from __future__ import annotations

from collections.abc import Mapping
from inspect import signature
from typing import Any

import numpy as np

from ..errors import TautError, shown, unknown
from ..model.model import Model
from ..scene.scene import Scene
from .base import Method, Option

ROUNDING = 32 * np.finfo(float).eps


def option_values(
    method: Method, model: Model, tolerance: float | None, chosen: Mapping[str, Any], residual_accepted: bool
) -> np.ndarray:
    """The vector `options` of a step (methods/base.py)."""
    known = {option.name: option for option in method.options}
    for name in chosen:
        if name not in known:
            raise no_option(method, model, name, known)
    values = [number(method, option, chosen.get(option.name, option.default)) for option in method.options]
    rounding = ROUNDING * max(1.0, float(np.abs(model.x).max(initial=0.0)))
    return np.array([bound(method, tolerance, rounding), float(residual_accepted), rounding, *values])


def no_option(method: Method, model: Model, name: str, known: Mapping[str, Option]) -> TautError:
    if model.deformables and name in signature(Scene.cloth).parameters:
        return TautError(f"'{name}' is no option of method '{method.name}' but one of a cloth or solid; give it to "
                         f"scene.cloth({name}=…), or beside the cloth's other values in a scene file.")
    return unknown(f"option of method '{method.name}'", name, known)


def bound(method: Method, tolerance: float | None, rounding: float) -> float:
    if tolerance is None:
        tolerance = method.tolerance
        if tolerance is None:
            return 0.0
    elif not (isinstance(tolerance, int | float) and 0 < tolerance < 1e300):
        raise TautError(f"tolerance is {shown(tolerance)}; give a positive number, or leave it out.")
    elif not method.takes_tolerance:
        raise TautError(f"method '{method.name}' takes no tolerance, but {tolerance:g} was given; leave it out, "
                        "or choose a method that corrects positions such as implicit_first.")
    return max(float(tolerance), rounding) if not method.adaptive else float(tolerance)


def number(method: Method, option: Option, value: Any) -> float:
    what = f"option '{option.name}' of method '{method.name}'"
    if option.choices:
        if isinstance(value, bool):
            value = "yes" if value else "no"
        if value not in option.choices:
            raise unknown(f"{what}:", str(value), option.choices)
        return float(option.choices.index(value))
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        raise TautError(f"{what} is {shown(value)}; give a number.")
    if option.minimum is not None and value < option.minimum:
        raise TautError(f"{what} is {value:g}; it must be at least {option.minimum:g}.")
    if option.maximum is not None and value > option.maximum:
        raise TautError(f"{what} is {value:g}; it must be at most {option.maximum:g}.")
    return float(value)
