"""The Jacobian as a full matrix, for what is done once at the start."""

from __future__ import annotations

import numpy as np

from ...model.arrays import Array
from ...model.model import ConstraintInfo, Model


def on_positions(model: Model) -> list[ConstraintInfo]:
    """Constraints that the coordinates solve; conditions on velocities are enforced beside them (enforced.py)."""
    return [info for info in model.constraint_info if not model.rows.at_velocity[list(info.rows)].all()]


def dense_jacobian(model: Model, blocks: Array) -> Array:
    """J, shape (rows, 3 · points), from the blocks that `evaluate_constraints` last wrote."""
    rows = model.rows
    row_of = np.concatenate([np.repeat(np.arange(model.row_count), np.diff(rows.ptr)), rows.spin_row])
    J = np.zeros((model.row_count, len(model.x), 3))
    np.add.at(J, (row_of.astype(np.int64), rows.slot.astype(np.int64)), blocks)
    return J.reshape(model.row_count, 3 * len(model.x))
