"""Friction of cloth: who sticks, who slips, and how soon that is known."""

from __future__ import annotations

import numpy as np
import pytest

import taut
from taut.cloth.contact_rows import contact_rows
from taut.cloth.friction import update_row_friction
from taut.cloth.settings import DECLARED
from taut.compiled import entry

STEP = 1 / 240
SETTINGS = DECLARED.defaults.contacts
CREEP = SETTINGS.creep_speed
COEFFICIENT = 0.3


@entry
def rubbed(rows, x, before, h, c, it, settings):
    update_row_friction(rows, rows.phi.shape[0], x, before, h, c, it, settings)


def one_row(push: float):
    rows = contact_rows(1)
    rows.slot[0, 0], rows.weight[0, 0] = 0, 1.0
    rows.n[0] = 0.0, 1.0, 0.0
    rows.friction[0], rows.lam_frozen[0] = COEFFICIENT, push
    return rows


def slide(rows, firm: float, wish: np.ndarray, start: np.ndarray, c: float, most: int) -> tuple[np.ndarray, int]:
    """firm (s - wish) = f for one node by iterations of friction.py. Returns s and how many it took."""
    before, s = np.zeros((1, 3)), start.copy()
    for it in range(most):
        if it == 0:
            rubbed(rows, s[None], before, STEP, 0.0, it, SETTINGS)
        rubbed(rows, s[None], before, STEP, c, it, SETTINGS)
        d, along, f = rows.slip_direction[0], rows.tangent_stiffness[0], rows.friction_force[0]
        stiff = along * (np.diag([1.0, 0.0, 1.0]) - np.outer(d, d))
        step = np.linalg.solve(firm * np.eye(3) + stiff, f - firm * (s - wish))
        rows.friction_force[0] -= stiff @ step
        s = s + step
        if np.abs(step).max() < 1e-12 * np.abs(wish).max():
            return s, it + 1
    return s, most


@pytest.mark.parametrize("share", [0.01, 0.5, 0.99, 1.01, 2.0, 100.0])
@pytest.mark.parametrize("start", [(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0.3, 0, -2)], ids=str)
@pytest.mark.parametrize("weight", [1.0, 50.0])
def test_a_node_is_where_coulombs_law_has_it_after_a_few_iterations(share, start, weight):
    """A node that would slide by `wish`, `share` of what friction can stop: the creep of (1), or wish less μ λ/firm."""
    c = 0.01 / STEP**2
    firm, push = weight * c, 2.0
    hold = COEFFICIENT * push
    along = np.array([0.6, 0.0, 0.8])
    wish = share * hold / firm * along
    s, taken = slide(one_row(push), firm, wish, np.linalg.norm(wish) * np.array(start, float), c, 60)
    creeping = firm * wish / (firm + hold / (CREEP * STEP))
    expected = creeping if np.linalg.norm(creeping) <= CREEP * STEP else wish - hold / firm * along
    assert np.abs(s - expected).max() < 1e-9 * np.abs(wish).max(), f"{s} instead of {expected}"
    assert taken <= 12, f"{taken} iterations"


def test_friction_adds_few_iterations_to_a_sheet_that_folds():
    """Friction by τ = μ λ/|s| alone came near in ever smaller steps: 27 and 68 iterations a step here."""
    taken = [
        run.info["corrections"] / run.info["steps"]
        for run in (
            taut.simulate(taut.gallery("cloth_fold", n=16, friction=friction), dt=STEP, duration=0.75, progress=False)
            for friction in (0.0, 0.3, 1.0)
        )
    ]
    assert max(taken) < 1.6 * taken[0], f"{taken} iterations a step without, with and with much friction"


@pytest.mark.parametrize("dt", [1 / 240, 1 / 60])
@pytest.mark.parametrize("mass", [0.3, 3.0])
def test_a_heavy_ball_that_presses_cloth_on_a_rough_floor_comes_to_rest(mass, dt, simulate):
    """Its push is thousands of times the weight of a node, on both of whose sides there is friction."""
    scene, thickness = taut.Scene(), 0.02
    sheet = scene.cloth(grid=(8, 8), size=(0.6, 0.6), origin=(-0.3, 0, -0.3), density=0.2, stiffness=50, damping=1e-3,
                        thickness=thickness)  # fmt: skip
    ball = scene.particle((0, 0.4, 0), mass=mass, radius=0.2, name="ball")
    floor = scene.obstacle("half_space", point=(0, -0.012, 0), normal=(0, 1, 0), name="floor")
    scene.contacts([ball], sheet, friction=0.3)
    scene.contacts([sheet, ball], [floor], friction=0.3)
    run = simulate(scene, "implicit_first", dt, 0.6)
    overlap = float(run.records.contacts[:, 1].max())
    assert overlap < 1e-3 * 0.6 / 7, f"{overlap:.3g} m inside"
    speed = np.linalg.norm(run.data.velocity.sel(body="ball").values[-1])
    assert speed < 1e-3, f"the ball still moves at {speed:.3g} m/s"
    push = float(run.data.contact_force.sel(body="ball").values[-1, 1])
    assert abs(push - 9.81 * mass) < 0.01 * 9.81 * mass, f"{push:.4g} N bear {9.81 * mass:.4g} N"
