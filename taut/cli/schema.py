"""taut schema: the JSON schema of scene files, for editors that complete and check them."""

from __future__ import annotations

import json
from pathlib import Path

from ..drafts import write_text
from ..errors import TautError
from .parameters import Flag


def schema(*, out: Path | None = None, overwrite: Flag = False) -> None:
    """Print the JSON schema of scene files.

    Parameters
    ----------
    out
        A file to write it to instead.
    overwrite
        Replace that file.
    """
    from ..scene.schema import schema as scene_schema

    text = json.dumps(scene_schema(), indent=2, ensure_ascii=False)
    if out is None:
        print(text)
        return
    if out.exists() and not overwrite:
        raise TautError(f"'{out}' exists; choose another name or pass --overwrite.")
    write_text(out, text + "\n")
