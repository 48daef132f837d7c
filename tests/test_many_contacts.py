"""Many contacts: the grid finds every near pair, the projected solver every impulse, and physics is kept."""

import numpy as np
import pytest
from scipy.optimize import nnls

from taut.contact import projected_gauss_seidel
from taut.contact.projected_gauss_seidel import sweep_work
from taut.contact.rows import contact_rows
from taut.geometry.ball_pairs import carry, grid_work, near_pairs, needs_rebuild

G = 9.81


def among_all(n):
    return np.ones((n, 2), np.int64)


def found(x, member, radius, group, reach):
    pairs = np.zeros((max(1, len(member) ** 2), 2), np.int64)
    count = near_pairs(x, member, radius, group, reach, grid_work(len(member)), pairs)
    return pairs[:count]


def all_pairs(x, member, radius, group, reach):
    """The same by looking at every pair."""
    p = x[member]
    near = radius[:, None] + radius + reach
    meet = (group[:, None, 0] & group[:, 1]) | (group[:, None, 1] & group[:, 0])
    wanted = (((p[:, None] - p) ** 2).sum(2) < near**2) & (near > 0.0) & (meet != 0)
    return np.argwhere(np.triu(wanted, 1))


@pytest.mark.parametrize("decades", [0.1, 3.0, 7.0])
@pytest.mark.parametrize("reach", [0.0, 0.1, -0.05])
@pytest.mark.parametrize("origin", [0.0, -1000.0, 1e5])
def test_grid_finds_the_pairs_that_a_look_at_every_pair_finds(decades, reach, origin):
    rng = np.random.default_rng(1)
    seen = 0
    for trial in range(20):
        n = int(rng.integers(1, 120))
        x = origin + rng.normal(size=(2 * n, 3)) * rng.choice([0.1, 1.0, 10.0])
        x = np.round(x) if trial % 4 == 0 else x  # points that coincide, and that lie on borders of cells
        member = rng.permutation(2 * n)[:n]
        radius = 0.3 * 10.0 ** rng.uniform(-decades, 0.0, n)
        group = rng.integers(0, 4, (n, 2))
        got, wanted = (pairs(x, member, radius, group, reach) for pairs in (found, all_pairs))
        assert np.array_equal(got, wanted), f"trial {trial}: {len(got)} pairs, {len(wanted)} wanted, or another order"
        seen += len(wanted)
    assert seen > 100, f"only {seen} pairs in all: the trials say nothing"


def test_groups_say_who_meets():
    x = np.zeros((5, 3))
    radius = np.ones(5)
    inside, first, second = (1, 1), (2, 0), (0, 2)
    group = np.array([inside, inside, first, second, second])
    got = found(x, np.arange(5), radius, group, 0.0).tolist()
    assert got == [[0, 1], [2, 3], [2, 4]], got


def test_too_little_room_is_told_by_the_count():
    rng = np.random.default_rng(2)
    x = rng.uniform(0.0, 3.0, (200, 3))
    radius = np.full(200, 0.2)
    few = np.zeros((5, 2), np.int64)
    count = near_pairs(x, np.arange(200), radius, among_all(200), 0.0, grid_work(200), few)
    wanted = len(all_pairs(x, np.arange(200), radius, among_all(200), 0.0))
    assert count == wanted > 5, f"{count} pairs told, {wanted} there"


def test_points_that_are_not_finite_meet_nobody():
    x = np.array([[0.0, 0.0, 0.0], [np.nan, 0.0, 0.0], [np.inf, 0.0, 0.0], [0.1, 0.0, 0.0]])
    got = found(x, np.arange(4), np.ones(4), among_all(4), 0.0).tolist()
    assert got == [[0, 3]], got


