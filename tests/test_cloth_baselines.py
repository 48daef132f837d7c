"""Laws of springs and of the four baselines for cloth: explicit, Provot's, implicit, XPBD."""

import itertools

import numpy as np
import pytest

from taut.cloth.baselines.explicit import ADAMS_BASHFORTH, EULER, explicit, step_explicit
from taut.cloth.baselines.implicit_solve import implicit, step_implicit
from taut.cloth.baselines.provot import provot, step_provot
from taut.cloth.baselines.xpbd import step_xpbd, xpbd
from taut.errors import TautError
from taut.forces.spring_law import Springs, elongations, in_colours, joined, spring_energy, springs
from taut.geometry import grid, shear, structural


def hung(n, k=200.0, damping=0.0, k2=0.0, elongation2=np.inf):
    """A sheet of one metre and 0.2 kg, two corners pinned: x, v, w, weight, springs."""
    mesh = grid(n, n)
    mass = mesh.masses(0.2)
    w = 1.0 / mass
    w[[0, n - 1]] = 0.0
    weight = np.zeros((n * n, 3))
    weight[:, 1] = -9.81 * mass
    x = mesh.vertices.copy()
    pairs = np.concatenate([structural(mesh), shear(mesh)])
    return x, np.zeros_like(x), w, weight, springs(pairs, x, k, damping, k2, elongation2)


def stretch(s, x):
    out = np.zeros(s.rest.size)
    elongations(s, x, out)
    return out


def test_spring_force_is_the_gradient_of_its_energy_in_both_phases():
    x, v, _, _, s = hung(3, 50.0, 0.0, 900.0, 0.1)
    x = x + 0.2 * np.random.default_rng(0).standard_normal(x.shape)
    assert (stretch(s, x) > 0.1).any() and (stretch(s, x) < 0).any()
    f = np.zeros_like(x)
    spring_energy(s, x, v, f)
    for node, c in itertools.product(range(len(x)), range(3)):
        moved = [x.copy(), x.copy()]
        for sign, y in zip((1, -1), moved):
            y[node, c] += sign * 1e-6
        slope = (spring_energy(s, moved[0], v, f.copy()) - spring_energy(s, moved[1], v, f.copy())) / 2e-6
        assert -slope == pytest.approx(f[node, c], abs=1e-5), f"node {node}, component {c}"


@pytest.mark.parametrize("rule", [EULER, ADAMS_BASHFORTH])
def test_explicit_steps_converge_with_order_one(rule, slope):
    """Also Adams-Bashforth as the paper has it: x' = x + h v' is of order one, whatever v is."""
    steps, errors = [40, 80, 160, 320], []
    for count in [*steps, 20000]:
        x, v, w, weight, s = hung(4, 20.0, 0.02)
        work = explicit(len(x))
        for _ in range(count):
            step_explicit(work, s, x, v, w, weight, 0.1 / count, rule, 1)
        errors.append(x.copy())
    errors = [np.abs(e - errors[-1]).max() for e in errors[:-1]]
    fitted = -slope(steps, errors)
    assert 0.9 < fitted < 1.3, f"fitted order {fitted:.2f}"


def test_provot_holds_the_limit_and_pins():
    x, v, w, weight, s = hung(8, 3.0, 0.02)
    work, pinned = provot(len(x)), x[[0, 7]].copy()
    for _ in range(200):
        step_provot(work, s, x, v, w, weight, 0.005, 1, 0.1, 200)
    loose, _, _, _, s_loose = hung(8, 3.0, 0.02)
    free_v, free_work = np.zeros_like(loose), explicit(len(loose))
    for _ in range(200):
        step_explicit(free_work, s_loose, loose, free_v, w, weight, 0.005, EULER, 1)
    assert stretch(s, x).max() < 0.102, f"largest elongation {stretch(s, x).max():.4f}"
    assert stretch(s, loose).max() > 0.2, f"without the correction only {stretch(s, loose).max():.4f}"
    assert (x[[0, 7]] == pinned).all(), "a pinned node moved"


@pytest.mark.parametrize("name", ["implicit", "xpbd"])
def test_methods_agree_where_the_sheet_hangs_still(name):
    """Speed is taken away until nothing moves; a method's own damping and order no longer matter then."""
    x, v, w, weight, s = hung(6, 100.0, 0.02, 400.0, 0.02)
    e = explicit(len(x))
    for _ in range(700):
        step_explicit(e, s, x, v, w, weight, 0.01, EULER, 10)
        v *= 0.97
    assert (stretch(s, x) > 0.02).any(), "the second phase is not reached"
    y = x.copy()
    g, p = implicit(s.rest.size, len(x)), xpbd(s, len(x))
    for _ in range(100):
        if name == "implicit":
            step_implicit(g, s, y, v, w, weight, 0.01, 1e-10, 500)
        else:
            step_xpbd(p, s, y, v, w, weight, 0.01, 4, 100)
        v *= 0.97
    apart = np.abs(x - y).max()
    assert apart < 2e-4, f"{name} leaves the rest of the explicit method by {apart:.2e} m"


