"""A page that plays offline: the recording of taut/view."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import TautError
from .base import Format, Options

if TYPE_CHECKING:
    from ..result import Run


def write(run: Run, path: Path, options: Options) -> None:
    if find_spec("taut.view") is None:
        raise TautError("html is written by the page of `taut view`, which this installation does not have; "
                        "choose mp4 or gif, or install taut with its page.")
    from ..view import write_html

    write_html([run], path)


FORMAT = Format("html", (".html",), "A page that plays offline, with plots.", write)
