"""Mechanisms of the public collections, written as a first user does, each against a second formulation of its own."""

from __future__ import annotations

import warnings
from math import cos, pi, sin, sqrt

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import taut

EXACT = {"method": "reference", "tolerance": 1e-12}
G = 9.81


def quaternion(*columns: np.ndarray) -> tuple[float, ...]:
    """The orientation of a body whose axes are given in the world."""
    x, y, z, w = Rotation.from_matrix(np.column_stack(columns)).as_quat()
    return w, x, y, z


class SpatialSliderCrank:
    """Haug's: a crank about x, a rod on a ball and a cross, a block along x; its only freedom is the crank's angle."""

    place, crank, rod = np.array([0.0, 0.1, 0.12]), 0.08, 0.3
    own = 1e-4  # of the crank about its pin
    inertia = np.array([4e-5, 4e-3, 4e-3])

    def frame(self, angle):
        """Ends and axes of the rod."""
        b = self.place + self.crank * np.array([0.0, -np.sin(angle), np.cos(angle)])
        c = np.array([np.sqrt(self.rod**2 - b[1] ** 2 - b[2] ** 2), 0.0, 0.0])
        x = (c - b) / self.rod
        y = np.cross([0.0, 0.0, 1.0], x)
        y /= np.linalg.norm(y)
        return b, c, (x, y, np.cross(x, y))

    def scene(self, rate):
        scene = taut.Scene(gravity=(0, 0, -G))
        b, c, axes = self.frame(0.0)
        crank = scene.rigid(self.place, mass=0.12, inertia=(self.own, 1e-4, 1e-4), name="crank")
        rod = scene.rigid((b + c) / 2, mass=0.5, inertia=self.inertia, orientation=quaternion(*axes), name="rod")
        block = scene.rigid(c, mass=2.0, inertia=(1e-4, 1e-4, 1e-4), name="block")
        scene.hinge(crank, self.place, axis=(1, 0, 0), rate=rate, name="pin")
        scene.ball(rod.at((-self.rod / 2, 0, 0)), crank.at(b - self.place), name="socket")
        scene.universal(rod.at((self.rod / 2, 0, 0)), block, axis=axes[1], axis_2=(0, 0, 1), name="cross")
        scene.slider(block, (0, 0, 0), axis=(1, 0, 0), name="guide")
        return scene

    def energy(self, angle):
        """M and V of ½ M(θ) θ̇² + V(θ), by differences of positions."""
        step = 1e-5
        (b0, c0, axes0), (b1, c1, axes1) = self.frame(angle - step), self.frame(angle + step)
        b, c, axes = self.frame(angle)
        turn = np.column_stack(axes).T @ (np.column_stack(axes1) - np.column_stack(axes0)) / (2 * step)
        spin = np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
        move, slide = (b1 + c1 - b0 - c0) / (4 * step), (c1 - c0) / (2 * step)
        mass = self.own + 0.5 * move @ move + 2.0 * slide @ slide + spin @ (self.inertia * spin)
        return mass, 0.5 * G * (b + c)[2] / 2


def test_a_spatial_slider_crank_that_starts_with_a_rate_turns_as_in_its_one_coordinate(simulate):
    crank = SpatialSliderCrank()
    run = simulate(crank.scene(6.0), dt=0.02, duration=2.0, **EXACT)
    angle, rate = run["pin"].angle.values, run["pin"].rate.values
    assert abs(rate[0] - 6.0) < 1e-10 and not any("initial velocity" in text for text in run.notes), run.notes
    inertia, height = np.array([crank.energy(each) for each in angle]).T
    total = 0.5 * inertia[0] * 36.0 + height[0]
    off = np.abs(rate - np.sqrt(2.0 * (total - height) / inertia)).max()
    assert off < 1e-7, f"rate is off by {off:.3g} rad/s at equal angles"
    places = np.array([crank.frame(each)[1][0] for each in angle])
    assert np.abs(run["guide"].displacement.values - places).max() < 1e-12


