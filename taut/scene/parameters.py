"""Parameters of scenes: read from text, and matched with what a function takes."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Callable, Iterable
from typing import Any

from ..errors import TautError, shown

_WORDS = {"true": True, "false": False, "none": None}


def parse_parameters(texts: Iterable[str]) -> dict[str, Any]:
    """{"n": 100} from ["n=100"]: whole numbers, numbers, true, false and none are read as such."""
    parameters: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not equals or not name.isidentifier() or not value:
            raise TautError(f"parameter '{text}' is not of the form NAME=VALUE, such as n=100.")
        if name in parameters:
            raise TautError(f"parameter '{name}' is given twice; keep one of them.")
        parameters[name] = _value(value)
    return parameters


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return _WORDS.get(text.lower(), text)


def called_with(function: Callable[..., Any], parameters: dict[str, Any], what: str) -> Any:
    """The function's result; names that it does not take are refused with a list of those it does."""
    known = inspect.signature(function).parameters
    if not any(p.kind is inspect.Parameter.VAR_KEYWORD for p in known.values()):
        for name in parameters:
            if name not in known:
                raise TautError(f"{what} has no parameter '{name}'.{_hint(name, known)} {_listed(known)}")
    for name, parameter in known.items():
        needed = parameter.default is parameter.empty and parameter.kind in (
            inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
        )
        if needed and name not in parameters:
            raise TautError(f"{what} needs the parameter '{name}'; give it as {name}=VALUE. {_listed(known)}")
    for name, value in parameters.items():
        if name in known and known[name].annotation in ("bool", bool) and not isinstance(value, bool):
            raise TautError(f"{what}: {name} is {shown(value)}; give true or false.")
    return function(**parameters)


def _hint(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1, cutoff=0.5)
    return f" Did you mean '{near[0]}'?" if near else ""


def _listed(known: Any) -> str:
    shown = [
        name if parameter.default is parameter.empty else f"{name}={_short(parameter.default)}"
        for name, parameter in known.items()
    ]
    return f"Parameters: {', '.join(shown)}." if shown else "It has no parameters."


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else repr(value)
