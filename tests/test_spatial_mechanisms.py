"""Spatial mechanisms and rolling bodies of public collections, each beside equations of motion of its own."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares
from scipy.spatial.transform import Rotation

import taut

G = 9.81


def quaternion(rotation: Rotation) -> tuple[float, ...]:
    x, y, z, w = rotation.as_quat()
    return float(w), float(x), float(y), float(z)


class Rattleback:
    """Kane and Levinson's [1982]: half an ellipsoid whose principal axes are turned against those of its surface.

    It rolls without slipping: v = -ω × r with r from the centre of mass to the contact, and with u the vertical in body
    axes (I + m (r² 1 - r rᵀ)) ω̇ = -ω × I ω + m r × (g u - ω × ṙ - ω × (ω × r)).
    """

    mass, rise = 1.0, 0.01  # the ellipsoid's centre stands above the centre of mass [m]
    axes = np.array([0.2, 0.03, 0.02])
    inertia = np.array([[2e-4, -2e-5, 0.0], [-2e-5, 1.6e-3, 0.0], [0.0, 0.0, 1.7e-3]])
    upright = Rotation.from_euler("x", -90, degrees=True)  # z of the body along y

    def __init__(self, spin: float) -> None:
        self.start = self.upright * Rotation.from_euler("xy", (0.5, 0.5), degrees=True)
        self.omega = np.array([0.0, 0.0, spin])

    def contact(self, u: np.ndarray, u_t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """r and its rate, in body axes."""
        square = self.axes**2
        reach = np.sqrt(u @ (square * u))
        r = np.array([0.0, 0.0, self.rise]) - square * u / reach
        return r, -square * u_t / reach + square * u * (u @ (square * u_t)) / reach**3

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        turned, omega = Rotation.from_quat(y[:4]), y[4:]
        u = turned.inv().apply((0.0, 1.0, 0.0))
        r, r_t = self.contact(u, np.cross(u, omega))
        push = G * u - np.cross(omega, r_t) - np.cross(omega, np.cross(omega, r))
        matrix = self.inertia + self.mass * (r @ r * np.eye(3) - np.outer(r, r))
        turning = np.cross(self.inertia @ omega, omega) + self.mass * np.cross(r, push)
        x, y_, z, w = y[:4]
        a, b, c = omega
        quat = 0.5 * np.array([w * a + y_ * c - z * b, w * b + z * a - x * c, w * c + x * b - y_ * a,
                               -x * a - y_ * b - z * c])  # fmt: skip
        return np.concatenate([quat, np.linalg.solve(matrix, turning)])

    def solve(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Orientations and angular velocities in body axes."""
        y0 = np.concatenate([self.start.as_quat(), self.omega])
        found = solve_ivp(self.rate, (0.0, times[-1]), y0, "DOP853", times, rtol=1e-12, atol=1e-13)
        return found.y[:4].T, found.y[4:].T

    def scene(self) -> taut.Scene:
        scene = taut.Scene()
        r, _ = self.contact(self.start.inv().apply((0.0, 1.0, 0.0)), np.zeros(3))
        arm, omega = self.start.apply(r), self.start.apply(self.omega)
        moving = {"velocity": tuple(-np.cross(omega, arm)), "angular_velocity": tuple(omega)}
        body = scene.rigid(-arm, mass=self.mass, inertia=self.inertia.tolist(), orientation=quaternion(self.start),
                           **moving, name="body")  # fmt: skip
        centre = np.array([0.0, 0.0, self.rise])
        points = [body.at(centre), *(body.at(centre + axis) for axis in np.eye(3))]
        # p1 - p0 and so on are the axes of the ellipsoid, whose vertical parts are u.
        terms = [f"{half!r}**2*(p{k}.y - p0.y)" for k, half in enumerate(self.axes.tolist(), 1)]
        reach = f"sqrt({' + '.join(f'{term}*(p{k}.y - p0.y)' for k, term in enumerate(terms, 1))})"
        scene.custom(*points, formula=f"p0.y - {reach}", name="touch")
        for v in ("vx", "vz"):
            moved = " + ".join(f"{term}*(p{k}.{v} - p0.{v})" for k, term in enumerate(terms, 1))
            scene.custom(*points, velocity=f"p0.{v} - ({moved})/{reach}", name=f"grip_{v}")
        return scene


@pytest.mark.parametrize("spin", [-5.0, 5.0])
def test_a_rattleback_turns_back_as_in_kanes_equations(spin, simulate):
    toy, end = Rattleback(spin), 3.0
    run = simulate(toy.scene(), "reference", 0.05, end)
    _, omega = toy.solve(run.records.time)
    frames = [Rotation.from_quat(np.roll(q, -1)) for q in run["body"].orientation.values]
    found = np.array([frame.inv().apply(w) for frame, w in zip(frames, run["body"].angular_velocity.values)])
    error = np.abs(found - omega).max()
    turned_back = bool((np.sign(spin) * omega[:, 2]).min() < -0.2)
    assert error < 1e-6, f"ω is off by {error:.2g} rad/s of {np.abs(omega).max():.3g}"
    assert turned_back == (spin < 0.0), f"about the vertical from {spin} to {omega[:, 2].min():.3g} rad/s"