def test_a_rate_that_other_constraints_forbid_is_refused_by_name():
    scene = SpatialSliderCrank().scene(6.0)
    scene.drive("pin", angle="2*t", name="motor")
    with pytest.raises(taut.TautError, match="joint 'pin' is to start with a rate of 6 rad/s.* leave it 2"):
        taut.simulate(scene, method="rattle", dt=0.01, duration=0.1)


def test_a_joint_that_starts_to_turn_because_of_others_is_told(simulate):
    """Least kinetic energy: a rod in line that is pulled across at its end turns back at 3/2 of the other's rate."""
    for rate, expected in ((None, -3.0 - 2.0), (0.0, 0.0)):
        scene = taut.Scene()
        a, b = (scene.rigid((x, 0, 0), mass=1.0, inertia=(0.01, 1 / 12, 1 / 12)) for x in (0.5, 1.5))
        scene.hinge(a.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), rate=2.0, name="shoulder")
        scene.hinge(b.at((-0.5, 0, 0)), a.at((0.5, 0, 0)), axis=(0, 0, 1), rate=rate, name="elbow")
        run = simulate(scene, "rattle", 0.01, 0.01)
        assert abs(run["elbow"].rate.values[0] - expected) < 1e-10, run["elbow"].rate.values[0]
        assert any("as after a blow: 'elbow'" in text for text in run.notes) == (rate is None), run.notes
    assert not any("blow" in text for text in simulate(SpatialSliderCrank().scene(6.0), "rattle", 0.01, 0.01).notes)


@pytest.mark.parametrize("kind, given, named", [
    ("cylindrical", {"rate": 2.0, "displacement_rate": -0.5}, {"angle": 2.0, "displacement": -0.5}),
    ("universal", {"axis_2": (1, 0, 0), "rate_1": 2.0, "rate_2": -0.5}, {"angle_1": 2.0, "angle_2": -0.5}),
    ("planar_joint", {"rate": 1.0, "rate_x": 0.3, "rate_y": -0.2},
     {"angle": 1.0, "displacement_x": 0.3, "displacement_y": -0.2}),
    ("screw", {"pitch": 0.1, "rate": 2.0}, {"angle": 2.0, "displacement": 0.2 / (2 * pi)}),
    ("slider", {"rate": -3.0}, {"displacement": -3.0}),
])  # fmt: skip
def test_every_joint_starts_with_the_rates_it_is_given(kind, given, named, simulate):
    scene = taut.Scene()
    base = scene.rigid((0, 0, 0), mass=3.0, inertia=(1, 2, 2.5), velocity=(0.1, 0, 0), name="base")
    body = scene.rigid((0, 0, 0), mass=1.0, inertia=(0.1, 0.2, 0.15), name="body")
    getattr(scene, kind)(body, base, axis=(0, 0, 1), **given, name="joint")
    run = simulate(scene, "rattle", 0.01, 0.01)
    off = {name: abs(float(run["joint"].rate_of(name)[0]) - value) for name, value in named.items()}
    assert max(off.values()) < 1e-12, off
    momentum = run.data.momentum.values[0]
    assert np.abs(momentum - (0.3, 0, 0)).max() < 1e-12, f"momentum {momentum}: rates came from inside"


def closed_form_nutation(tilt, turning, spin, ratio, weight):
    """θ̈ = f(θ) of a symmetric top with its two momenta: frequency about the steady θ, by differences."""
    momentum = turning * sin(tilt) ** 2 + ratio * spin * cos(tilt)

    def f(at):
        rate = (momentum - ratio * spin * cos(at)) / sin(at) ** 2
        return rate**2 * sin(at) * cos(at) - ratio * spin * rate * sin(at) + weight * sin(at)

    return sqrt(-(f(tilt + 1e-6) - f(tilt - 1e-6)) / 2e-6)


