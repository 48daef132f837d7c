"""Which components of reactions redundant rows leave open, in the axes in which a run tells them.

    Jᵀ z = 0:   λ and λ + z move all bodies alike                                        (1)

So a component of a joint's reaction is resolved where it is zero for every z, and else depends on how much each
bearing gives, which rigid bodies do not say.
"""

from __future__ import annotations

import numpy as np

from ...constraints import KINDS
from ...model import Model
from ...result.records import Records
from ...result.run import Run
from ...scene.scene import Scene
from .perturbation import Array

NOTHING = 1e-6  # of the largest component of all


def unresolved(scene: Scene, model: Model, x: Array, quat: Array, null: Array) -> dict[str, str]:
    """Open components by name of the constraint, such as "force z; torque x, y". null: (rows, n) the z of (1).

    Drivers and gears have no place and hence no reaction; they are left out."""
    count = null.shape[1]
    arrays = {name: np.zeros((count, *shape)) for name, shape in Records.shapes(model).items()}
    arrays["time"][:] = np.arange(count)
    arrays["x"][:], arrays["quat"][:], arrays["lam"][:, : len(null)] = x[: model.bodies.slots], quat, null.T
    info = {"method": "doctor", "dt": 1.0, "record_every": 1, "steps": count, "steps_done": count, "options": {}}
    run = Run(scene, model, Records(**arrays), "finished", "", info)
    touched = [one.name for one in model.constraint_info
               if np.abs(null[list(one.rows)]).max(initial=0.0) > NOTHING and not KINDS[one.kind].joints]  # fmt: skip
    magnitudes = {name: np.linalg.norm(run[name].reaction.values, axis=0) for name in touched}
    largest = np.max([*magnitudes.values(), np.zeros((2, 3))], axis=(0, 2))  # of forces and of torques
    open_components = {}
    for name, sizes in magnitudes.items():
        open_ = [", ".join(axis for axis, size in zip("xyz", row) if size > NOTHING * most)
                 for row, most in zip(sizes, largest)]  # fmt: skip
        open_components[name] = "; ".join(f"{what} {axes}" for what, axes in zip(("force", "torque"), open_) if axes)
    return {name: text for name, text in open_components.items() if text}
