"""The box of steps that hold sheets: see methods/box.py. Its tables are problem.Held."""

from __future__ import annotations

from ..methods.box import NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, BoxKind, contents

SHEETS = BoxKind("sheets")
far, open_box, pack = SHEETS.far, SHEETS.open_box, SHEETS.pack

__all__ = ["NOTHING", "NUMBER", "TABLE", "TRUTH", "VECTOR", "WHOLE", "contents", "far", "open_box", "pack"]