@pytest.mark.parametrize("tilt, turning", [(0.5, 4.0), (1.2, -7.0)])
def test_a_top_that_precesses_steadily_nutates_at_its_closed_form(tilt, turning):
    mass, arm, across, along = 0.5, 0.1, 0.007, 0.001  # moments about the pivot
    spin = (across * turning**2 * cos(tilt) + mass * G * arm) / (along * turning)
    axis = np.array([sin(tilt), cos(tilt), 0.0])
    omega = np.array([0.0, turning, 0.0]) + (spin - turning * cos(tilt)) * axis
    scene = taut.Scene()
    own = across - mass * arm**2
    top = scene.rigid(arm * axis, mass=mass, inertia=(own, along, own), orientation=("z", -tilt),
                      velocity=np.cross(omega, arm * axis), angular_velocity=omega)  # fmt: skip
    scene.ball(top.at((0, -arm, 0)), (0, 0, 0))
    motions = taut.linearise(scene)
    expected = closed_form_nutation(tilt, turning, spin, along / across, mass * G * arm / across)
    found = 2 * pi * motions.frequencies[-1]
    assert abs(found / expected - 1.0) < 1e-6, f"{found:.8g} rad/s, {expected:.8g} in closed form"
    assert np.abs(motions.turning - (0, turning, 0)).max() < 1e-9 and motions.steadiness < 1e-5


@pytest.mark.parametrize("angle, expected", [
    (0.0, sqrt(25.0 - G)), (np.arccos(G / 25.0), 5j * sqrt(1.0 - (G / 25.0) ** 2)),
])  # fmt: skip
def test_a_bead_on_a_turning_hoop_is_steady_in_the_hoops_axes(angle, expected):
    """At the bottom nothing moves, and yet its coefficients turn with the hoop."""
    motions = taut.linearise(taut.gallery("bead_on_hoop", rate=5.0, angle=angle))
    off = np.abs(motions.eigenvalues - expected).min()
    assert off < 1e-6, f"{motions}, {expected:.8g} in closed form"


def test_a_spinning_coin_wobbles_at_the_frequency_of_rouths_equations():
    """Its centre rests while it precesses: Ω² = m g a/(A sin θ); small motions by the equations of the rolling disc."""
    a, tilt = 0.1, 0.3
    turning = sqrt(4 * G / (a * sin(tilt)))
    A, C = 0.25 * a * a, 0.5 * a * a  # of a mass of 1 kg

    def motion(y):
        theta, rate, omega, n = y
        pull = A * omega**2 * sin(theta) * cos(theta) - (C + a * a) * n * omega * sin(theta) - G * a * cos(theta)
        return np.array([rate, pull / (A + a * a), (C * n * rate / A - 2.0 * omega * rate * cos(theta)) / sin(theta),
                         a * a * omega * rate * sin(theta) / (C + a * a)])  # fmt: skip

    start = np.array([tilt, 0.0, turning, 0.0])
    assert np.abs(motion(start)).max() < 1e-12
    steps = 1e-6 * np.eye(4)
    expected = np.linalg.eigvals(np.column_stack([(motion(start + s) - motion(start - s)) / 2e-6 for s in steps]))
    normal = np.array([sin(tilt), cos(tilt), 0.0])
    rising = np.array([0.0, 1.0, 0.0]) - cos(tilt) * normal  # sin θ times the direction from the contact to the centre
    scene = taut.Scene()
    disc = scene.rigid((0, a * sin(tilt), 0), mass=1.0, inertia=(A, C, A), orientation=("z", -tilt),
                       angular_velocity=turning * rising)  # fmt: skip
    scene.rolling(disc, (0, 0, 0), radius=a, axis=normal)
    motions = taut.linearise(scene)
    wobble = np.abs(expected.imag).max()
    off = np.abs(motions.eigenvalues.imag - wobble).min() / wobble
    assert off < 1e-6, f"{motions}, {wobble:.8g} rad/s expected"


def test_a_start_that_is_no_equilibrium_and_a_motion_that_is_not_steady_are_told():
    for scene in (taut.gallery("two_link"), taut.gallery("rolling_disc")):
        with pytest.warns(taut.TautWarning, match="eigenvalues are those of this instant only"):
            assert taut.linearise(scene).steadiness > 0.01


