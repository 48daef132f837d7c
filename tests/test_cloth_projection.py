"""Laws of fast projection on sheets: the matrices behind it, one linear system a step, momentum, nearness."""

from __future__ import annotations

import numpy as np
import pytest
from test_cloth import hard_sheets, irregular

from taut.analysis.bench.frames import FRAME, Frames
from taut.cloth.implicit_springs import DIRECT, ONE_FIXED, all_springs, place_springs, with_neighbours
from taut.cloth.length_projection import length_system
from taut.cloth.settings import DECLARED
from taut.model import build
from taut.model.arrays import LINEAR_SOLVES
from taut.scene import Scene, gallery

SOFT = DECLARED.defaults.projection.length_softness


def free_sheet(shape: str) -> Scene:
    scene = Scene(gravity=(0, 0, 0))
    vertices, triangles, _ = irregular(7, 0.1)
    given = {"grid": (8, 8), "hard": "warp_weft", "shear": 5} if shape == "grid" else {
        "vertices": vertices, "triangles": triangles, "hard": "edges"}  # fmt: skip
    scene.cloth(**given, density=0.2, stiffness=50, bending=0.05, damping=1e-3, limit=None)
    return scene


@pytest.mark.parametrize("sheet", hard_sheets())
def test_lengths_have_the_matrix_of_dense_products(sheet):
    model = build(hard_sheets()[sheet])
    w = model.bodies.inverse_mass[:, 0]
    edges = model.deformables[0].hard_edges.astype(np.int64)
    random = np.random.default_rng(0)
    u = random.normal(size=(len(edges), 3))
    J = np.zeros((len(edges), len(w), 3))
    J[np.arange(len(edges)), edges[:, 0]] = u
    J[np.arange(len(edges)), edges[:, 1]] = -u
    J = J.reshape(len(edges), -1)
    expected = (J * np.repeat(w, 3)) @ J.T
    expected[np.diag_indices(len(edges))] *= 1 + SOFT
    of = length_system(edges, np.ascontiguousarray(w), SOFT)
    found = np.zeros_like(expected)
    row = np.repeat(np.arange(len(edges)), np.diff(of.ptr.astype(int)))
    found[row, of.idx] = of.coupling * (u[row] * u[of.idx]).sum(axis=1)
    assert np.array_equal(of.idx[of.diag], np.arange(len(edges)))
    off = np.abs(found - expected).max() / np.abs(expected).max()
    assert off < 1e-14, off


@pytest.mark.parametrize("lean", [False, True])
@pytest.mark.parametrize("sheet", hard_sheets())
def test_springs_over_a_node_stand_in_the_matrix_as_an_upper_bound(sheet, lean):
    """Every spring is in it, and xᵀ(B - K)x ≥ 0 for what stands for K; equality for springs that are coupled."""
    model = build(hard_sheets()[sheet])
    free = model.bodies.inverse_mass[:, 0] > 0
    unknown = np.where(free, np.cumsum(free) - 1, -1)
    edges = model.deformables[0].hard_edges.astype(np.int64)
    node_pairs = unknown[edges][(unknown[edges] >= 0).all(axis=1)]
    if not lean:
        node_pairs = with_neighbours(model, unknown, node_pairs)
    inside, node_pair, outside = place_springs(model, unknown, node_pairs, edges, True)
    both_held = (~free[all_springs(model).i] & ~free[all_springs(model).j]).sum()
    assert len(outside.rest) == both_held, f"{len(outside.rest)} springs are left out"
    reaching = node_pair[:, 1] != DIRECT
    assert reaching.any()
    random = np.random.default_rng(1)
    moves = np.where(free[:, None], random.normal(size=(len(free), 3)), 0.0)
    u = random.normal(size=(len(inside.rest), 3))
    true = (u * (moves[inside.i] - moves[inside.j])).sum(axis=1) ** 2

    def of(node_pair: np.ndarray, alone: np.ndarray) -> np.ndarray:
        """(u·δ)² of a pair, or of the end that is alone."""
        at = moves[free]
        ends = node_pairs[np.maximum(node_pair, 0)]
        between = ((u * (at[ends[:, 0]] - at[ends[:, 1]])).sum(axis=1)) ** 2
        return np.where(node_pair >= 0, between, (u * moves[alone]).sum(axis=1) ** 2)

    bound = 2 * of(node_pair[:, 0], inside.i) + 2 * of(node_pair[:, 1], inside.j)
    assert (bound[reaching] >= true[reaching] * (1 - 1e-12)).all(), (bound / true)[reaching].min()
    direct = ~reaching & (node_pair[:, 0] > ONE_FIXED)
    assert np.allclose(of(node_pair[:, 0], inside.i)[direct], true[direct], rtol=1e-12)


@pytest.mark.parametrize("n", [12, 24])
def test_a_fast_projection_solves_one_system_of_nodes_a_step(n):
    """From the moment when the sheet has begun to move."""
    frames = Frames(gallery("cloth_hang", n=n), "fast_projection", 2, 1e-4)
    for _ in range(15):
        frames.frame()
    before = frames.session.system.work.counts[LINEAR_SOLVES]
    for _ in range(30):
        frames.frame()
    factors = frames.session.system.work.counts[LINEAR_SOLVES] - before
    assert 60 <= factors <= 63, f"{factors} factors in 60 steps"
    assert frames.elongation()[0] <= 1e-4


@pytest.mark.parametrize("shape", ["grid", "mesh"])
def test_momentum_of_a_free_sheet_is_kept(shape):
    frames = Frames(free_sheet(shape), "fast_projection", 1)
    session = frames.session
    mass = session.model.bodies.mass[:, 0]
    session.state.v[:] = np.random.default_rng(3).normal(size=session.state.v.shape) * 0.3
    start = (mass[:, None] * session.state.v).sum(axis=0)
    scale = (mass[:, None] * np.abs(session.state.v)).sum()
    for _ in range(30):
        assert frames.frame() > 0, "a step failed"
    off = np.abs((mass[:, None] * session.state.v).sum(axis=0) - start).max() / scale
    assert off < 1e-9, f"momentum is off by {off:.3g}"


def test_a_fast_projection_is_as_near_as_newtons_method_at_the_same_step():
    """Against a step of 1/1920 s: what one linear solution leaves is small beside the error of the step."""

    def moved(method: str, steps: int) -> np.ndarray:
        frames = Frames(gallery("cloth_hang", n=14), method, steps)
        for _ in range(round(0.6 / FRAME)):
            frames.frame()
        return frames.session.state.x

    exact = moved("implicit_first", 32)
    for steps in (1, 4):
        errors = [float(np.sqrt(((moved(method, steps) - exact) ** 2).sum(axis=1).mean())) for method in
                  ("fast_projection", "implicit_first")]  # fmt: skip
        assert errors[0] < 1.1 * errors[1], f"{steps} steps a frame: {errors} m"
