"""What users write in calls: the declaration of a keyword argument, and the check of calls of public names.

    @checked
    def simulate(scene: Scene, method: str | None = None, ...)

A function's own annotations say what is asked: flags, whole numbers, text, paths and objects of taut are judged here.
Numbers, places and formulas (`float`, `Any`) are not: what reads them (scene/checks.py) knows more about them.
An argument that is missing or unknown is a TautError too, not a TypeError.
"""

from __future__ import annotations

import functools
import inspect
import operator
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

from .errors import TautError, shown, unknown

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Argument:
    """One keyword argument of a kind of constraint, force or obstacle, as users write it in Python or in a scene file.

    type: "number" or "vector" (three numbers): each may be a function of time (a Signal)
          "constant" or "constant_vector": numbers that may not change with time
          "quaternion": (w, x, y, z) or (axis, angle)
          "joint": a joint of the scene, or its name
          "numbers": a list of numbers; "text"; "texts": a list of text; "function": a Python function
    """

    name: str
    type: str
    doc: str
    default: Any = None
    required: bool = False
    later: bool = False  # younger than stored runs: where it is not given, digests of scenes leave it out


class Example(NamedTuple):
    """One use of a kind: what it is given. Tests run from it."""

    points: tuple[Any, ...]
    arguments: dict[str, Any]
    kind: str = ""  # another kind, where an example needs something of it


def example(*points: Any, **arguments: Any) -> Example:
    return Example(points, arguments)


def made(kind: str, *points: Any, **arguments: Any) -> Example:
    """Something of another kind that an example needs, such as the joint that is driven."""
    return Example(points, arguments, kind)


def _flag(value: Any, what: str) -> None:
    if not isinstance(value, bool):
        raise TautError(f"{what} is {shown(value)}; give True or False.")


def _whole(value: Any, what: str) -> None:
    try:
        found = operator.index(value) if not isinstance(value, bool) else None
    except TypeError:
        found = None
    if found is None or abs(found) >= 2**63:
        raise TautError(f"{what} is {shown(value)}; give a whole number{'' if found is None else ' below 2**63'}.")


def _text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise TautError(f"{what} is {shown(value)}; give text.")


def path(value: Any, what: str) -> None:
    """Text or a Path that can name a file."""
    if not isinstance(value, str | os.PathLike) or not isinstance(os.fspath(value), str):
        raise TautError(f"{what} is {shown(value)}; give a path.")
    text = os.fspath(value)
    try:
        parts = os.fsencode(text).split(os.fsencode(os.sep))
        usable = bool(text) and "\0" not in text and len(text) < 4000 and max(map(len, parts)) < 256
    except UnicodeEncodeError:
        usable = False
    if not usable:
        raise TautError(f"{what} is {shown(value)}, which can not be the name of a file; give a path.")


def _mapping(value: Any, what: str) -> None:
    if not isinstance(value, Mapping):
        raise TautError(f"{what} is {shown(value)}; give a dictionary.")


def _scene(value: Any, what: str) -> None:
    if not hasattr(type(value), "_is_scene"):
        raise TautError(f"{what} is {shown(value)}; give a taut.Scene (taut.load and taut.gallery return one).")


# By annotation; " | None" at its end lets None pass.
_JUDGES: dict[str, Callable[[Any, str], None]] = {
    "bool": _flag,
    "int": _whole,
    "str": _text,
    "str | Path": path,
    "Scene": _scene,
    "Mapping[str, Any]": _mapping,
}


def _judge(annotation: Any) -> Callable[[Any, str], None] | None:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    judge = _JUDGES.get(text.removesuffix(" | None"))
    if judge is None or not text.endswith(" | None"):
        return judge
    return lambda value, what: None if value is None else judge(value, what)


def checked(function: _F, prefix: str | None = None) -> _F:
    """The function, behind a check of its arguments; messages call them "function: argument", or by the prefix."""
    signature = inspect.signature(function)
    listed = [p for p in signature.parameters.values() if p.kind is not inspect.Parameter.VAR_KEYWORD]
    positional = [p.name for p in listed if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    judges = {p.name: judge for p in listed if (judge := _judge(p.annotation)) is not None}
    label = function.__name__ if function.__name__ != "__init__" else function.__qualname__.split(".")[-2]
    prefix = f"{label}: " if prefix is None else prefix

    @functools.wraps(function)
    def call(*arguments: Any, **named: Any) -> Any:
        for name, value in (*zip(positional, arguments), *named.items()):
            if name in judges:
                judges[name](value, f"{prefix}{name}")
        try:
            return function(*arguments, **named)
        except TypeError:
            _check_signature(signature, label, arguments, named)
            raise

    return call  # type: ignore[return-value]


def _check_signature(signature: inspect.Signature, label: str, arguments: tuple, named: dict[str, Any]) -> None:
    """TautError where the call does not fit the function."""
    known = [p for name, p in signature.parameters.items() if name != "self"]
    open_ended = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known)
    for name in named:
        if not open_ended and name not in signature.parameters:
            raise unknown(f"argument of {label}", name, [p.name for p in known]) from None
    try:
        signature.bind(*arguments, **named)
    except TypeError as mistake:
        listed = ", ".join(p.name for p in known)
        raise TautError(f"{label}: {mistake}; its arguments are {listed}.") from None


def checked_methods(cls: type) -> type:
    """A class whose own public methods are `checked`, its constructor as well."""
    for name, function in list(vars(cls).items()):
        if inspect.isfunction(function) and (name == "__init__" or not name.startswith("_")):
            setattr(cls, name, checked(function))
    return cls