def test_list_with_skin_lacks_no_pair_until_it_needs_a_rebuild():
    rng = np.random.default_rng(3)
    n, skin = 150, 0.1
    member, radius = np.arange(n), np.full(n, 0.1)
    x = rng.uniform(0.0, 1.5, (n, 3))
    built, old = x.copy(), {tuple(pair) for pair in found(x, member, radius, among_all(n), skin)}
    steps = 0
    while not needs_rebuild(x, built, member, skin):
        now = {tuple(pair) for pair in found(x, member, radius, among_all(n), 0.0)}
        assert now <= old, f"step {steps}: {sorted(now - old)} not in the list"
        x = x + rng.normal(size=x.shape) * 0.004
        steps += 1
    moved = np.linalg.norm(x - built, axis=1).max()
    assert steps > 1 and moved > skin / 2, f"rebuild after {steps} steps, {moved} m"


def test_pairs_that_persist_keep_their_multipliers():
    rng = np.random.default_rng(4)
    keys = np.array([(i, j) for i in range(12) for j in range(i + 1, 12)])
    old, new = (keys[np.sort(rng.permutation(len(keys))[:30])] for _ in range(2))
    old_lam, new_lam = rng.normal(size=(30, 3)), np.full((30, 3), np.nan)
    carry(old, 30, old_lam, new, 30, new_lam)
    known = {tuple(pair): lam for pair, lam in zip(old, old_lam)}
    wanted = np.array([known.get(tuple(pair), np.zeros(3)) for pair in new])
    assert np.array_equal(new_lam, wanted), np.abs(new_lam - wanted).max()
    assert np.any(wanted != 0.0) and np.any(wanted == 0.0)


# The solver


def set_row(cand, r, slots, signs, normal, mu=0.0, b=0.0, soft=0.0):
    """Row r, the next one, on one slot or on two."""
    frame = np.linalg.qr(np.column_stack([normal, np.eye(3)[np.argsort(np.abs(normal))[:2]].T]))[0].T
    k = cand.ptr[r]
    for slot, sign in zip(slots, signs):
        cand.slot[k], cand.J[k], cand.T1[k], cand.T2[k] = slot, sign * normal, sign * frame[1], sign * frame[2]
        k += 1
    cand.ptr[r + 1], cand.mu[r], cand.b[r], cand.compliance[r] = k, mu, b, soft


def random_contacts(seed, mu=0.0, walls=0.3):
    """Bodies of random masses, contacts between random pairs and with walls. -> candidates, weight, v"""
    rng = np.random.default_rng(seed)
    bodies, rows = int(rng.integers(3, 25)), int(rng.integers(2, 60))
    cand = contact_rows(rows, 2 * rows)
    for r in range(rows):
        i, j = rng.choice(bodies, 2, replace=False)
        normal = rng.normal(size=3)
        both = rng.uniform() >= walls
        set_row(cand, r, (i, j) if both else (i,), (1.0, -1.0), normal / np.linalg.norm(normal), mu)
    return cand, np.repeat(rng.uniform(0.2, 2.0, (bodies, 1)), 3, 1), rng.normal(size=(bodies, 3))


def project(cand, rows, weight, v, tolerance, most):
    work = sweep_work(len(cand.b), len(v))
    return projected_gauss_seidel.solve_by_sweeps(cand, work, rows, weight, v, tolerance, most)


def dense(cand, B, rows, slots):
    out = np.zeros((rows, slots, 3))
    for r in range(rows):
        for k in range(cand.ptr[r], cand.ptr[r + 1]):
            out[r, cand.slot[k]] += B[k]
    return out.reshape(rows, -1)


def nearest_allowed(J, b, weight, v):
    """v' with J v' + b >= 0 nearest to v in kinetic energy: Lawson and Hanson's least distance by NNLS."""
    root = np.sqrt(weight).ravel()
    E = np.vstack([(J * root).T, -(b + J @ v.ravel())])
    y, _ = nnls(E, np.r_[np.zeros(len(root)), 1.0], maxiter=20 * len(b))
    r = E @ y - np.r_[np.zeros(len(root)), 1.0]
    return v + (-r[:-1] / r[-1] * root).reshape(v.shape)


