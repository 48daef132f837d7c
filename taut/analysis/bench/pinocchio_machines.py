"""The mechanisms of machines.py in Pinocchio: coordinates of a tree, loops by proximal constraint dynamics with
Baumgarte's terms. It has no time loop of its own: the four stages of Runge and Kutta run in a loop of Python.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...model import Model
from .machines import GROUND, Body, Tree, bodies_of, inertia_at_start
from .peers import Engine

BAUMGARTE = 0.2  # of 1/dt
FASTEST = 1e9  # rad/s or m/s: it has diverged


class Machine:
    """A mechanism and its state."""

    def __init__(self, tree: Tree, model: Model, dt: float) -> None:
        import pinocchio as pin

        self.pin, self.tree, self.dt = pin, tree, dt
        self.bodies, self.built = bodies_of(model), pin.Model()
        self.built.gravity.linear = np.array([0.0, tree.gravity, 0.0])
        self.joint, self.pivot = {GROUND: 0}, {0: np.zeros(3)}
        for name, parent, kind, pivot, axis in tree.joints:
            self._add(name, self.bodies[name], self.joint[parent], kind, np.array(pivot, float), np.array(axis, float))
        self.data = self.built.createData()
        self.loops, self.held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
        self._close()
        self.settings = pin.ProximalSettings(1e-10, 1e-10, 10)
        self.push = np.zeros(self.built.nv)
        for number, force in tree.push.items():
            self.push[number] = force
        self.restart()

    def _add(self, name: str, body: Body, parent: int, kind: str, pivot: np.ndarray, axis: np.ndarray) -> None:
        pin, number = self.pin, parent
        if kind:
            shapes = {"HINGE": pin.JointModelRevoluteUnaligned, "SLIDE": pin.JointModelPrismaticUnaligned}
            made = shapes[kind](axis) if kind in shapes else pin.JointModelSpherical()
            place = pin.SE3(np.eye(3), pivot - self.pivot[parent])
            number = self.built.addJoint(parent, made, place, name)
            self.pivot[number] = pivot
        self.joint[name] = number
        inertia = pin.Inertia(body.mass, body.place - self.pivot[number], inertia_at_start(body))
        self.built.appendBodyToJoint(number, inertia, pin.SE3.Identity())

    def _close(self) -> None:
        pin, gain = self.pin, BAUMGARTE / self.dt
        for one, two, point in self.tree.loops:
            ends: list[Any] = []
            for body in (one, two):
                arm = np.array(point, float) - self.pivot[self.joint[body]]
                ends += [self.joint[body], pin.SE3(np.eye(3), arm)]
            kind, frame = pin.ContactType.CONTACT_3D, pin.ReferenceFrame.LOCAL
            loop = pin.RigidConstraintModel(kind, self.built, *ends, frame)
            loop.setBaumgarteCorrectorParameters(pin.BaumgarteCorrectorParameters(gain**2, 2.0 * gain))
            self.loops.append(loop)
            self.held.append(loop.createData())

    def restart(self) -> None:
        self.q, self.v = self.pin.neutral(self.built), np.zeros(self.built.nv)
        for number, rate in self.tree.rates.items():
            self.v[number] = rate

    def forces(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Of springs on the coordinates, through the Jacobians of their ends."""
        pin, total = self.pin, self.push.copy()
        pin.forwardKinematics(self.built, self.data, q, v)
        pin.computeJointJacobians(self.built, self.data)
        for one, first, two, last, stiffness, damping, length in self.tree.springs:
            ends = []
            for body, place in ((one, first), (two, last)):
                number = self.joint[body]
                J = pin.getJointJacobian(self.built, self.data, number, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
                arm = self.data.oMi[number].rotation @ (np.array(place, float) - self.pivot[number])
                ends.append((self.data.oMi[number].translation + arm, J[:3] - pin.skew(arm) @ J[3:]))
            (a, Ja), (b, Jb) = ends
            span = np.linalg.norm(b - a)
            along = (b - a) / span
            tension = stiffness * (span - length) + damping * along @ ((Jb - Ja) @ v)
            total += tension * ((Ja - Jb).T @ along)
        return total

    def accelerations(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        tau = self.forces(q, v) if self.tree.springs else self.push
        if not len(self.loops):
            return self.pin.aba(self.built, self.data, q, v, tau)
        given = self.built, self.data, q, v, tau, self.loops, self.held, self.settings
        return self.pin.constraintDynamics(*given)

    def advance(self, steps: int) -> None:
        integrate, built, h, f = self.pin.integrate, self.built, self.dt, self.accelerations
        q, v = self.q, self.v
        if len(self.loops):
            self.pin.initConstraintDynamics(built, self.data, self.loops, self.held)
        for _ in range(steps):
            k1 = f(q, v)
            v2 = v + 0.5 * h * k1
            k2 = f(integrate(built, q, 0.5 * h * v), v2)
            v3 = v + 0.5 * h * k2
            k3 = f(integrate(built, q, 0.5 * h * v2), v3)
            v4 = v + h * k3
            k4 = f(integrate(built, q, h * v3), v4)
            q = integrate(built, q, h / 6.0 * (v + 2.0 * (v2 + v3) + v4))
            v = v + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4)
            if not np.abs(v).max() < FASTEST:
                v = np.full(built.nv, np.nan)
                break
        self.q, self.v = q, v

    def place(self, name: str) -> np.ndarray:
        if not np.isfinite(self.v).all():
            return np.full(3, np.nan)
        number = self.joint[name]
        self.pin.forwardKinematics(self.built, self.data, self.q)
        return self.data.oMi[number].act(self.bodies[name].place - self.pivot[number])


def prepare(tree: Tree, model: Model, watched: Sequence[str], dt: float) -> Engine:
    machine = Machine(tree, model, dt)
    return Engine(machine.restart, machine.advance, lambda: np.array([machine.place(name) for name in watched]))
