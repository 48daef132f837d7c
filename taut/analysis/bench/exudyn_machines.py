"""The mechanisms of machines.py in Exudyn: bodies and joints in maximal coordinates, generalized-α.

Redundant joints make its Jacobian singular, which its dense solver is told to ignore.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model import Model
from .machines import GROUND, Tree, bodies_of, inertia_at_start
from .peers import Engine


def prepare(tree: Tree, model: Model, watched: Sequence[str], dt: float) -> Engine:
    import exudyn

    exudyn.config.printToConsole, exudyn.config.suppressWarnings = False, True
    container = exudyn.SystemContainer()
    system = container.AddSystem()
    with warnings.catch_warnings():  # Exudyn renames its words from time to time
        warnings.simplefilter("ignore")
        made = _bodies(system, tree, model)
        _joints(system, tree, made)
        _forces(system, tree, model, made)
        system.Assemble()
    failed: list[bool] = []

    def advance(steps: int) -> None:
        failed.clear()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                system.SolveDynamic(_settings(exudyn, steps, dt), exudyn.DynamicSolverType.GeneralizedAlpha)
            except Exception:  # of its own kinds: Newton's method did not converge
                failed.append(True)

    def places() -> np.ndarray:
        if failed:
            return np.full((len(watched), 3), np.nan)
        position = exudyn.OutputVariableType.Position
        return np.array([system.GetObjectOutputBody(made[name], position) for name in watched])

    def restart(owner: Any = container) -> None:
        """Each solve begins at the initial values. The container owns the system: it lives as long as the engine."""

    return Engine(restart, advance, places)


def _settings(exudyn: Any, steps: int, dt: float) -> Any:
    chosen = exudyn.SimulationSettings()
    chosen.timeIntegration.numberOfSteps = steps
    chosen.timeIntegration.endTime = steps * dt
    chosen.timeIntegration.verboseMode = 0
    chosen.solutionSettings.writeSolutionToFile = False
    chosen.linearSolverType = exudyn.LinearSolverType.EigenDense
    chosen.linearSolverSettings.ignoreSingularJacobian = True
    return chosen


def _bodies(system: Any, tree: Tree, model: Model) -> dict[str, Any]:
    from exudyn.rigidBodyUtilities import RigidBodyInertia

    made, bodies = {GROUND: system.CreateGround(referencePosition=[0, 0, 0])}, bodies_of(model)
    for name, *_ in tree.joints:
        body = bodies[name]
        made[name] = system.CreateRigidBody(
            referencePosition=body.place, initialVelocity=body.velocity, initialAngularVelocity=body.spin,
            inertia=RigidBodyInertia(mass=body.mass, inertiaTensor=inertia_at_start(body)),
            gravity=[0, tree.gravity, 0],
        )  # fmt: skip
    return made


def _joints(system: Any, tree: Tree, made: dict[str, Any]) -> None:
    for name, parent, kind, pivot, axis in tree.joints:
        pair = {"bodyNumbers": [made[parent], made[name]], "position": list(pivot), "useGlobalFrame": True}
        if kind == "HINGE":
            system.CreateRevoluteJoint(**pair, axis=list(axis))
        elif kind == "SLIDE":
            system.CreatePrismaticJoint(**pair, axis=list(axis))
        elif kind == "BALL":
            system.CreateSphericalJoint(**pair)
        else:
            system.CreateGenericJoint(**pair)
    for one, two, point in tree.loops:
        system.CreateSphericalJoint(bodyNumbers=[made[one], made[two]], position=list(point), useGlobalFrame=True)


def _forces(system: Any, tree: Tree, model: Model, made: dict[str, Any]) -> None:
    at = {name: body.place for name, body in bodies_of(model).items()} | {GROUND: np.zeros(3)}
    for one, first, two, last, stiffness, damping, length in tree.springs:
        system.CreateSpringDamper(
            bodyNumbers=[made[one], made[two]], localPosition0=list(np.array(first) - at[one]),
            localPosition1=list(np.array(last) - at[two]), referenceLength=length, stiffness=stiffness, damping=damping,
        )  # fmt: skip
    for number, torque in tree.push.items():
        name, _, _, _, axis = tree.joints[number]
        system.CreateTorque(bodyNumber=made[name], loadVector=list(torque * np.array(axis)))
