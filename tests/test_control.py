"""Animation is simulation and control: goals along keyframes, and controllers in Python at a chosen rate."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline
from words_minimal import SKEW, Minimal, turn

import taut
from taut.cli import main
from taut.scene.gallery.chains import GOAL_TIMES, GOALS


@pytest.mark.parametrize("method", ["implicit_first", "implicit_second", "rattle"])
def test_a_goal_is_met_at_its_times_and_what_it_takes_is_told(method, simulate):
    """λ of rattle is observed at the record, so that its power can be summed up there."""
    run = simulate(taut.gallery("goal_keyframes"), method, 0.005, 3.0, tolerance=1e-9)
    hand = run.data.position.sel(body="hand").values[:, :2]
    missed = float(np.abs(hand[[round(time / 0.005) for time in GOAL_TIMES]] - np.array(GOALS)).max())
    assert missed < 1e-8, f"off by {missed:.2e} m"
    force = run["goal"].force.sel(body="hand").values
    assert float(np.abs(force).max()) > 9.81, "a goal against gravity takes a force"
    if method == "rattle":
        power = (force * run.data.velocity.sel(body="hand").values).sum(axis=1)
        energy = run.data.energy_total.values
        summed = np.concatenate([[0.0], np.cumsum(0.5 * (power[1:] + power[:-1]) * 0.005)])
        off = float(np.abs(summed - (energy - energy[0])).max())
        assert off < 0.01 * np.ptp(energy), f"its work is {off:.2e} J off the energy of {np.ptp(energy):.3g} J"


def held(rate):
    """A pendulum that is held still by a controller: a spring and a damper of its own."""
    sim = taut.Simulation(taut.gallery("pendulum", angle=0.3), method="rattle", dt=0.002)
    place = sim.state.position["bob"].copy()
    asked = []

    def controller(now):
        asked.append(now.time)
        gap, speed = place - now.position["bob"], now.velocity["bob"]
        sim.apply("bob", force=400.0 * gap - 20.0 * speed + np.array((0.0, 9.81, 0.0)))

    sim.control(controller, rate=rate)
    return sim, place, asked


def test_a_controller_holds_what_it_is_told_to_at_its_rate():
    sim, place, asked = held(rate=100.0)
    sim.step(1000)
    away = float(np.abs(sim.state.position["bob"] - place).max())
    assert away < 1e-6, f"off by {away:.2e} m"
    assert np.allclose(asked, np.arange(200) * 0.01), asked[:5]


def test_however_steps_are_cut_a_controlled_simulation_gives_the_same_bits_and_so_does_a_restored_one():
    whole, pieces = held(50.0)[0], held(50.0)[0]
    for sim in (whole, pieces):
        sim.state  # noqa: B018 - looking changes nothing
    end = whole.step(97).record.x
    for n in (1, 13, 7, 40):
        pieces.step(n)
    saved = pieces.save_state()
    first = pieces.step(36).record.x
    pieces.restore_state(saved)
    again = pieces.step(36).record.x
    assert np.array_equal(first, end) and np.array_equal(again, end), np.abs(first - end).max()


def test_a_rate_between_steps_and_a_controller_that_fails_are_named():
    sim = taut.Simulation(taut.gallery("pendulum"), method="rattle", dt=0.01)
    with pytest.raises(taut.TautError, match="divided by a whole number"):
        sim.control(lambda now: None, rate=30.0)
    with pytest.raises(taut.TautError, match="rate"):
        sim.control(lambda now: None, rate=-1.0)

    def wrong(now):
        return now.position["bobb"]

    sim.control(wrong, rate=100.0)
    with pytest.raises(taut.TautError, match="controller at t = 0 s: the function wrong raised KeyError"):
        sim.step()


class Lost:
    """A controller that fails at a time, until it is mended from outside."""

    def __init__(self, answer):
        self.answer, self.is_lost = answer, True

    def __call__(self, t, q, rate):
        if t > 0.245 and self.is_lost:
            if self.answer is None:
                raise OSError("the sensor is lost")
            return self.answer
        return -3.0 * q - 0.2 * rate


def swinging(controller, switched=False):
    scene = taut.Scene(name="swinging")
    bar = scene.rigid((0.5, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="bar")
    pin = scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.controller(pin, function=controller, rate=100, name="servo")
    if switched:
        scene.motor(pin, torque=1.0, from_=0.1, until=0.105)
    return scene


@pytest.mark.parametrize("method, answer, words", [
    ("rattle", None, "raised OSError: the sensor is lost"), ("reference", float("nan"), "returned nan"),
    ("implicit_second", [1.0, 2.0], "returned [1.0, 2.0]"), ("generalized_alpha", "1", "returned '1'"),
])  # fmt: skip
def test_what_came_before_a_controller_failed_is_kept_and_goes_on_to_the_same_bits(tmp_path, method, answer, words):
    lost = Lost(answer)
    scene, asked = swinging(lost), {"method": method, "dt": 0.01, "duration": 0.5, "progress": False}
    with pytest.raises(taut.TautError) as told:
        taut.simulate(scene, **asked, out=tmp_path / "run.taut")
    for part in ("controller 'servo' of joint 'pin', at t = 0.25 s", words, "The part up to t = 0.25 s lies in",
                 str(tmp_path / "run.taut"), "taut.resume"):  # fmt: skip
        assert part in str(told.value), f"{part}: not in {told.value}"
    kept = taut.open(tmp_path / "run.taut")
    assert kept.status == "interrupted" and "servo" in kept.message and len(kept.records) == 26
    assert np.array_equal(kept.records.x, told.value.run.records.x)
    lost.is_lost = False
    resumed, whole = taut.resume(tmp_path / "run.taut", scene, progress=False), taut.simulate(scene, **asked)
    assert resumed.status == "finished"
    for name in ("x", "quat", "v", "lam", "energy"):
        assert np.array_equal(getattr(resumed.records, name), getattr(whole.records, name)), name


def test_a_run_without_a_place_is_kept_in_the_error_and_one_with_switches_can_be_opened(tmp_path):
    with pytest.raises(taut.TautError, match="The part up to t = 0.25 s is kept in this error") as told:
        taut.simulate(swinging(Lost(None)), "rattle", dt=0.01, duration=0.5, progress=False)
    assert told.value.run.status == "interrupted" and len(told.value.run["pin"].angle) == 26
    with pytest.raises(taut.TautError, match="lies in") as told:
        taut.simulate(swinging(Lost(None), True), "rattle", dt=0.01, duration=0.5, progress=False, out=tmp_path / "r")
    assert "taut.resume" not in str(told.value)
    kept = taut.open(tmp_path / "r")
    assert kept.status == "diverged" and "servo" in kept.message and len(kept.records) == 26


def test_the_command_line_reports_the_part_before_a_controller_failed(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm.py").write_text("""import taut
def build():
    scene = taut.Scene()
    bar = scene.rigid((0.5, 0, 0), mass=1.0, inertia=(0.1, 0.1, 0.1), name="bar")
    pin = scene.hinge(bar.at((-0.5, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="pin")
    scene.controller(pin, function=lambda t, q, rate: 0.0 if t < 0.245 else float("nan"), rate=100, name="servo")
    return scene
""")
    code = main(["run", "arm.py", "--method", "rattle", "--dt", "0.01", "--duration", "0.5", "--out", "run.taut"])
    told = capsys.readouterr()
    assert code == 1 and "26 records" in told.out and "Traceback" not in told.err
    assert "controller 'servo'" in told.err and "The part up to t = 0.25 s lies in run.taut" in told.err, told.err


def test_a_simulation_goes_on_once_its_controller_is_mended():
    lost = Lost(None)
    sim, whole = (taut.Simulation(swinging(lost), "rattle", dt=0.01) for _ in range(2))
    with pytest.raises(taut.TautError, match="t = 0.25 s.*the sensor is lost"):
        sim.step(50)
    assert sim.time == 0.25 and np.isfinite(sim.state.position["bar"]).all()
    lost.is_lost = False
    assert np.array_equal(sim.step(25).record.x, whole.step(50).record.x)


def test_keyframes_turn_a_screw_on_a_swinging_carrier_from_the_first_instant_on(simulate):
    """Their curve begins and ends with an acceleration: the motor's torque is there at t = 0, and at the end."""
    knots, values, pitch = [0.0, 0.4, 1.0], [0.0, 2.0, -1.0], 0.3
    pieces = CubicSpline(knots, values, bc_type="clamped").c.T
    pin, axis = np.array([0.3, 1.0, 0.4]), np.array([1.0, 0.2, -0.3]) / np.linalg.norm([1.0, 0.2, -0.3])
    arm, seat, off = np.array([0.4, -0.2, 0.1]), np.array([0.2, 0.1, 0.3]), np.array([0.05, -0.12, 0.07])

    def stand(q, t, piece):
        R, angle = turn(pin, q[0]), np.polyval(pieces[piece], t - knots[piece])
        nut = R @ turn(axis, angle)
        along = pitch * angle / (2 * np.pi) * axis
        return {"carrier": (R @ arm, R), "nut": (R @ (arm + seat + along) + nut @ off, nut)}

    bodies = {"carrier": (2.0, 3 * SKEW), "nut": (0.8, SKEW)}
    first = Minimal(bodies, lambda q, t: stand(q, t, 0))
    start, scene = first.start([0.0], [1.5]), taut.Scene()
    carrier, nut = (first.add(scene, name, start, moving=False) for name in bodies)
    scene.hinge(carrier.at(tuple(-arm)), (0, 0, 0), axis=pin, rate=1.5, name="pin")
    scene.screw(nut.at(tuple(-off)), carrier.at(tuple(seat)), axis=axis, pitch=pitch, name="screw")
    scene.drive("screw", angle={"times": knots, "values": values}, name="motor")
    motion = first.solve(np.linspace(0.0, 0.4, 5), start)
    later = Minimal(bodies, lambda q, t: stand(q, t + 0.4, 1))
    motion += later.solve(np.linspace(0.0, 0.6, 7), later.start(motion[-1].q, motion[-1].u))[1:]
    run = simulate(scene, "reference", 0.1, 1.0)
    assert first.worst(run, motion) < 2e-8

    def torque(at):  # what turns the nut about the screw's axis, and its thrust by way of the pitch
        along, origin = at.carrier.R @ axis, at.carrier.R @ (arm + seat)
        turning = at.nut.torque + np.cross(at.nut.x - origin, at.nut.force)
        return along @ turning + pitch / (2 * np.pi) * along @ at.nut.force

    assert np.abs(run["motor"].multiplier.values.ravel() - np.array([torque(at) for at in motion])).max() < 2e-8
    off_by = first.worst(simulate(scene, "lagrange", 0.01, 1.0, record_every=10), motion, accelerations=False)
    assert off_by < 1e-5, f"lagrange is off by {off_by:.2g}: its first or last step had no acceleration"
