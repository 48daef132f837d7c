"""What a user's mistake looks like: one message that says what, where, the value and the remedy."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LISTED = 30


class TautError(Exception):
    """A mistake in what the user asked for. The command line prints it and exits with 2."""


class TautWarning(UserWarning):
    """Something the user should know that did not stop the work."""


def unknown(what: str, name: str, known: Iterable[str]) -> TautError:
    """The error for a name that is not in a list, with the nearest names that are."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    listed = ", ".join(known[:_LISTED]) or "none"
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return TautError(f"unknown {what} '{name}'.{hint} Known: {listed}{more}.")
