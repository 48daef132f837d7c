"""Files that appear whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import TautError


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Say what can not be written where the system refuses to."""
    try:
        yield
    except OSError as problem:
        raise TautError(
            f"'{path}' can not be written: {problem.strerror or problem}. Give another path, or make room; "
            "what was stored before is kept."
        ) from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A draft to write to inside; at the end it takes the place of `path`, or is taken away if writing failed."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(path):
        try:
            yield draft
            os.replace(draft, path)
        finally:
            draft.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all."""
    with replacing(path) as draft:
        draft.write_text(text, encoding="utf-8")
