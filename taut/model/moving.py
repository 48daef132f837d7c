"""The blocks of J that act on movable slots: lists by rows, for J v, and by slots, for Jᵀ λ (jacobian.py)."""

from __future__ import annotations

import numpy as np

from .arrays import Moving, Places, Rows


def moving_blocks(rows: Rows, places: Places) -> Moving:
    """Blocks of directions on the origin, which never moves, are left out. Empty where no body turns."""
    count, index = len(rows.ptr) - 1, rows.slot.dtype
    if not len(rows.spin_block):
        none, start = np.zeros(0, index), np.zeros(1, np.uint64)
        return Moving(np.zeros(count + 1, np.uint64), none, none, start, none, none)
    row_of = np.concatenate([np.repeat(np.arange(count), np.diff(rows.ptr)), rows.spin_row]).astype(np.int64)
    still = np.unique(places.base[places.base != places.slot])
    kept = np.flatnonzero(~np.isin(rows.slot, still))
    by_row = kept[np.argsort(row_of[kept], kind="stable")]
    by_slot = by_row[np.argsort(rows.slot[by_row], kind="stable")]
    slot, first = np.unique(rows.slot[by_slot], return_index=True)
    return Moving(
        ptr=np.searchsorted(row_of[by_row], np.arange(count + 1)).astype(np.uint64), block=by_row.astype(index),
        slot=slot.astype(index), slot_ptr=np.append(first, len(by_slot)).astype(np.uint64),
        slot_block=by_slot.astype(index), slot_row=row_of[by_slot].astype(index),
    )  # fmt: skip