def energy(weight, v):
    return 0.5 * (v**2 / weight).sum()


@pytest.mark.parametrize("seed", range(20))
def test_random_contacts_agree_with_a_dense_solution(seed):
    cand, weight, v = random_contacts(seed)
    rows = len(cand.b)
    J = dense(cand, cand.J, rows, len(v))
    cand.b[:] = J @ np.random.default_rng(seed).normal(size=J.shape[1])  # some velocity fulfils all: b is not absurd
    wanted = nearest_allowed(J, cand.b, weight, v)
    got = v.copy()
    sweeps = project(cand, rows, weight, got, 1e-11, 20000)
    assert sweeps <= 20000, "no convergence"
    error = np.abs(got - wanted).max()
    assert error < 1e-7, f"velocities differ by {error} m/s"
    by_lam = v + weight * (J.T @ cand.lam[:, 0]).reshape(v.shape)
    assert np.abs(by_lam - got).max() < 1e-10, "v' is not v + W Jᵀ λ"


def test_contacts_between_bodies_conserve_momentum():
    for seed in range(10):
        cand, weight, v = random_contacts(seed, mu=0.3, walls=0.0)
        before = (v / weight).sum(0)
        project(cand, len(cand.b), weight, v, 1e-9, 500)
        change = np.abs((v / weight).sum(0) - before).max()
        assert change < 1e-12, f"seed {seed}: momentum changed by {change} N s"


@pytest.mark.parametrize("most", [1, 9, 30, 5000])
def test_energy_never_grows_however_soon_the_solver_is_stopped(most):
    for seed in range(20):
        cand, weight, v = random_contacts(seed)
        cand.lam[:, 0] = np.random.default_rng(seed).exponential(3.0, len(cand.b))  # a start that is all wrong
        before = energy(weight, v)
        project(cand, len(cand.b), weight, v, 1e-10, most)
        gain = energy(weight, v) / before - 1.0
        assert gain <= 1e-12, f"seed {seed}: energy grew by {gain}"
        assert cand.lam[:, 0].min() >= 0.0, f"seed {seed}: an impulse pulls"


@pytest.mark.parametrize("mu", [0.1, 0.5, 1.0])
def test_friction_stays_in_its_cone_and_dissipates(mu):
    for seed in range(15):
        cand, weight, v = random_contacts(seed, mu)
        rows, before = len(cand.b), energy(weight, v)
        sweeps = project(cand, rows, weight, v, 1e-8, 20000)
        assert sweeps <= 20000, f"seed {seed}: no convergence"
        assert energy(weight, v) <= before * (1.0 + 1e-9), f"seed {seed}: {energy(weight, v)} J after {before} J"
        tangent = np.hypot(cand.lam[:, 1], cand.lam[:, 2])
        excess = (tangent - mu * cand.lam[:, 0]).max()
        assert excess < 1e-12, f"seed {seed}: λ_t above its limit by {excess}"
        slip = [dense(cand, T, rows, len(v)) @ v.ravel() for T in (cand.T1, cand.T2)]
        power = cand.lam[:, 1] * slip[0] + cand.lam[:, 2] * slip[1]
        assert power.max() < 1e-6, f"seed {seed}: friction drives with {power.max()}"


@pytest.mark.parametrize(("mu", "kept"), [(0.0, 1.0), (0.2, 1.0 - 0.2 * 0.5), (3.0, 0.0)])
def test_block_on_a_floor_slips_and_sticks_as_coulomb_says(mu, kept):
    cand = contact_rows(1, 1)
    set_row(cand, 0, (0,), (1.0,), np.array([0.0, 1.0, 0.0]), mu)
    v = np.array([[0.6, -0.5, 0.8]])  # 1 m/s along the floor, 0.5 m/s down
    project(cand, 1, np.full((1, 3), 2.0), v, 1e-12, 100)
    wanted = [[0.6 * kept, 0.0, 0.8 * kept]]
    assert np.abs(v - wanted).max() < 1e-12, f"{v} instead of {wanted}"


