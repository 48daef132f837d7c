"""What a user's mistake looks like: one message that says what, where, the value and the remedy; and warnings."""

from __future__ import annotations

import difflib
import reprlib
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_LISTED = 30
_FEW = 14  # names that are listed beside the one that is meant
_LONGEST = 400  # letters of a value that are shown
_T = TypeVar("_T")


class TautError(Exception):
    """A mistake in what the user asked for. The command line prints it and exits with 2.

    run  where a controller failed in the middle of a run: the part of the run before
    """

    run: Any = None


class TautWarning(UserWarning):
    """Something the user should know that did not stop the work."""


def present(value: _T | None, what: str) -> _T:
    """The value, where taut itself has seen to it that there is one; a lack of it is a defect of taut, and says so."""
    if value is None:
        raise RuntimeError(f"{what} is missing here, which is a defect of taut; please report it")
    return value


_notes: ContextVar[list[str] | None] = ContextVar("taut_notes", default=None)


@contextmanager
def collecting_notes() -> Iterator[None]:
    """Collect all notes and warnings inside: `run.notes`."""
    token = _notes.set([])
    try:
        yield
    finally:
        _notes.reset(token)


def notes_so_far() -> list[str]:
    """The notes so far inside `collecting_notes`."""
    return list(_notes.get() or ())


def note(text: str) -> None:
    """Keep a remark in the notes of the run under way, without a warning."""
    notes = _notes.get()
    if notes is not None and text not in notes:
        notes.append(text)


def warn(text: str) -> None:
    """Warn the user at the line of theirs that called taut, and keep the text (without a full stop) as a note."""
    note(text)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "taut":
        level, frame = level + 1, frame.f_back
    warnings.warn(text + ".", TautWarning, stacklevel=level)


class _Short(reprlib.Repr):
    """Writes any value in a few words: a message must stay readable, and be made in no time, whatever was given."""

    def __init__(self) -> None:
        super().__init__()
        self.maxlevel, self.maxother, self.maxstring, self.maxlong = 4, 200, 200, 60
        self.maxlist = self.maxtuple = self.maxset = self.maxfrozenset = self.maxdeque = 12
        self.maxdict = 8

    def repr_int(self, value: int, level: int) -> str:
        # Python refuses to write whole numbers of thousands of digits, and nobody would read them.
        bits = value.bit_length()
        return repr(value) if bits < 200 else f"{'-' if value < 0 else ''}(a whole number of {bits:,} bits)"

    def repr_ndarray(self, value: Any, level: int) -> str:
        return repr(value.tolist()) if value.size <= 12 else f"an array of shape {value.shape}"


_short = _Short()


def shown(value: Any) -> str:
    """A value as a message shows it; as `repr` does where that is short."""
    try:
        text = _short.repr(value)
    except Exception:  # a foreign object may raise anything
        text = f"a {type(value).__name__}"
    text = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 4]} ..."
    return text.encode("utf-8", "backslashreplace").decode()


def unknown(what: str, name: Any, known: Iterable[str]) -> TautError:
    """The error for a name that is not in a list, with the nearest names that are."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5) if isinstance(name, str) and len(name) < 100 else []
    hint = f" Did you mean '{near[0]}'?" if near else ""
    names = (", ".join(known[:_LISTED]) or "none") + and_more(len(known), _LISTED)
    said = f"'{shown(name)[1:-1]}'" if isinstance(name, str) else shown(name)
    return TautError(f"unknown {what} {said}.{hint} Known: {names}.")


def no_attribute(owner: str, name: str, known: Iterable[str]) -> AttributeError:
    """The error for an attribute that something does not have, with the nearest one that it has, or all."""
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6) if len(name) < 100 else []
    hints = [f"did you mean '{near[0]}'?"] if near else []
    if not near or len(known) <= _FEW:
        hints.append(f"it has {', '.join(known[:_LISTED])}{and_more(len(known), _LISTED)}")
    return AttributeError(f"{owner} has no '{shown(name)[1:-1]}'; {' '.join(hints).replace('? it', '? It')}")


def with_hints(owner: str) -> Callable[[type[_T]], type[_T]]:
    """A class whose objects tell which attribute is meant by one that they do not have."""

    def hint(cls: type[_T]) -> type[_T]:
        def missing(self: Any, name: str) -> Any:
            if name.startswith("_"):
                raise AttributeError(name)
            if hasattr(cls, name):  # a property that failed by itself: let its own error out
                return object.__getattribute__(self, name)
            own = object.__getattribute__(self, "__dict__")
            raise no_attribute(owner, name, sorted(word for word in {*own, *dir(cls)} if not word.startswith("_")))

        cls.__getattr__ = missing  # type: ignore[attr-defined]
        return cls

    return hint


def chosen(what: str, name: Any, known: Mapping[str, _T]) -> _T:
    """What goes by that name; anything that is no name of the list is refused."""
    if not isinstance(name, str) or name not in known:
        raise unknown(what, name, known)
    return known[name]


def listed(names: Sequence[str], most: int = 6) -> str:
    """The first names of a list, for a message."""
    return ", ".join(f"'{name}'" for name in names[:most]) + and_more(len(names), most)


def and_more(count: int, most: int) -> str:
    return f" and {count - most} more" if count > most else ""
