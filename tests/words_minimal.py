"""Equations of motion in coordinates of one's own, from how bodies stand alone: what mechanisms are held against.

With v = J_v u + v_b, ω = J_w u + ω_b of each body in the world's axes, u = dq/dt,

    M = Σ m J_vᵀ J_v + J_wᵀ I J_w,   f = Σ J_vᵀ m (g - dv_b) - J_wᵀ (I dω_b + ω × I ω) + Q              (1)  [Kane 1985]
    M du/dt + Aᵀ μ = f,   A du/dt = -da                                                                 (2)

dv_b, dω_b and da are what is left of accelerations and of d(A u + a)/dt without du/dt; A belongs to conditions
A(q, t) u + a(q, t) = 0. First derivatives are by complex steps, those along the motion by differences of eighth order,
and (2) is solved by DOP853. Beside gravity a body needs the force m (a - g), and about its centre the torque
I α + ω × I ω.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import taut

SKEW = np.array([[0.02, 0.004, -0.003], [0.004, 0.03, 0.002], [-0.003, 0.002, 0.025]])  # no axis is a principal one
DOWN = (0.0, -9.81, 0.0)
TINY = 1e-30  # of a complex step
STEP, STENCIL = 0.004, ((1, 4 / 5), (2, -1 / 5), (3, 4 / 105), (4, -1 / 280))  # of a difference along the motion [s]


def turn(axis, angle):
    """The matrix of a turn (Rodrigues' formula); an axis may be "x", "y" or "z"."""
    a = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    return np.eye(3) + np.sin(angle) * K + (1 - np.cos(angle)) * (K @ K)


class Minimal:
    """
    bodies      {name: (mass, inertia in the body's frame)}
    stand       (q, t) -> {name: (centre, orientation)}
    forces      (q, u, t) -> Q of the coordinates
    conditions  at -> numbers, linear in velocities, that are zero; at.rod.x, .R, .v, .w of a body; at.t, its at.rate
    """

    def __init__(self, bodies, stand, forces=None, conditions=None) -> None:
        self.bodies = {name: (m, np.diag(I) if np.ndim(I) < 2 else I) for name, (m, I) in bodies.items()}
        self.stand, self.forces, self.conditions = stand, forces, conditions

    def look(self, q, u, t, rate=1.0):
        """Places, turns and velocities; with rate = 0 those of coordinates alone."""
        found, at = self.stand(q + 1j * TINY * u, t + 1j * TINY * rate), SimpleNamespace(q=q, u=u, t=t, rate=rate)
        for name, (x, R) in found.items():
            W = R.imag @ R.real.T / TINY
            spin = np.array([W[2, 1], W[0, 2], W[1, 0]])
            setattr(at, name, SimpleNamespace(x=np.real(x), R=R.real, v=np.imag(x) / TINY, w=spin))
        return at

    def values(self, at):
        """Of all bodies v and ω, and of all conditions what is not zero."""
        held = self.conditions(at) if self.conditions else []
        bodies = (getattr(at, name) for name in self.bodies)
        return np.concatenate([*(part for body in bodies for part in (body.v, body.w)), held])

    def at(self, t, q, u):
        """Every body at one instant, with accelerations and the force and torque that it needs."""
        q, u = np.array(q, float), np.array(u, float)
        at, n = self.look(q, u, t), len(q)
        J = np.array([self.values(self.look(q, e, t, 0.0)) for e in np.eye(n)]).T
        left = sum(weight * sign * self.values(self.look(q + sign * k * STEP * u, u, t + sign * k * STEP))
                   for k, weight in STENCIL for sign in (1, -1)) / STEP  # fmt: skip
        M, f = np.zeros((n, n)), np.array(self.forces(q, u, t) if self.forces else np.zeros(n), float)
        for k, (name, (m, own)) in enumerate(self.bodies.items()):
            body, J_v, J_w = getattr(at, name), J[6 * k : 6 * k + 3], J[6 * k + 3 : 6 * k + 6]
            body.I = body.R @ own @ body.R.T
            M += m * J_v.T @ J_v + J_w.T @ body.I @ J_w
            gyroscopic = np.cross(body.w, body.I @ body.w)
            f += m * J_v.T @ (DOWN - left[6 * k : 6 * k + 3])
            f -= J_w.T @ (body.I @ left[6 * k + 3 : 6 * k + 6] + gyroscopic)
        A, da = J[6 * len(self.bodies) :], left[6 * len(self.bodies) :]
        both = np.block([[M, A.T], [A, np.zeros((len(A), len(A)))]])
        at.change, at.μ = np.split(np.linalg.lstsq(both, np.concatenate([f, -da]), rcond=1e-13)[0], [n])
        accelerations = J @ at.change + left
        for k, (name, (m, _)) in enumerate(self.bodies.items()):
            body = getattr(at, name)
            body.a, body.α = accelerations[6 * k : 6 * k + 3], accelerations[6 * k + 3 : 6 * k + 6]
            body.force, body.torque = m * (body.a - DOWN), body.I @ body.α + np.cross(body.w, body.I @ body.w)
        return at

    def start(self, q, u):
        """The start, with the rates nearest to u that obey the conditions."""
        q, u = np.array(q, float), np.array(u, float)
        if self.conditions:
            A = np.array([self.conditions(self.look(q, e, 0.0, 0.0)) for e in np.eye(len(q))]).T
            u = u - np.linalg.lstsq(A, np.array(self.conditions(self.look(q, u, 0.0))), rcond=None)[0]
        return self.at(0.0, q, u)

    def solve(self, times, start):
        """The motion at times."""
        n = len(start.q)
        found = solve_ivp(lambda t, y: [*y[n:], *self.at(t, y[:n], y[n:]).change], (0.0, times[-1]),
                          [*start.q, *start.u], "DOP853", times, rtol=1e-11, atol=1e-12)  # fmt: skip
        assert found.success, found.message
        return [self.at(t, y[:n], y[n:]) for t, y in zip(times, found.y.T)]

    def add(self, scene: taut.Scene, name: str, start, moving=True, **given):
        """A body in a scene, where and as fast as it is at the start."""
        body, (mass, inertia) = getattr(start, name), self.bodies[name]
        x, y, z, w = Rotation.from_matrix(body.R).as_quat()
        speeds = {"velocity": tuple(body.v), "angular_velocity": tuple(body.w)} if moving else {}
        return scene.rigid(tuple(body.x), mass=mass, inertia=inertia.tolist(), orientation=(w, x, y, z), name=name,
                           **speeds, **given)  # fmt: skip

    def worst(self, run: taut.Run, motion, accelerations=True) -> float:
        """The largest error of places, velocities and accelerations, of their own size."""
        pairs = [("position", "x"), ("velocity", "v"), ("angular_velocity", "w")]
        pairs += [("acceleration", "a"), ("angular_acceleration", "α")] if accelerations else []
        worst = 0.0
        for name in self.bodies:
            for told, own in pairs:
                expected = np.array([getattr(getattr(at, name), own) for at in motion])
                off = np.abs(getattr(run[name], told).values - expected).max()
                worst = max(worst, float(off / max(1.0, np.abs(expected).max())))
        return worst