def test_xpbd_converges_to_rods_and_its_multipliers_carry_the_weight():
    x = np.array([[0.0, 0, 0], [0, -1, 0], [0, -2, 0]])
    s = springs(np.array([[0, 1], [1, 2]]), x, np.inf)
    v, w = np.zeros_like(x), np.array([0.0, 0.5, 0.25])
    weight = np.array([[0.0, 0, 0], [0, -20, 0], [0, -40, 0]])
    work = xpbd(s, 3)
    for _ in range(20):
        step_xpbd(work, s, x, v, w, weight, 0.01, 1, 200)
    assert np.abs(stretch(s, x)).max() < 1e-10, f"elongation {stretch(s, x)}"
    assert work.lam / 0.01**2 == pytest.approx([-60.0, -40.0]), "force = -λ/h² is the weight below"


def test_xpbd_limit_pulls_but_never_pushes():
    x = np.array([[0.0, 0, 0], [0.5, 0, 0]])
    for start, v0, longest in ((0.5, -1.0, 0.5), (1.0, 3.0, 1.1)):
        x[1, 0] = start
        s = springs(np.array([[0, 1]]), x, 1e-9, 0.0, np.inf, 0.1, rest=np.array([1.0]))
        y, v, w = x.copy(), np.array([[0.0, 0, 0], [v0, 0, 0]]), np.array([0.0, 1.0])
        work = xpbd(s, 2)
        step_xpbd(work, s, y, v, w, np.zeros((2, 3)), 0.1, 1, 5)
        free = start + 0.1 * v0
        assert y[1, 0] == pytest.approx(min(free, longest)), f"from {start} with {v0} m/s to {y[1, 0]}"


def test_implicit_step_solves_its_linear_system_and_stays_stable():
    x, v, w, weight, s = hung(5, 1e5, 1.0, 3e5, 0.02)
    rng = np.random.default_rng(2)
    x += 0.01 * rng.standard_normal(x.shape)
    v += 0.1 * rng.standard_normal(x.shape)
    v[w == 0] = 0.0
    h, y, u = 0.02, x.copy(), v.copy()
    step_implicit(implicit(s.rest.size, len(x)), s, y, u, w, weight, h, 1e-12, 1000)
    assert u - v == pytest.approx(dense_implicit(s, x, v, w, weight, h), abs=1e-7)
    work = implicit(s.rest.size, len(x))
    for _ in range(100):
        step_implicit(work, s, y, u, w, weight, h, 1e-6, 1000)
    energy = 0.5 * (u[w > 0] ** 2).sum(axis=1) @ (1 / w[w > 0])
    assert energy < 0.5, f"kinetic energy {energy:.3g} J"


def test_contacts_of_an_implicit_step_push_and_never_pull():
    """A floor under some nodes and a ball on others: the dense system with those that push, and nobody else inside."""
    x, v, w, weight, s = hung(5, 1e3, 0.1)
    n, h, least = len(x) + 1, 0.01, 1e-9
    x, v = np.vstack([x, [[9.0, 0, 0]]]), np.vstack([v, [[0, -2.0, 0]]])
    w, weight = np.append(w, 0.5), np.vstack([weight, [[0, -19.62, 0]]])
    rng = np.random.default_rng(4)
    slots = np.array([[i, -1] for i in range(25)] + [[i, 25] for i in (6, 7, 8, 12)] + [[0, -1]])
    work = implicit(s.rest.size, n, slots, least)
    touch = work.touch
    touch.n[:25], touch.n[25:] = (0, 1, 0), rng.standard_normal((5, 3)) * 0.1 - [0, 1, 0]
    touch.n[:] /= np.linalg.norm(touch.n, axis=1)[:, None]
    gap = np.where(np.arange(30) < 25, rng.uniform(-1e-3, 3e-3, 30), rng.uniform(0, 0.01, 30))
    relative = v[slots[:, 0]] - np.where(slots[:, 1:] >= 0, v[slots[:, 1]], 0.0)
    touch.ahead[:] = gap / h + (touch.n * relative).sum(axis=1)
    y, u = x.copy(), v.copy()
    step_implicit(work, s, y, u, w, weight, h, 1e-13, 5000)
    assert u - v == pytest.approx(dense_implicit(s, x, v, w, weight, h, touch), abs=1e-8)
    on, movable = touch.firm > 0, (w[slots[:, 0]] > 0) | (slots[:, 1] >= 0)
    assert 3 < on.sum() < 27 and (touch.after[on] < 0).all(), f"{on.sum()} push, by {touch.after[on]}"
    assert (h * touch.after[~on & movable] > -least).all(), f"not pushed: {touch.after[~on & movable]}"


