"""The JSON schema of scene files, for editors and for `taut schema`."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """The JSON schema of scene files."""
    from . import format  # brings pydantic, which `import taut` should not wait for

    return format.schema()
