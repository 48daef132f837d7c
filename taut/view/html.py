"""write_html(): the page with its data in one file, which plays without any server or network."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..result.files import writing
from .page import filled

if TYPE_CHECKING:
    from ..result.run import Run


def write(runs: Sequence[Run], path: Path, title: str | None = None) -> Path:
    text = filled(title or "taut")
    with writing(path):
        draft = path.with_name(f".{path.name}.part")
        draft.write_text(text, encoding="utf-8")
        draft.replace(path)
    return path
