"""What a user's mistake looks like: one message that says what, where, the value and the remedy; and warnings."""

from __future__ import annotations

import difflib
import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_LISTED = 30


class TautError(Exception):
    """A mistake in what the user asked for. The command line prints it and exits with 2."""


class TautWarning(UserWarning):
    """Something the user should know that did not stop the work."""


_notes: ContextVar[list[str] | None] = ContextVar("taut_notes", default=None)


@contextmanager
def noting() -> Iterator[None]:
    """Collect all that is told inside: `run.notes`."""
    token = _notes.set([])
    try:
        yield
    finally:
        _notes.reset(token)


def told() -> list[str]:
    """All that was told so far inside `noting`."""
    return list(_notes.get() or ())


def note(text: str) -> None:
    """Keep a remark in the notes of the run under way, without a warning."""
    notes = _notes.get()
    if notes is not None and text not in notes:
        notes.append(text)


def tell(text: str) -> None:
    """Warn the user at the line of theirs that called taut, and keep the text (without a full stop) as a note."""
    note(text)
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "taut":
        level, frame = level + 1, frame.f_back
    warnings.warn(text + ".", TautWarning, stacklevel=level)


def unknown(what: str, name: str, known: Iterable[str]) -> TautError:
    """The error for a name that is not in a list, with the nearest names that are."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    listed = ", ".join(known[:_LISTED]) or "none"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return TautError(f"unknown {what} '{name}'.{hint} Known: {listed}{more}.")