def stack(n):
    """n balls of 1 kg above each other on a floor, one step of gravity. -> candidates, weight, v"""
    cand = contact_rows(n, 2 * n)
    for r in range(n):
        set_row(cand, r, (r, r - 1) if r else (r,), (1.0, -1.0), np.array([0.0, 1.0, 0.0]))
    v = np.zeros((n, 3))
    v[:, 1] = -G * 0.01
    return cand, np.ones((n, 3)), v


def test_stack_of_30_balls_converges_in_few_sweeps():
    cand, weight, v = stack(30)
    sweeps = project(cand, 30, weight, v, 1e-9, 1000)
    assert sweeps <= 80, f"{sweeps} sweeps"
    error = np.abs(cand.lam[:, 0] - G * 0.01 * np.arange(30, 0, -1)).max()
    assert error < 1e-7, f"impulses differ from the weight above by {error} N s"
    v[:] = 0.0
    v[:, 1] = -G * 0.01
    again = project(cand, 30, weight, v, 1e-9, 1000)
    assert again == 1, f"{again} sweeps from the solution"


def test_soft_contact_yields_by_its_softness():
    cand = contact_rows(1, 1)
    set_row(cand, 0, (0,), (1.0,), np.array([0.0, 1.0, 0.0]), b=-0.2, soft=0.5)
    v = np.array([[0.0, -1.0, 0.0]])
    project(cand, 1, np.full((1, 3), 2.0), v, 1e-13, 100)
    lam = 1.2 / 2.5
    assert abs(cand.lam[0, 0] - lam) < 1e-12 and abs(v[0, 1] - (-1.0 + 2.0 * lam)) < 1e-12, (cand.lam, v)


def test_what_can_not_be_reached_is_told():
    cand = contact_rows(2, 2)
    for r, sign in enumerate((1.0, -1.0)):  # two walls that squeeze one body
        set_row(cand, r, (0,), (sign,), np.array([1.0, 0.0, 0.0]), b=-1.0)
    v = np.zeros((1, 3))
    sweeps = project(cand, 2, np.ones((1, 3)), v, 1e-9, 50)
    assert sweeps > 50 and np.isfinite(cand.lam).all() and np.isfinite(v).all(), (sweeps, cand.lam, v)


def test_contact_of_what_can_not_move_has_no_impulse():
    cand = contact_rows(1, 1)
    set_row(cand, 0, (0,), (1.0,), np.array([0.0, 1.0, 0.0]), mu=0.5, b=-1.0)
    v = np.array([[0.0, -1.0, 0.0]])
    sweeps = project(cand, 1, np.zeros((1, 3)), v, 1e-9, 50)
    assert sweeps == 1 and not cand.lam.any() and v[0, 1] == -1.0, (sweeps, cand.lam, v)


# A pile


def pile_rows(cand, x, radius, box, h, pairs, soft):
    """Balls among each other, then each with the floor and four walls."""
    n, i, j = len(x), pairs[:, 0], pairs[:, 1]
    apart = x[i] - x[j]
    length = np.linalg.norm(apart, axis=1)
    walls = [(1, 1.0, 0.0), (0, 1.0, 0.0), (0, -1.0, box), (2, 1.0, 0.0), (2, -1.0, box)]
    gap = [length - radius[i] - radius[j]] + [sign * x[:, axis] - radius + at for axis, sign, at in walls]
    two, rows = 2 * len(pairs), len(pairs) + 5 * n
    cand.ptr[: rows + 1] = np.r_[np.arange(0, two, 2), two + np.arange(5 * n + 1)]
    cand.slot[:two] = pairs.ravel()
    cand.J[0:two:2] = apart / length[:, None]
    cand.J[1:two:2] = -cand.J[0:two:2]
    for k, (axis, sign, _) in enumerate(walls):
        place = slice(two + k * n, two + (k + 1) * n)
        cand.slot[place] = np.arange(n)
        cand.J[place] = sign * np.eye(3)[axis]
    cand.b[:rows] = np.concatenate(gap) / h
    cand.compliance[:rows] = soft
    return rows


