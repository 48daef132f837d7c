"""The folder of a comparison: written whole, and replaced only if it is one."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ...drafts import writing
from ...errors import TautError
from ...result.files import plain, put_in_place

MARK = "comparison.json"  # with the setup; tells our folders from others


def check_folder(path: Path, overwrite: bool) -> None:
    """Refuse before computing what could not be written after."""
    if os.path.lexists(path):
        if not overwrite:
            raise TautError(f"'{path}' exists; choose another folder, or ask for it to be overwritten.")
        if path.is_symlink() or not (path / MARK).is_file():
            # Overwriting deletes a whole folder, so it must be one of ours.
            raise TautError(f"'{path}' is not a comparison, so it is not overwritten; choose another name.")
    folder = path.absolute().parent
    if not folder.is_dir():
        raise TautError(f"'{path}' can not be written: there is no folder '{folder}'; make it first.")
    if not os.access(folder, os.W_OK):
        raise TautError(f"'{path}' can not be written: '{folder}' is read-only; choose another folder.")


def write_folder(path: Path, overwrite: bool, setup: dict[str, Any], fill: Callable[[Path], None]) -> None:
    """Let `fill` write into a draft, and put that in place."""
    check_folder(path, overwrite)
    draft = path.with_name(f".{path.name}.{os.getpid()}.part")
    with writing(path):
        try:
            draft.mkdir()
            fill(draft)
            (draft / MARK).write_text(json.dumps(setup, indent=1, ensure_ascii=False, default=plain) + "\n")
            put_in_place(draft, path)
        finally:
            shutil.rmtree(draft, ignore_errors=True)