def test_other_methods_roll_the_rattleback_likewise(simulate):
    toy = Rattleback(-5.0)
    _, omega = toy.solve(np.array([0.0, 0.5]))
    for method, bound in (("rattle", 2e-2), ("implicit_second", 5e-2), ("radau", 1e-7)):
        run = simulate(toy.scene(), method, 5e-4, 0.5, record_every=1000)
        frame = Rotation.from_quat(np.roll(run["body"].orientation.values[-1], -1))
        error = np.abs(frame.inv().apply(run["body"].angular_velocity.values[-1]) - omega[-1]).max()
        assert error < bound, f"{method}: ω is off by {error:.2g} rad/s"


class RSCR:
    """A crank on a pin (R), a ball (S), a coupler that slides and turns on a rocker (C), and the rocker's pin (R).

    Its only freedom is the crank's angle; the rest follows from the ball: a closed loop of three equations.
    """

    mass, inertia = {"crank": 1.0, "coupler": 0.7, "rocker": 1.5}, np.array([0.02, 0.03, 0.04])
    crank_axis, rocker_axis = np.array([0.0, 0.0, 1.0]), np.array([0.3, 1.0, 0.2]) / np.linalg.norm([0.3, 1.0, 0.2])
    ground = np.array([1.0, 0.2, 0.3])  # the rocker's pin
    reach = np.array([0.3, 0.0, 0.0])  # from the crank's pin to the ball
    slide_axis = np.array([0.4, 0.1, 1.0]) / np.linalg.norm([0.4, 0.1, 1.0])  # fixed to the rocker
    slide_at = np.array([-0.2, 0.1, 0.1])  # from the rocker's pin, in its frame: the coupler's centre at the start

    def places(self, crank, others):
        """Frames and centres of the bodies: turns about axes as they stand at the start."""
        rocker, twist, slide = others
        first, third = (Rotation.from_rotvec(angle * axis)
                        for angle, axis in ((crank, self.crank_axis), (rocker, self.rocker_axis)))
        second = third * Rotation.from_rotvec(twist * self.slide_axis)
        at = self.ground + third.apply(self.slide_at + slide * self.slide_axis)
        return {"crank": (first, first.apply(0.5 * self.reach)), "coupler": (second, at),
                "rocker": (third, self.ground + third.apply(0.5 * self.slide_at))}  # fmt: skip

    @property
    def arm(self):
        """The ball in the coupler's frame."""
        return self.reach - self.ground - self.slide_at

    def others(self, crank, near):
        def gap(others):
            found = self.places(crank, others)
            frame, at = found["coupler"]
            return at + frame.apply(self.arm) - found["crank"][0].apply(self.reach)

        return least_squares(gap, near, xtol=1e-15, ftol=1e-15, gtol=1e-15).x

    def energy(self, crank, near, step=1e-4):
        """M and V of ½ M θ̇² + V, by differences of fourth order."""
        weights = {-2: 1 / 12, -1: -2 / 3, 1: 2 / 3, 2: -1 / 12}
        here = self.places(crank, self.others(crank, near))
        around = {k: self.places(crank + k * step, self.others(crank + k * step, near)) for k in weights}
        M = V = 0.0
        for name, (frame, at) in here.items():
            move = sum(w * around[k][name][1] for k, w in weights.items()) / step
            spin = sum(w * (frame.inv() * around[k][name][0]).as_rotvec() for k, w in weights.items()) / step
            M += self.mass[name] * move @ move + spin @ (self.inertia * spin)
            V += self.mass[name] * G * at[1]
        return M, V

    def scene(self, rate):
        scene, found = taut.Scene(), self.places(0.0, np.zeros(3))
        bodies = {name: scene.rigid(at, mass=self.mass[name], inertia=self.inertia, name=name)
                  for name, (_, at) in found.items()}  # fmt: skip
        at = {name: place for name, (_, place) in found.items()}
        scene.hinge(bodies["crank"].at(-at["crank"]), (0, 0, 0), axis=self.crank_axis, rate=rate, name="pin")
        scene.ball(bodies["coupler"].at(self.arm), bodies["crank"].at(0.5 * self.reach), name="socket")
        scene.cylindrical(bodies["coupler"], bodies["rocker"].at(at["coupler"] - at["rocker"]), axis=self.slide_axis,
                          name="tube")  # fmt: skip
        scene.hinge(bodies["rocker"].at(self.ground - at["rocker"]), tuple(self.ground), axis=self.rocker_axis,
                    name="pivot")  # fmt: skip
        return scene


def test_an_rscr_loop_moves_as_its_one_coordinate(simulate):
    """θ(t) of taut, put into the loop's equations, gives all other coordinates; its rate follows from the energy."""
    loop, rate = RSCR(), 4.0
    run = simulate(loop.scene(rate), "reference", 0.02, 0.7)
    near = np.zeros(3)
    M, V = loop.energy(0.0, near)
    energy, worst, off = 0.5 * M * rate**2 + V, 0.0, 0.0
    for k, crank in enumerate(run["pin"].angle.values):
        near = loop.others(crank, near)
        found = [run["pivot"].angle.values[k], run["tube"].angle.values[k], run["tube"].displacement.values[k]]
        worst = max(worst, np.abs(near - found).max())
        M, V = loop.energy(crank, near)
        off = max(off, abs(abs(run["pin"].rate.values[k]) - np.sqrt(2.0 * (energy - V) / M)))
    span = np.ptp(run["pin"].angle.values)
    assert worst < 1e-9 and off < 1e-6 and span > 0.7, f"{worst:.1e} rad or m, {off:.1e} rad/s over {span:.3g} rad"
