"""The box of steps with inequalities: see methods/box.py."""

from __future__ import annotations

from ..methods.box import BOXES, NOTHING, NUMBER, TABLE, TRUTH, VECTOR, WHOLE, Boxed, BoxKind, contents

CONTACTS = BoxKind("contacts")
far, open_box, pack, also = CONTACTS.far, CONTACTS.open_box, CONTACTS.pack, CONTACTS.also

__all__ = [
    "BOXES", "NOTHING", "NUMBER", "TABLE", "TRUTH", "VECTOR", "WHOLE", "Boxed", "also", "contents", "far", "open_box",
    "pack",
]  # fmt: skip
