"""Laws of what sheets do where Newton's method goes astray: descend an energy, or come from inside their limits."""

from __future__ import annotations

import numpy as np
import pytest

from taut.analysis.bench.frames import Frames
from taut.cloth import slack as rooms
from taut.cloth.augmented_lagrangian import descend, energy
from taut.cloth.context import SHEETS
from taut.cloth.interior_point import from_inside
from taut.cloth.linear_system import imbalance
from taut.cloth.predict import extrapolate
from taut.compiled import entry
from taut.methods.box import contents
from taut.scene import gallery

STEP = 1 / 240  # [s]
SCENES = {
    "cloth_ball": {"n": 8}, "cloth_posts": {"n": 8}, "cloth_drape": {"n": 8}, "cloth_fold": {"n": 8},
    "flag_wind": {"n": 8}, "jelly_block": {"n": 3},
}  # fmt: skip
ROOMS = {name for name in vars(rooms) if not name.startswith("_")}


@entry
def energy_at(box, t, h):
    return energy((box, t, h))


@entry
def imbalance_at(box, x, h):
    return imbalance((box, x, h))


@entry
def descended(box, t, h):
    return descend((box, t, h))


@entry
def came_from_inside(box, t, h):
    return from_inside((box, t, h))


def touching(name: str) -> tuple[Frames, float]:
    """A scene after some steps, where much is held, and the time."""
    sheet = Frames(gallery(name, **SCENES[name]), "implicit_first", 4)
    for _ in range(20):
        sheet.frame()
    SHEETS.also(sheet.session.par, {"energy", "go_downhill", "descend", "from_inside", *ROOMS})
    return sheet, 20 / 60


@pytest.mark.parametrize("name", SCENES)
def test_the_slope_of_the_energy_is_the_force_that_is_not_balanced(name):
    sheet, t = touching(name)
    state, box = sheet.session.state, sheet.session.par.box
    par = contents(sheet.session.par)
    net, edge = par.net, par.edge
    rng = np.random.default_rng(3)
    state.x[net.slot] += 2e-2 * edge * rng.standard_normal((len(net.slot), 3))
    assert np.isfinite(energy_at(box, t, STEP))
    imbalance_at(box, state.x, STEP)
    force, held = net.rhs.copy(), int(net.edges.on.sum()) + int(net.solids.on.sum())
    assert held > 0, "nothing is held"
    way = rng.standard_normal(force.shape)
    x = state.x.copy()
    # Forces leave out how normals turn, along which friction does not act.
    rubbing = max(float(rows.friction.max(initial=0.0)) for rows in (net.solids, net.facets))
    off = []
    for size in (1e-6 * edge, 1e-7 * edge):
        ends = []
        for sign in (1, -1):
            state.x[net.slot] = x[net.slot] + sign * size * way
            ends.append(energy_at(box, t, STEP))
        slope = (ends[0] - ends[1]) / (2 * size)
        off.append(abs(slope + (force * way).sum()) / np.abs(force * way).sum())
    assert min(off) < (1e-4 if rubbing else 1e-7), f"the slope is off by {off}"


@pytest.mark.parametrize("name", SCENES)
def test_descent_ends_where_newtons_method_does(name):
    """Both solve the same step: multipliers and positions agree within the tolerances of the step."""
    sheet, t = touching(name)
    state, par = sheet.session.state, contents(sheet.session.par)
    found = state.x.copy()
    assert descended(sheet.session.par.box, t, STEP) == 0
    moved = np.abs(state.x - found).max() / par.edge
    assert moved < 0.05, f"it is {moved:.3g} edges away"


@pytest.mark.parametrize("name", ["cloth_ball", "flag_wind"])
def test_from_inside_limits_the_step_is_that_of_newtons_method(name):
    """What pulls strongly is found to pull, what is slack is not, and all is within the tolerances of the step."""
    sheet, t = touching(name)
    state, par = sheet.session.state, contents(sheet.session.par)
    edges = par.net.edges
    found, pulled, tension = state.x.copy(), edges.on & (edges.tension > 0), edges.tension.copy()
    assert pulled.any() and not pulled.all()
    assert came_from_inside(sheet.session.par.box, t, STEP) == 0
    moved = np.abs(state.x - found).max() / par.edge
    assert moved < 0.05, f"it is {moved:.3g} edges away"
    strong = tension > 0.1 * tension.max()
    assert edges.on[strong].all(), "what pulls strongly is let go"
    assert not edges.on[edges.l < 0.9 * edges.most].any(), "what is slack is held"
    assert (edges.phi / edges.length)[edges.one_sided].max() < 5e-5, "limits are exceeded"
    off = imbalance_at(sheet.session.par.box, state.x, STEP) / par.edge
    assert off < 0.02 * (60 * STEP) ** 3, f"forces are off by {off:.3g}"


@entry
def extrapolated(f, h, memory):
    extrapolate(f, h, memory)


def test_forces_that_grow_evenly_are_extrapolated_to_the_middle_of_steps_of_any_length():
    rng = np.random.default_rng(7)
    at_start, growth = rng.standard_normal((2, 5, 3))
    memory = np.zeros(3 + 15)
    t = 0.0
    for k, h in enumerate([0.1, 0.1, 0.05, 0.2, 0.025]):
        f = at_start + growth * t
        extrapolated(f, h, memory)
        middle = t if k == 0 else t + h / 2
        assert f == pytest.approx(at_start + growth * middle, rel=1e-12, abs=1e-12)
        t += h
