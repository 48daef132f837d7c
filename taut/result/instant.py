"""One record of a run, as a place to look from: run.at(1.5)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..errors import with_hints
from ..model import Model

if TYPE_CHECKING:
    from ..scene.scene import Scene
    from .run import Run


@with_hints("run.at(t)")
class Instant:
    """One record of a run."""

    def __init__(self, run: Run, number: int) -> None:
        self.run, self.number = run, number
        self.time = float(run.records.time[number])

    @property
    def scene(self) -> Scene | None:
        return self.run.scene

    def configuration(self) -> tuple[Model, np.ndarray, np.ndarray, np.ndarray, float]:
        """Model, x, quat, v of all points, and the time."""
        model, records = self.run.model, self.run.records
        x, v = model.x.copy(), np.zeros_like(model.x)
        x[: records.x.shape[1]], v[: records.v.shape[1]] = records.x[self.number], records.v[self.number]
        return model, x, np.array(records.quat[self.number]), v, self.time

    def __repr__(self) -> str:
        return f"Instant of '{self.run.labels.scene}' at t = {self.time:g} s"