def test_eigenvalues_are_those_of_the_consistent_start():
    """A disc that is thrown without spin at 3 m/s rolls at 2 m/s: 1/(1 + C/m r²) of it, as in a run."""
    found = []
    for speed, spin in ((2.0, -4.0), (3.0, 0.0)):
        scene = taut.Scene()
        disc = scene.rigid((0, 0.5, 0), mass=1.0, inertia=(1 / 16, 1 / 16, 1 / 8), velocity=(speed, 0, 0),
                           angular_velocity=(0, 0, spin))  # fmt: skip
        scene.rolling(disc, (0, 0, 0), radius=0.5, axis=(0, 0, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", taut.TautWarning)  # the velocity is made consistent
            found.append(np.abs(taut.linearise(scene).eigenvalues.imag).max())
    assert abs(found[1] / found[0] - 1.0) < 1e-9, f"{found} rad/s"


def test_reactions_of_balls_and_rods_are_told_as_those_of_hinges_are(simulate):
    scene = taut.Scene()
    body = scene.rigid((1, 0, 0), mass=2.0, inertia=(1, 1, 1), name="body")
    scene.ball(body.at((-1, 0, 0)), (0, 0, 0), name="ball")
    bob = scene.particle((0, 5, 0), mass=3.0, name="bob")
    scene.distance((0, 6, 0), bob, name="rod")
    run = simulate(scene, dt=0.1, duration=0.5, **EXACT)
    needed = 2.0 * (run["body"].acceleration.values - (0, -G, 0))
    ball = run["ball"].reaction
    assert np.abs(ball.sel(component="force").values - needed).max() < 1e-9
    assert np.abs(ball.sel(component="torque").values).max() < 1e-12, "a ball joint transmits no torque"
    rod = run["rod"].reaction.sel(component="force").values[-1]
    assert np.abs(rod - (0, -3.0 * G, 0)).max() < 1e-9, f"{rod} N on its first point, which is in the world"
    with pytest.raises(AttributeError, match="ball 'ball' has no 'angle'; it has force, torque, reaction"):
        _ = run["ball"].angle


def test_mass_ratios_of_a_million_keep_the_digits_of_minimal_coordinates(simulate):
    for light, heavy in ((1.0, 1e6), (1e6, 1.0)):
        scene = taut.Scene()
        a = scene.rigid((0.5, 0, 0), mass=light, inertia=light / 12, planar=True, name="a")
        b = scene.rigid((1.5, 0, 0), mass=heavy, inertia=heavy / 12, planar=True, name="b")
        scene.hinge(a.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1))
        scene.hinge(b.at((-0.5, 0, 0)), a.at((0.5, 0, 0)), axis=(0, 0, 1))

        def motion(t, y, light=light, heavy=heavy):
            p, q, dp, dq = y
            c, s = 0.5 * heavy * cos(p - q), 0.5 * heavy * sin(p - q)
            matrix = np.array([[light / 3 + heavy, c], [c, heavy / 3]])
            pull = np.array([-s * dq * dq - (light / 2 + heavy) * G * cos(p), s * dp * dp - heavy * G * cos(q) / 2])
            return [dp, dq, *np.linalg.solve(matrix, pull)]

        p, q = solve_ivp(motion, (0, 2), [0, 0, 0, 0], "DOP853", rtol=1e-12, atol=1e-12).y[:2, -1]
        place = np.array([cos(p) + 0.5 * cos(q), sin(p) + 0.5 * sin(q)])
        run = simulate(scene, dt=0.5, duration=2.0, **EXACT)
        off = np.abs(run["b"].position.values[-1, :2] - place).max()
        assert off < 1e-8, f"{light:g} and {heavy:g} kg: {off:.3g} m off"


@pytest.mark.parametrize("masses", [(1.0, 1e6, 1.0), (1e-6, 1.0, 1e-6)])
def test_uneven_masses_do_not_make_independent_joints_look_dependent(masses, simulate):
    """Light bodies between heavy ones: eigenvalues of J W Jᵀ are 1e-8 of its diagonal, and J is regular."""
    scene, at = taut.Scene(), (0, 0, 0)
    for i, mass in enumerate(masses):
        rod = scene.rigid((i + 0.5, 0, 0), mass=mass, inertia=(mass / 1200, mass / 12, mass / 12), name=f"rod_{i}")
        scene.hinge(rod.at((-0.5, 0, 0)), at, axis=(0, 0, 1))
        at = rod.at((0.5, 0, 0))
    arm = np.tril(np.ones((3, 3)), -1) + 0.5 * np.eye(3)  # of the centre of rod i along rod j
    weight = np.array(masses) @ arm
    inertia = (arm.T * masses) @ arm

    def motion(t, y):
        q, rate = y[:3], y[3:]
        apart = q[:, None] - q
        matrix = inertia * np.cos(apart) + np.diag(masses) / 12
        return [*rate, *np.linalg.solve(matrix, -(inertia * np.sin(apart)) @ rate**2 - G * weight * np.cos(q))]

    q = solve_ivp(motion, (0, 1), np.zeros(6), "DOP853", rtol=1e-12, atol=1e-12).y[:3, -1]
    run = simulate(scene, dt=0.25, duration=1.0, **EXACT)
    off = np.abs(run["rod_2"].position.values[-1, :2] - (arm[2] @ np.cos(q), arm[2] @ np.sin(q))).max()
    assert off < 1e-8 and not run.notes, f"{off:.3g} m off; {run.notes}"


def test_bennetts_linkage_turns_all_round_by_its_closed_form(simulate):
    """Four skew hinges, rigid by counting: tan(θ₁/2) tan(θ₂/2) = sin((β+α)/2)/sin((β-α)/2) where a/sin α = b/sin β."""
    a, b, alpha = 1.0, 1.4, np.radians(40.0)
    beta = np.arcsin(b * sin(alpha) / a)
    product = sin((beta + alpha) / 2) / sin((beta - alpha) / 2)
    first = 1.0
    second = 2 * np.arctan(product / np.tan(first / 2))
    frame, frames = np.eye(4), []
    for angle, length, twist in ((first, a, alpha), (second, b, beta), (-first, a, alpha)):
        frames.append(frame)
        c, s, ct, st = cos(angle), sin(angle), cos(twist), sin(twist)
        rows = [c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]
        frame = frame @ np.array(rows)
    places, axes = zip(*((each[:3, 3], each[:3, 2]) for each in (*frames, frame)))
    scene = taut.Scene()
    before, at = None, places[0]
    for k, (start, end) in enumerate(zip(places, places[1:])):
        x = (end - start) / np.linalg.norm(end - start)
        y = np.cross(x, axes[k])
        half = (np.linalg.norm(end - start) / 2, 0, 0)
        link = scene.rigid((start + end) / 2, mass=1.0 + k, inertia=(0.01, 0.1, 0.1),
                           orientation=quaternion(x, y, np.cross(x, y)), name=f"link_{k}")  # fmt: skip
        scene.hinge(link.at(-np.array(half)), at, axis=axes[k], rate=3.0 if before is None else None, name=f"hinge_{k}")
        before, at = link, link.at(half)
    scene.hinge(at, places[3], axis=axes[3], name="hinge_3")
    run = simulate(scene, dt=0.05, duration=4.0, **EXACT)
    turned = [run[f"hinge_{k}"].angle.values for k in (0, 1)]
    assert turned[0][-1] > 2 * pi, "it goes all the way round"
    off = np.sin((first + turned[0]) / 2) * np.sin((second + turned[1]) / 2)
    off = off - product * np.cos((first + turned[0]) / 2) * np.cos((second + turned[1]) / 2)
    assert np.abs(off).max() < 1e-9, f"off its closed form by {np.abs(off).max():.3g}"
    energy = run.data.energy_total.values
    assert np.abs(energy - energy[0]).max() < 1e-9
