"""Words for tests of robots: a file and the one beside it, and accelerations as other programs have them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import taut
from taut.analysis.mechanics.perturbation import Perturbed
from taut.scene.robots.pose import matrix


def beside(folder: Path, text: str, name: str = "arm.urdf", loops: str = "") -> Path:
    path = folder / name
    path.write_text(text)
    path.with_suffix(".loops.yaml").write_text(loops) if loops else None
    return path


def joint_accelerations(scene: taut.Scene, joints: dict[str, str]) -> np.ndarray:
    """Of hinges from link to link: the difference of angular accelerations, along the axis."""
    model = taut.build(scene)
    near = Perturbed(model, model.x, model.quat, model.v, 0.0)
    _, quat, _ = near.evaluate()
    bodies = {body.name: body for body in model.body_info}
    before, found = np.zeros(3), []
    for name, link in joints.items():
        body = bodies[link]
        w, u = quat[body.quat][0], quat[body.quat][1:]
        a = near.system.work.a[body.slot + 1]
        alpha = a + 2 * (w * np.cross(u, a) + np.cross(u, np.cross(u, a)))
        axis = np.array(scene.constraints[name].arguments["axis"])
        found.append(axis @ (alpha - before))
        before = alpha
    return np.array(found)


def accelerations(scene):
    """Angular and linear acceleration of every body's centre of mass, with z up."""
    model = taut.build(scene)
    near = Perturbed(model, model.x, model.quat, model.v, 0.0)
    near.evaluate()
    back, found = np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]], float), {}
    for body in model.body_info:
        frame = matrix(model.quat[body.quat])
        found[body.name] = [back @ frame @ near.system.work.a[body.slot + 1], back @ near.system.work.a[body.slot]]
    return found
