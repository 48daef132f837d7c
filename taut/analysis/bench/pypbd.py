"""The springs and hard edges of a cloth in pyPBD, the position-based dynamics library, as its XPBD constraints.

Same nodes, masses, pins, lengths and stiffnesses; it knows no damping of springs. One iteration in each substep.
"""

from __future__ import annotations

import time as clock
from importlib.util import find_spec

import numpy as np

from ...cloth.baselines.common import springs_of
from ...model import build
from ...result.dataset import elongations
from ...result.labels import Labels
from ...scene.scene import Scene
from .frames import FRAME

PACKAGE = "pypbd"
RIGID = 1e30  # stiffness of a hard edge there [N/m]


class PositionBased:
    """A scene of cloth alone."""

    def __init__(self, scene: Scene, substeps: int) -> None:
        import pypbd

        model = build(scene)
        labels = Labels.of(model)
        self.edges, self.lengths = labels.edges, labels.lengths
        simulation = pypbd.Simulation.getCurrent()  # the library has one at a time
        simulation.initDefault()
        self._model = simulation.getModel()
        self._particles = self._model.getParticles()
        w = model.bodies.inverse_mass[:, 0]
        for i, (place, inverse) in enumerate(zip(model.x, w)):
            self._particles.addVertex(place)
            self._particles.setMass(i, 1.0 / inverse if inverse > 0 else 0.0)
        springs = springs_of(model, np.inf, limits=False)
        for i, j, k in zip(springs.i.tolist(), springs.j.tolist(), springs.k.tolist()):
            self._model.addDistanceConstraint_XPBD(i, j, min(k, RIGID))
        self._step = simulation.getTimeStep()
        self._step.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, substeps)
        self._step.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, 1)
        pypbd.TimeManager.getCurrent().setTimeStepSize(FRAME)

    def frame(self) -> float:
        began = clock.process_time()
        self._step.step(self._model)
        return clock.process_time() - began

    def places(self) -> np.ndarray:
        """Of all nodes [m], (n, 3)."""
        return np.array(self._particles.getVertices(), dtype=float).reshape(-1, 3)

    def elongation(self) -> tuple[float, float]:
        largest, mean = elongations(self.places()[None], self.edges, self.lengths)
        return float(largest[0]), float(mean[0])


def present() -> bool:
    return find_spec(PACKAGE) is not None