def dense_implicit(s, x, v, w, weight, h, touch=None):
    """Δv from the dense matrix of implicit.py (1) and (3), with those contacts of (4) that push."""
    n = len(x)
    K, D, f = np.zeros((n, 3, n, 3)), np.zeros((n, 3, n, 3)), weight.copy()
    spring_energy(s, x, v, f)
    for i, j, rest, k, c, k2, e2 in zip(*s):
        d = x[i] - x[j]
        l = np.linalg.norm(d)
        uu = np.outer(d, d) / l**2
        over = max(0.0, l - (1 + e2) * rest)
        T = k * (l - rest) + (k2 - k) * over
        S = (k2 if over > 0 else k) * uu + max(0.0, T / l) * (np.eye(3) - uu)
        for a, b in ((i, j), (j, i)):
            K[a, :, a], K[a, :, b] = K[a, :, a] - S, K[a, :, b] + S
            D[a, :, a], D[a, :, b] = D[a, :, a] - c * uu, D[a, :, b] + c * uu
    free = np.flatnonzero(np.repeat(w > 0, 3))
    K, D = K.reshape(3 * n, 3 * n), D.reshape(3 * n, 3 * n)
    M = np.diag(np.repeat(np.divide(1.0, w, out=np.zeros_like(w), where=w > 0), 3))
    b = h * (f.ravel() + h * K @ v.ravel())
    A = M - h * D - h * h * K
    for (i, j), normal, ahead, firm in zip(touch.slot, touch.n, touch.ahead, touch.firm) if touch else ():
        row = np.zeros((n, 3))
        row[i] = normal
        if j >= 0:
            row[j] = -normal
        A += firm * np.outer(row, row)
        b -= firm * ahead * row.ravel()
    out = np.zeros(3 * n)
    out[free] = np.linalg.solve(A[np.ix_(free, free)], b[free])
    return out.reshape(n, 3)


def test_free_sheet_keeps_its_momentum_under_every_method():
    for name in ("explicit", "provot", "xpbd", "implicit"):
        x, v, w, weight, s = hung(5, 100.0, 0.05)
        w = np.full(len(x), w[w > 0].mean())
        v += np.random.default_rng(3).standard_normal(v.shape)
        before, none = (v.T / w).sum(axis=1), np.zeros_like(x)
        n = len(x)
        if name == "explicit":
            step_explicit(explicit(n), s, x, v, w, none, 0.01, ADAMS_BASHFORTH, 5)
        elif name == "provot":
            step_provot(provot(n), s, x, v, w, none, 0.01, 2, 0.01, 20)
        elif name == "xpbd":
            step_xpbd(xpbd(s, n), s, x, v, w, none, 0.01, 3, 4)
        else:
            step_implicit(implicit(s.rest.size, n), s, x, v, w, none, 0.01, 1e-13, 1000)
        change = np.abs((v.T / w).sum(axis=1) - before).max()
        assert change < 1e-11 * np.abs(v.T / w).sum(), f"{name}: momentum changed by {change:.2e}"


def test_colours_keep_springs_apart_and_the_set_unchanged():
    x, _, _, _, s = hung(7)
    sorted_springs = in_colours(s, len(x))
    key = [set(zip(t.i.tolist(), t.j.tolist())) for t in (s, sorted_springs)]
    assert key[0] == key[1]
    begin = 0
    runs, seen = [], set()
    for q, (i, j) in enumerate(zip(sorted_springs.i, sorted_springs.j)):
        if i in seen or j in seen:
            runs.append(q - begin)
            begin, seen = q, set()
        seen |= {i, j}
    assert len(runs) < 16, f"{len(runs)} runs of independent springs"


def test_springs_refuse_what_can_not_be():
    x = np.zeros((2, 3))
    with pytest.raises(TautError, match="spring 0 between nodes 0 and 1: its rest length"):
        springs(np.array([[0, 1]]), x, 1.0)
    x[1, 0] = 1.0
    with pytest.raises(TautError, match="elongation limit is -0.1"):
        springs(np.array([[0, 1]]), x, 1.0, 0.0, 1.0, -0.1)
    two = joined(springs(np.array([[0, 1]]), x, 1.0), springs(np.array([[0, 1]]), x, 2.0))
    assert isinstance(two, Springs) and two.k.tolist() == [1.0, 2.0]
