"""Laws of the papers' own step of cloth: system="active" (cloth/active_limits.py, bounded_tensions.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_cloth import PAPER_STEP, UNCONSTRAINED, gained

import taut
from taut import TautError
from taut.cloth.active_system import active_system, gather
from taut.cloth.bounded_tensions import solve_bounded
from taut.compiled import entry
from taut.result.dataset import elongations
from taut.scene import Scene, gallery

PAPER = {"limit_rule": "paper", "system": "active"}
TOLERANCE = 1e-3  # of a length, as the method states it


def hanging(n: int = 8, **options) -> Scene:
    scene = Scene()
    given = {"density": 0.2, "stiffness": 50, "shear": 5, "bending": 0.05, "damping": 1e-3, "limit": 0.1, **PAPER}
    scene.cloth(grid=(n, n), pins=[0, n - 1], **given | options)
    return scene


def spinning(**options) -> Scene:
    """A free sheet that turns fast about an axis across it: what flies apart comes to its limit."""
    scene = Scene(gravity=(0, 0, 0))
    scene.cloth(grid=(6, 6), origin=(-0.5, 0, -0.5), stiffness=5, limit=0.05, **PAPER | options)
    for name, body in scene._bodies.items():
        x, _, z = body.position
        scene._bodies[name] = replace(body, velocity=(0.3 + 12 * z, 0.1 + x * z, -12 * x))
    return scene


def longest(run: taut.Run) -> float:
    sheet = run.model.deformables[0]
    return float(elongations(run.records.x, sheet.limit_edges, sheet.limit_lengths)[0].max())


@pytest.mark.parametrize("dt", [PAPER_STEP, 10 * PAPER_STEP])
@pytest.mark.parametrize("rule", UNCONSTRAINED)
@pytest.mark.parametrize("density, limit_rule", [(0.2, "paper"), (5.0, "paper"), (5.0, "exact")])
def test_no_spring_is_longer_than_its_limit_after_any_step(density, limit_rule, rule, dt, simulate):
    scene = hanging(density=density, limit_rule=limit_rule)
    run = simulate(scene, "implicit_first", dt, 0.7, unconstrained=rule)
    assert run.status == "finished"
    assert longest(run) <= 0.1 + TOLERANCE, f"a spring is {longest(run):.5g} longer"
    held = run.data.limited_edges.values
    assert held[0] == 0 and held.max() > 5, "the number of active springs over time"


def test_a_smaller_tolerance_is_kept_too(simulate):
    run = simulate(hanging(), "implicit_first", PAPER_STEP, 0.5, tolerance=1e-6)
    assert longest(run) <= 0.1 + 1e-6, f"a spring is {longest(run) - 0.1:.3g} above its limit"


@pytest.mark.parametrize("dt", [0.01, 0.002])
@pytest.mark.parametrize("rule", UNCONSTRAINED)
def test_momentum_of_a_free_sheet_is_kept_where_its_springs_contradict_each_other(rule, dt, simulate):
    run = simulate(spinning(), "implicit_first", dt, 0.3, unconstrained=rule)
    assert longest(run) <= 0.05 + TOLERANCE, f"a spring is {longest(run):.5g} longer"
    assert int(run.data.limited_edges.max()) > 10, "hardly a limit acts"
    for name in ("momentum", "angular_momentum"):
        values = run.data[name].values
        off = np.abs(values - values[0]).max() / np.abs(values[0]).max()
        # Forces of the step before do not pull along springs as they lie now.
        allowed = 0.02 if (rule, name) == ("adams_bashforth", "angular_momentum") else 1e-12
        assert off < allowed, f"{name} is off by {off:.3g}"


def test_energy_does_not_grow(simulate):
    assert gained(simulate(hanging(10), "implicit_first", PAPER_STEP, 1.0)) < 1e-3


@pytest.mark.parametrize("limit_rule", ["paper", "exact"])
def test_what_acts_besides_springs_pulls_along_springs_at_their_limit(limit_rule, simulate):
    """KKT of one substep: M (v' - v)/h - f = -Jᵀ λ with λ ≥ 0 where a spring stays at its limit, 0 below it."""
    from scipy.optimize import nnls

    h = 1e-4  # shorter than a substep must be
    run = simulate(hanging(5, damping=0.0, limit_rule=limit_rule), "implicit_first", h, 0.3)
    model, sheet, x, v = run.model, run.model.deformables[0], run.records.x, run.records.v
    free = model.bodies.inverse_mass[: len(model.x), 0] > 0
    mass = np.where(free, 1 / np.where(free, model.bodies.inverse_mass[: len(model.x), 0], 1), 0)
    judged = 0
    for k in range(2000, len(x) - 1, 50):
        force = mass[:, None] * np.array([0, -9.81, 0])
        for s in sheet.springs.values():
            arm = x[k, s.i] - x[k, s.j]
            l = np.linalg.norm(arm, axis=1)
            pull = (s.k * (l - s.rest) / l)[:, None] * arm
            np.add.at(force, s.i, -pull)
            np.add.at(force, s.j, pull)
        rest = (mass[:, None] * (v[k + 1] - v[k]) / h - force)[free]
        i, j = sheet.limit_edges.T
        after = np.linalg.norm(x[k + 1, i] - x[k + 1, j], axis=1) / sheet.limit_lengths - 1
        at_limit = np.flatnonzero(after > 0.1 - TOLERANCE)
        J = np.zeros((len(at_limit), *x[k].shape))
        arm = x[k, i[at_limit]] - x[k, j[at_limit]]
        u = arm / np.linalg.norm(arm, axis=1)[:, None]
        J[np.arange(len(at_limit)), i[at_limit]], J[np.arange(len(at_limit)), j[at_limit]] = u, -u
        if len(at_limit):
            _, off = nnls(-J[:, free].reshape(len(at_limit), -1).T, rest.ravel())
            judged += 1
        else:
            off = np.linalg.norm(rest)
        assert off < 1e-6 * max(np.linalg.norm(rest), np.linalg.norm(force)), f"step {k}: {off:.3g} N is unexplained"
    assert judged > 5, "no limit acts"


@entry
def gather_and_solve(of, active, phi, u, tension):
    return solve_bounded(of, gather(of, active, u, of.settings.softness), phi, u, tension, 1.0)


@pytest.mark.parametrize("balls", [0, 1])
def test_bounded_tensions_are_those_of_least_squares_with_bounds(balls):
    """KKT of min ½ μᵀ B μ - φᵀ μ, μ ≥ low, against scipy, for a taut grid whose springs depend on each other."""
    from scipy.optimize import lsq_linear

    sheet = hanging(7).deformables["cloth"]
    random = np.random.default_rng(3)
    n = sheet.count + balls
    edges = np.concatenate([sheet.limit_edges, [[i, n - 1] for i in range(7 * balls)] or np.zeros((0, 2), int)])
    w = np.r_[random.uniform(1, 3, sheet.count), np.full(balls, 0.2)]
    u = random.normal(size=(len(edges), 3))
    u /= np.linalg.norm(u, axis=1)[:, None]
    of = active_system(edges, w, np.arange(sheet.count, n))
    phi, tension = random.normal(size=len(edges)), np.maximum(random.normal(size=len(edges)), 0.0)
    m, everything = len(edges), np.ones(len(edges), bool)
    J = np.zeros((m, n, 3))
    J[np.arange(m), edges[:, 0]], J[np.arange(m), edges[:, 1]] = u, -u
    A = (J * w[:, None]).reshape(m, -1) @ J.reshape(m, -1).T
    B = A + 0.02 * np.diag(np.diag(A))
    for _ in range(30):  # each call leaves a twentieth of the gradient
        gather_and_solve(of, everything, phi, u, tension)
        phi, tension = phi - B @ of.mu[:m], np.maximum(tension + of.mu[:m], 0)
    L = np.linalg.cholesky(B)
    best = lsq_linear(L.T, np.linalg.solve(L, phi + B @ tension), (0, np.inf), tol=1e-14).x
    off = np.abs(tension - best).max() / best.max()
    assert off < 1e-6, f"tensions are off by {off:.3g}"
    assert 0 < (best > 1e-9).sum() < m


def test_a_heavy_fine_sheet_comes_to_its_limits_without_halving_steps_for_ever(simulate):
    """Thousands of dependent springs at once, which as equalities contradict each other."""
    run = simulate(hanging(40, density=5.0), "implicit_first", 1 / 240, 0.4)
    assert run.status == "finished" and longest(run) <= 0.1 + TOLERANCE, run.message
    assert int(run.data.limited_edges.max()) > 400, "hardly a limit acts"
    solves = run.info["linear_solves"] / run.info["steps_done"]
    assert solves < 50, f"{solves:.1f} linear systems a step"


def test_its_motion_is_that_of_the_whole_system_to_first_order(simulate, slope):
    def at_end(system: str, dt: float) -> np.ndarray:
        scene = hanging(5, stiffness=5, shear=1, limit=0.02, system=system)
        return simulate(scene, "implicit_first", dt, 0.12, record_every=round(0.12 / dt)).records.x[-1]

    exact = at_end("nodes", 0.12 / 6144)
    steps = [0.12 / n for n in (96, 192, 384, 768)]
    errors = [np.abs(at_end("active", dt) - exact).max() for dt in steps]
    order = slope(steps, errors)
    assert order > 0.8 and errors[-1] < 1e-3, f"order {order:.2f}, errors {errors}"


@pytest.mark.parametrize("options, words", [
    ({"hard": "warp_weft"}, "cloth 'cloth': system is 'active', but it has 112 hard edges.*give hard=None and a limit"),
    ({"limit": 0.0}, "system is 'active', but it has 112 hard edges"),
    ({"limit": None}, "system is 'active', but it has no limit that could act; give one"),
    ({"system": "all"}, "system is 'all'; choose 'nodes', 'active' or 'auto'"),
])  # fmt: skip
def test_what_the_system_of_active_springs_can_not_hold_is_named(options, words):
    with pytest.raises(TautError, match=words):
        hanging(**options)


def test_scenes_beyond_limits_are_refused():
    mixed, joined, rough, folded = hanging(), hanging(), hanging(thickness=0.01), hanging(thickness=0.01)
    mixed.cloth(grid=(3, 3), origin=(0, 3, 0), name="other")
    joined.distance(joined.deformables["cloth"].node(20), (0, 0, 5))
    rough.contacts("cloth", [rough.obstacle("half_space", point=(0, -1, 0), normal=(0, 1, 0))], friction=0.3)
    folded.contacts("cloth", "cloth")
    refused = {"'other' has system 'nodes' and others 'active'": mixed, "constraint .* limits and contacts": joined,
               "it has friction, .*; set friction to 0": rough, "'cloth' may touch itself": folded}  # fmt: skip
    for words, scene in refused.items():
        with pytest.raises(TautError, match=words):
            taut.simulate(scene, method="implicit_first", dt=0.01, duration=0.1, progress=False)


@pytest.mark.parametrize("approach", ["position", "velocity"])
def test_limits_and_contacts_hold_while_a_heavy_ball_hits_the_sheet(approach, simulate):
    """Neither a spring passes its limit nor a node the ball's surface, and momentum goes from the ball to the sheet."""
    scene = Scene(gravity=(0, 0, 0))
    sheet = scene.cloth(grid=(9, 9), size=(2, 2), origin=(-1, 0, -1), stiffness=200, thickness=0.01, approach=approach,
                        **PAPER)  # fmt: skip
    scene.contacts([scene.particle((0.1, 0.4, 0.05), mass=2, velocity=(0, -5, 0), radius=0.3, name="ball")], sheet)
    run = simulate(scene, "implicit_first", PAPER_STEP, 0.3)
    assert longest(run) <= 0.1 + TOLERANCE, f"a spring is {longest(run):.5g} longer"
    deep = float(run.data.overlap.max()) / 0.25
    assert deep < 9e-4 and int(run.data.contact_count.max()) >= 4, f"a node is {deep:.3g} edges deep"
    p = run.data.momentum.values
    off = np.abs(p - p[0]).max() / np.abs(p[0]).max()
    assert off < 1e-9, f"momentum is off by {off:.3g}"
    assert int(run.data.limited_edges.max()) > 8, "hardly a limit acts"


def test_other_methods_take_the_scene_as_before(simulate):
    assert simulate(hanging(5), "provot", PAPER_STEP, 0.1).status == "finished"
    assert gallery("cloth_hang", n=4).deformables["cloth"].system == "nodes"
