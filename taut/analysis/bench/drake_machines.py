"""The mechanisms of machines.py in Drake: a discrete plant (symplectic Euler) of hinges and sliders.

The ball constraints that would close its loops end the process (Drake 1.51), and the angles of its ball joint lock on
the way of the top: only trees of hinges and sliders are treated.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model import Model
from .machines import GROUND, Tree, bodies_of, inertia_at_start
from .peers import Engine


def prepare(tree: Tree, model: Model, watched: Sequence[str], dt: float) -> Engine:
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.systems.analysis import Simulator

    plant = MultibodyPlant(dt)
    plant.mutable_gravity_field().set_gravity_vector([0, tree.gravity, 0])
    made, joints = _build(plant, tree, model)
    plant.Finalize()
    simulator = Simulator(plant)
    context = simulator.get_mutable_context()
    for number, rate in tree.rates.items():
        joints[number].set_angular_rate(context, rate)
    start = context.Clone()
    done = {"steps": 0, "failed": 0}

    def restart() -> None:
        context.SetTimeStateAndParametersFrom(start)
        simulator.Initialize()
        done.update(steps=0, failed=0)

    def advance(steps: int) -> None:
        done["steps"] += steps
        try:
            simulator.AdvanceTo(done["steps"] * dt)
        except RuntimeError:  # what is not finite is refused
            done["failed"] = 1

    def places() -> np.ndarray:
        if done["failed"]:
            return np.full((len(watched), 3), np.nan)
        return np.array([plant.EvalBodyPoseInWorld(context, made[name]).translation() for name in watched])

    return Engine(restart, advance, places)


def _build(plant: Any, tree: Tree, model: Model) -> tuple[dict[str, Any], list[Any]]:
    """Bodies by name, and joints that move."""
    import pydrake.multibody.tree as drake
    from pydrake.math import RigidTransform

    bodies = bodies_of(model)
    at = {name: body.place for name, body in bodies.items()} | {GROUND: np.zeros(3)}
    made, joints = {GROUND: plant.world_body()}, []
    for name, parent, kind, pivot, axis in tree.joints:
        moments = inertia_at_start(bodies[name]) / bodies[name].mass
        unit = drake.UnitInertia(*np.diag(moments), moments[0, 1], moments[0, 2], moments[1, 2])
        made[name] = plant.AddRigidBody(name, drake.SpatialInertia(bodies[name].mass, [0, 0, 0], unit))
        pair = [(body, made[body].body_frame()) for body in (parent, name)]
        if not kind:
            plant.WeldFrames(pair[0][1], pair[1][1], RigidTransform(at[name] - at[parent]))
            continue
        frames = [plant.AddFrame(drake.FixedOffsetFrame(f"{name} on {body}", frame,
                                                        RigidTransform(np.array(pivot, float) - at[body])))
                  for body, frame in pair]  # fmt: skip
        shape = drake.RevoluteJoint if kind == "HINGE" else drake.PrismaticJoint
        joints.append(plant.AddJoint(shape(f"{name}_joint", *frames, np.array(axis, float))))
    for one, first, two, last, stiffness, damping, length in tree.springs:
        ends = made[one], np.array(first) - at[one], made[two], np.array(last) - at[two]
        plant.AddForceElement(drake.LinearSpringDamper(*ends, length, stiffness, damping))
    return made, joints