def settle(steps, soft=0.0, tolerance=1e-5, most=1500, n=200, h=0.01):
    """Drop n balls into a box. -> candidates, rows, weight, v before the last projection, x, box, all speeds"""
    rng = np.random.default_rng(5)
    radius = 0.05 * rng.uniform(0.9, 1.1, n)
    grid = np.arange(n)
    x = (np.column_stack([grid % 5, grid // 25, grid // 5 % 5]) + 0.5) * 0.11 + rng.uniform(-0.002, 0.002, (n, 3))
    v, weight = np.zeros((n, 3)), np.repeat((0.05 / radius[:, None]) ** 3, 3, 1)
    cand, work, member = contact_rows(40 * n, 60 * n), grid_work(n), np.arange(n)
    pairs, old = np.zeros((20 * n, 2), np.int64), np.zeros((20 * n, 2), np.int64)
    count, old_count, speeds, sweeps = 0, 0, [], []
    for _ in range(steps):
        old[:], old_count, old_lam = pairs, count, cand.lam.copy()
        v[:, 1] -= G * h
        reach = 0.01 + 2.0 * h * np.linalg.norm(v, axis=1).max()  # who could meet within the step
        count = near_pairs(x, member, radius, among_all(n), reach, work, pairs)
        assert count <= len(pairs)
        carry(old, old_count, old_lam, pairs, count, cand.lam)
        cand.lam[count : count + 5 * n] = old_lam[old_count : old_count + 5 * n]
        rows = pile_rows(cand, x, radius, 0.55, h, pairs[:count], soft)
        before = v.copy()
        sweeps.append(project(cand, rows, weight, v, tolerance, most))
        x += h * v
        speeds.append(np.linalg.norm(v, axis=1).max())
    return cand, rows, weight, before, v, x, np.array(speeds), sweeps


def test_pile_agrees_with_a_dense_solution():
    cand, rows, weight, before, *_ = settle(40)
    near = np.flatnonzero(cand.b[:rows] < 2.0)
    J = dense(cand, cand.J, rows, len(before))
    wanted = nearest_allowed(J[near], cand.b[near], weight, before)
    assert (J @ wanted.ravel() + cand.b[:rows]).min() > -1e-8, "the dense solution left out a row that counts"
    got = before.copy()
    cand.lam[:] = 0.0
    sweeps = project(cand, rows, weight, got, 1e-10, 20000)
    error = np.abs(got - wanted).max()
    assert sweeps <= 20000 and error < 1e-7, f"{sweeps} sweeps, velocities differ by {error} m/s"


def test_pile_comes_to_rest_and_its_floor_and_walls_carry_it():
    cand, rows, weight, _, v, x, speeds, sweeps = settle(600, soft=1e-3, tolerance=2e-6, most=400)
    assert speeds[-100:].max() < 1e-3, f"{speeds[-100:].max()} m/s at rest"
    assert np.mean(sweeps[-100:]) < 100, f"{np.mean(sweeps[-100:])} sweeps per step at rest"
    floor = cand.lam[rows - 5 * len(v) : rows - 4 * len(v), 0].sum()
    carried = floor / (G * 0.01 / weight[:, 0]).sum()
    assert abs(carried - 1.0) < 1e-3, f"the floor carries {carried} of the weight"


def test_same_input_gives_the_same_bits():
    first, second = (settle(60, most=200)[4:7] for _ in range(2))
    assert all(np.array_equal(a, b) for a, b in zip(first, second))
