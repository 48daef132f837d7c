"""Laws of what sheets do where Newton's method goes astray: descend an energy, or come from inside their limits."""

from __future__ import annotations

import numpy as np
import pytest

from taut.analysis.bench.frames import Frames
from taut.cloth.augmented_lagrangian import augmented_lagrangian, minimise_augmented_lagrangian
from taut.cloth.interior_point import interior_point
from taut.cloth.linear_system import residual_norm
from taut.cloth.predict import extrapolate_forces
from taut.compiled import entry
from taut.scene import gallery

STEP = 1 / 240  # [s]
SCENES = {
    "cloth_ball": {"n": 8}, "cloth_posts": {"n": 8}, "cloth_drape": {"n": 8}, "cloth_fold": {"n": 8},
    "flag_wind": {"n": 8}, "jelly_block": {"n": 3},
}  # fmt: skip


@entry
def energy_at(system, state, ctx, t, h):
    return augmented_lagrangian(system, state, ctx, t, h)


@entry
def residual_at(ctx, x, h):
    return residual_norm(ctx, x, h)


@entry
def descended(system, state, ctx, t, h):
    return minimise_augmented_lagrangian(system, state, ctx, t, h)


@entry
def solved_inside(system, state, ctx, t, h):
    return interior_point(system, state, ctx, t, h)


def touching(name: str) -> tuple[Frames, float]:
    """A scene after some steps, where much is held, and the time."""
    sheet = Frames(gallery(name, **SCENES[name]), "implicit_first", 4)
    for _ in range(20):
        sheet.frame()
    return sheet, 20 / 60


@pytest.mark.parametrize("name", SCENES)
def test_the_slope_of_the_energy_is_the_force_that_is_not_balanced(name):
    sheet, t = touching(name)
    system, state, ctx = sheet.session.system, sheet.session.state, sheet.session.context
    slot, edge = ctx.problem.slot, ctx.problem.mean_edge
    rng = np.random.default_rng(3)
    state.x[slot] += 2e-2 * edge * rng.standard_normal((len(slot), 3))
    assert np.isfinite(energy_at(system, state, ctx, t, STEP))
    residual_at(ctx, state.x, STEP)
    force, held = ctx.linear.rhs.copy(), int(ctx.edges.active.sum()) + int(ctx.external.active.sum())
    assert held > 0, "nothing is held"
    way = rng.standard_normal(force.shape)
    x = state.x.copy()
    # Forces leave out how normals turn, along which friction does not act.
    rubbing = max(float(rows.friction.max(initial=0.0)) for rows in (ctx.external, ctx.self_contact.rows))
    off = []
    for size in (1e-6 * edge, 1e-7 * edge):
        ends = []
        for sign in (1, -1):
            state.x[slot] = x[slot] + sign * size * way
            ends.append(energy_at(system, state, ctx, t, STEP))
        slope = (ends[0] - ends[1]) / (2 * size)
        off.append(abs(slope + (force * way).sum()) / np.abs(force * way).sum())
    assert min(off) < (1e-4 if rubbing else 1e-7), f"the slope is off by {off}"


@pytest.mark.parametrize("name", SCENES)
def test_descent_ends_where_newtons_method_does(name):
    """Both solve the same step: multipliers and positions agree within the tolerances of the step."""
    sheet, t = touching(name)
    system, state, ctx = sheet.session.system, sheet.session.state, sheet.session.context
    found = state.x.copy()
    assert descended(system, state, ctx, t, STEP) == 0
    moved = np.abs(state.x - found).max() / ctx.problem.mean_edge
    assert moved < 0.05, f"it is {moved:.3g} edges away"


@pytest.mark.parametrize("name", ["cloth_ball", "flag_wind"])
def test_from_inside_limits_the_step_is_that_of_newtons_method(name):
    """What pulls strongly is found to pull, what is slack is not, and all is within the tolerances of the step."""
    sheet, t = touching(name)
    system, state, ctx = sheet.session.system, sheet.session.state, sheet.session.context
    edges = ctx.edges
    found, pulled, tension = state.x.copy(), edges.active & (edges.tension > 0), edges.tension.copy()
    assert pulled.any() and not pulled.all()
    assert solved_inside(system, state, ctx, t, STEP) == 0
    moved = np.abs(state.x - found).max() / ctx.problem.mean_edge
    assert moved < 0.05, f"it is {moved:.3g} edges away"
    strong = tension > 0.1 * tension.max()
    assert edges.active[strong].all(), "what pulls strongly is let go"
    assert not edges.active[edges.l < 0.9 * edges.max_length].any(), "what is slack is held"
    assert (edges.phi / edges.length)[edges.one_sided].max() < 5e-5, "limits are exceeded"
    off = residual_at(ctx, state.x, STEP) / ctx.problem.mean_edge
    assert off < 0.02 * (60 * STEP) ** 3, f"forces are off by {off:.3g}"


@entry
def extrapolated(f, h, memory):
    extrapolate_forces(f, h, memory)


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
