"""Static equilibrium of a mechanism: where applied forces and constraint forces balance.

    f(q) + Jᵀ λ = 0,   Φ(q) = 0,   v = 0                                                (1)

by pseudo-transient continuation: implicit steps of the overdamped motion M q̇ = f + Jᵀ λ on the moves that constraints
allow, whose step τ grows as the forces fall, so that the last ones are Newton's.

    (NᵀM N/τ - Nᵀ K N) y = Nᵀ f,   q ← q ⊞ N y,   K = ∂(f + Jᵀ λ)/∂q at fixed λ           (2)

The overdamped motion runs downhill, so that what is found is stable, unless the start stands exactly on an unstable
balance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arguments import checked
from ...errors import TautError, listed, warn, with_hints
from ...linalg.dense import on_one_thread
from ...model import Model, build
from ...model.frames import conjugate, multiply
from ...model.scales import scene_size
from ...result.records import Records
from ...result.run import Run
from ...scene.checks import positive
from ...scene.joints import coordinates_of
from ...scene.scene import Scene
from ...simulation.plan import only_joints_are_limited
from .perturbation import Array, Perturbed, null_space

if TYPE_CHECKING:
    import xarray

STEPS = 500
BEYOND = 1e-9  # rad or m: rounding
LONGEST = 0.25  # move in one step, of the size of the scene; turn [rad]


@with_hints("an equilibrium")
@dataclass(frozen=True)
class Equilibrium:
    """Where a scene rests.

    data        positions, orientations, coordinates and multipliers with names and units
    run         the same as a run of one record: `found["pin"].angle`, `found["pin"].reaction`, `found.run.draw(path)`
    imbalance   largest force or torque that is left, of the largest applied [1]
    steps       how many were taken
    """

    scene: Scene
    model: Model
    x: Array
    quat: Array
    lam: Array
    imbalance: float
    steps: int

    def configuration(self) -> tuple[Model, Array, Array, Array, float]:
        """Model, x, quat, v and t, for `linearise`."""
        return self.model, self.x, self.quat, np.zeros_like(self.x), 0.0

    @property
    def data(self) -> xarray.Dataset:
        import xarray

        placed = [b for b in self.model.body_info if b.kind != "coordinate"]
        rigid = [b for b in placed if b.kind == "rigid"]
        scalars = [b for b in self.model.body_info if b.kind == "coordinate"]
        turned = [multiply(self.quat[b.quat], conjugate(np.asarray(b.to_principal, float))) for b in rigid]
        return xarray.Dataset(
            {
                "position": (("body", "xyz"), self.x[[b.slot for b in placed]], {"units": "m"}),
                "orientation": (("rigid", "wxyz"), np.array(turned).reshape(-1, 4), {"units": "1"}),
                "coordinate_value": (("coordinate",), self.x[[b.slot for b in scalars], 0]),
                "multiplier": (("constraint",), self.lam, {"long_name": "λ, force = +Jᵀ λ"}),
            },
            {"body": [b.name for b in placed], "xyz": ["x", "y", "z"], "rigid": [b.name for b in rigid],
             "wxyz": ["w", "x", "y", "z"], "coordinate": [b.name for b in scalars],
             "constraint": self.model.row_names},
            {"scene": self.model.name, "imbalance": self.imbalance, "steps": self.steps},
        )  # fmt: skip

    @cached_property
    def run(self) -> Run:
        """One record, at rest: what joints count and carry, and forces."""
        kept = {name: np.zeros((1, *shape)) for name, shape in Records.shapes(self.model).items()}
        slots = self.model.bodies.slots
        kept["x"][0], kept["quat"][0] = self.x[:slots], self.quat
        kept["lam"][0, : len(self.lam)] = self.lam  # beside it stand those of limits, which are zero
        info = {"method": "equilibrium", "dt": 1.0, "record_every": 1, "steps": 0, "steps_done": 0, "options": {}}
        run = Run(self.scene, self.model, Records(**kept), "finished", "", info)
        weight = -float((self.model.bodies.constant[:slots] * self.x[:slots]).sum())
        run.records.energy[:, 1] = weight + sum(float(run[name].energy[0]) for name in self.scene.forces)
        return run

    def __getitem__(self, name: str) -> Any:
        """What `run` tells of a joint, body or force."""
        return self.run[name]

    def __repr__(self) -> str:
        return (f"Equilibrium of '{self.model.name}' after {self.steps} steps; {self.imbalance:.2g} of the largest "
                "force is left")


@checked
@on_one_thread
def equilibrium(scene: Scene, tolerance: float = 1e-10) -> Equilibrium:
    """Where the scene rests, nearest downhill from its start; drivers and forces are those of t = 0.

    Controllers count as continuous functions f(t, q, rate), whatever their rate.

    tolerance  largest force or torque that may be left, of the largest applied one
    """
    tolerance = positive(tolerance, "equilibrium: tolerance")
    model = build(scene)
    if model.is_unilateral and not only_joints_are_limited(scene):
        raise TautError(f"scene '{model.name}' has inequalities, whose equilibrium this analysis does not find; "
                        "simulate it with damping until it rests.")
    if model.dry_names:
        warn(f"the dry friction of the scene ({listed(model.dry_names)}) may hold it at rest elsewhere, too: this is "
             "where it rests without friction")
    near = Perturbed(model, model.x, model.quat, np.zeros_like(model.v), 0.0, scene)
    near.x, near.quat = near.projected(near.x, near.quat)
    size = scene_size(model, near.x)
    longest = np.array([1.0 if s in near.spins else size for s, _ in near.unknowns])
    scale, tau, before, left = 0.0, 1e-2, np.inf, np.inf
    for step in range(STEPS):
        x, quat, _ = near.evaluate()
        work = near.system.work
        f = near.world(work.f, quat)
        J = near.jacobian(quat)
        lam = near.lam.copy()
        N = null_space(J)
        scale = max(scale, float(np.abs(f).max(initial=0.0)), float(np.abs(J.T @ lam).max(initial=0.0)))
        r = N.T @ f
        left = float(np.abs(r).max(initial=0.0)) / max(scale, 1e-300)
        if left <= tolerance:
            return _checked_limits(Equilibrium(scene, model, x, near.quat, lam, left, step))
        # Downhill the forces may rise for a while (away from an unstable balance), which is no reason to stand still.
        now = float(np.linalg.norm(r))
        tau *= 1.0 if not np.isfinite(before) else max(2.0, min(10.0, before / now)) if now < before else before / now
        before = now

        def balance(xi: Array, lam: Any = lam) -> Array:
            _, turned, _ = near.evaluate(xi)
            return near.world(near.system.work.f, turned) + near.jacobian(turned).T @ lam

        K = N.T @ near.by_move(balance, N)
        y = np.linalg.solve(N.T @ near.masses(quat) @ N / tau - 0.5 * (K + K.T), r)  # (2)
        move = N @ y
        move *= min(1.0, LONGEST / max(float(np.abs(move / longest).max()), 1e-300))
        x, turned, _ = near.moved(move, np.zeros(near.n))
        near.x, near.quat = near.projected(x, turned)
    raise TautError(f"scene '{model.name}' did not come to rest: {left:.3g} of the largest force was left after "
                    f"{STEPS} steps. A scene that can fall for ever has no equilibrium; else start nearer to it.")


def _checked_limits(found: Equilibrium) -> Equilibrium:
    """Refuse a place of rest that limits of joints, which the search has left out, do not allow."""
    for name, spec in found.scene.constraints.items():
        if spec.sense != "==":
            known = coordinates_of(found.scene, spec.arguments["joint"])
            coordinate = spec.arguments["coordinate"] or known[0].name
            value = float(getattr(found[spec.arguments["joint"]], coordinate)[0])
            lower, upper = (spec.arguments[which] for which in ("lower", "upper"))
            if (lower is not None and value < lower - BEYOND) or (upper is not None and value > upper + BEYOND):
                raise TautError(f"scene '{found.model.name}' has inequalities: without them it rests where the "
                                f"{coordinate} of '{spec.arguments['joint']}' is {value:.4g}, beyond '{name}'; where "
                                "it rests against them is not found here: simulate it with damping until it rests.")
    return found
