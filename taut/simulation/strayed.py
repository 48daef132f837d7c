"""Rows that were lost in rounding, since a body's inertia is tiny (model/tiny_inertia.py): where a run went astray."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model import Model
from ..model.tiny_inertia import tiny_inertias
from ..result.records import Records

STRAYED = 0.01  # of a constraint's scale: an error that tells that its rows were not held


def strayed(model: Model, scale: np.ndarray, chunks: Sequence[Records]) -> tuple[int, str, str] | None:
    """Of a run with dependent rows, the first record at which those of such a body were not held: text and remedy."""
    tiny = tiny_inertias(model)
    held = [info for info in model.constraint_info if info.name in tiny]
    rows = [(row, info.name) for info in held for row, unit, level in zip(info.rows, info.units, info.levels)
            if unit == "m" and level == "position"]  # fmt: skip
    if not rows:
        return None
    which = np.array([row for row, _ in rows])
    bound = STRAYED * scale[which] + np.abs(chunks[0].phi[0, which])
    first = 0
    for chunk in chunks:
        size = np.abs(chunk.phi[:, which])
        wrong = (size > bound).any(axis=1)
        if wrong.any():
            k = int(np.argmax(wrong))
            worst = int(np.argmax(size[k] / bound))
            name = rows[worst][1]
            text = (f"constraint '{name}' is off by {size[k, worst]:.3g} m: its rows are lost in rounding, since "
                    f"{tiny[name].words()}")
            return first + k, text, tiny[name].remedy()
        first += len(chunk)
    return None
