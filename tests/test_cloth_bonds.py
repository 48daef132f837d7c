"""Laws of rows between sheets as bonds: what they resist, the matrix that preconditions them, and the whole system."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taut.analysis.bench.frames import Frames
from taut.cloth.contact_schur import GRADIENT, SHARE, bind, bonds_for
from taut.cloth.newton_direction import aim
from taut.compiled import entry
from taut.linalg.envelope import factor_envelope, place_envelope, solve_envelope
from taut.methods.box import contents
from taut.scene import gallery

STEP = 1 / 240  # [s]


@entry
def solve_in_envelope(first, start, val, b, out):
    count = b.shape[0]
    factor_envelope(first, start, count, val, 1e-12)
    solve_envelope(first, start, count, val, b, out)


@entry
def place(first, start):
    return place_envelope(first, first.shape[0], start)


@entry
def aimed(box, h):
    return aim((box, h, 0.0))


@entry
def bound(bonds, rows, count, nodes, mass, h):
    bind(bonds, rows, count, nodes, mass, h)


@entry
def solve_bonds(bonds, b, out):
    solve_envelope(bonds.first, bonds.start, bonds.number[0], bonds.val, b, out)


def test_an_envelope_is_solved_as_numpy_solves_it():
    rng = np.random.default_rng(5)
    first = np.array([max(0, i - int(rng.integers(0, 12))) for i in range(50)])
    dense = np.zeros((50, 50))
    for i, begin in enumerate(first):
        dense[i, begin : i + 1] = rng.standard_normal(i + 1 - begin)
    dense = np.tril(dense, -1) + np.tril(dense, -1).T + np.diag(np.abs(dense).sum(axis=1) + 12.0)
    start = np.zeros(50, np.int64)
    val = np.zeros(place(first, start))
    for i, begin in enumerate(first):
        val[start[i] + begin : start[i] + i + 1] = dense[i, begin : i + 1]
    b, out = rng.standard_normal(50), np.zeros(50)
    solve_in_envelope(first, start, val, b, out)
    off = np.abs(out - np.linalg.solve(dense, b)).max()
    assert off < 1e-14, f"off by {off}"


@pytest.fixture(scope="module")
def folded() -> Frames:
    """A sheet that lies on itself, with friction there: some rows stick, some slip, some do neither."""
    sheet = Frames(gallery("cloth_fold", n=16), "implicit_first", 4)
    rng = np.random.default_rng(7)
    for _ in range(60):
        sheet.frame()
    rows, count = rows_of(sheet)
    rows.on[:count] = rng.uniform(size=count) < 200 / count
    across = np.cross(rows.n[:count], rng.standard_normal((count, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    kind = rng.integers(0, 3, count)
    rows.along[:count] = rows.kappa[:count] * rng.uniform(0.1, 3.0, count) * (kind > 0)
    rows.slip[:count] = across * (kind > 1)[:, None]
    return sheet


def rows_of(sheet):
    net = contents(sheet.session.par).net
    return net.facets, int(net.facet_count[0])


def dense_rows(rows, count, size):
    """Σ over rows of their resistance, for (size, 3) unknowns."""
    total = np.zeros((3 * size, 3 * size))
    for r in np.flatnonzero(rows.on[:count]):
        n, d = rows.n[r], rows.slip[r]
        own = rows.kappa[r] * np.outer(n, n) + rows.along[r] * (np.eye(3) - np.outer(n, n) - np.outer(d, d))
        for i, u in zip(rows.unknown[r], rows.weight[r]):
            for j, v in zip(rows.unknown[r], rows.weight[r]):
                if i >= 0 and j >= 0:
                    total[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += u * v * own
    return total


def lines_of(bonds, rows, size):
    """C of contact_schur.py, dense."""
    lines = np.zeros((int(bonds.number[0]), size, 3))
    for b in range(len(lines)):
        r = bonds.code[1, b] // 3
        for i, w in zip(rows.unknown[r], rows.weight[r]):
            if i >= 0:
                lines[b, i] += w * bonds.a[b]
    return lines.reshape(len(lines), 3 * size)


def nodes_matrix(nodes):
    rows = len(nodes.ptr) - 1
    lower = sp.csr_matrix((nodes.val, nodes.idx.astype(int), nodes.ptr.astype(int)), (rows, rows)).toarray()
    out = np.zeros((rows, rows))
    perm = nodes.perm.astype(int)
    out[np.ix_(perm, perm)] = lower + np.tril(lower, -1).T
    return out


def with_friction(sheet):
    """Tables of the sheet, whose system has been solved without friction: its own bonds have no room for that.

    The bonds that are returned have."""
    rows, count = rows_of(sheet)
    net = contents(sheet.session.par).net
    along = rows.along.copy()
    rows.along[:] = 0.0
    aimed(sheet.session.par.box, STEP)
    rows.along[:] = along
    return net, rows, count, bonds_for(count, True, len(net.nodes.order))


def test_bonds_resist_what_their_rows_resist(folded):
    net, rows, count, bonds = with_friction(folded)
    bound(bonds, rows, count, net.nodes, net.mass, STEP)
    size = len(net.slot)
    lines = lines_of(bonds, rows, size)
    expected = dense_rows(rows, count, size)
    off = np.abs(lines.T @ (bonds.k[: len(lines), None] * lines) - expected).max() / np.abs(expected).max()
    on = int(rows.on.sum())
    assert len(lines) > on > 100 and off < 1e-13, f"{on} rows, {len(lines)} bonds, off by {off}"


def dense_gives(net, bonds, lines, size):
    """(3) of contact_schur.py"""
    own = nodes_matrix(net.nodes).reshape(size, 3, size, 3)[np.arange(size), :, np.arange(size)]
    mass = np.eye(3) * (net.mass[:, 0] / STEP**2)[:, None, None]
    give = np.linalg.inv(mass + SHARE * (own - mass))
    across = lines.reshape(len(lines), size, 3)
    return np.diag(1 / bonds.k[: len(lines)]) + np.einsum("aic,icd,bid->ab", across, give, across)


def test_bonds_are_preconditioned_by_what_their_nodes_give(folded):
    net, rows, count, bonds = with_friction(folded)
    bonds = bonds._replace(val=np.zeros(count * count))
    bound(bonds, rows, count, net.nodes, net.mass, STEP)
    gives = dense_gives(net, bonds, lines_of(bonds, rows, len(net.slot)), len(net.slot))
    b = np.random.default_rng(1).standard_normal(len(gives))
    out = np.zeros(len(bonds.k))
    solve_bonds(bonds, b, out)
    off = np.abs(gives @ out[: len(b)] - b).max()
    assert off < 1e-9, f"off by {off}"


def test_an_envelope_without_room_is_positive_definite_and_holds_more(folded):
    net, rows, count, bonds = with_friction(folded)
    bound(bonds, rows, count, net.nodes, net.mass, STEP)
    found = int(bonds.number[0])
    entries = int((np.arange(found) - bonds.first[:found] + 1).sum())
    bonds = bonds._replace(val=bonds.val[: entries // 2])
    bound(bonds, rows, count, net.nodes, net.mass, STEP)
    inverse = np.zeros((found, found))
    out = np.zeros(len(bonds.k))
    for k in range(found):
        solve_bonds(bonds, np.eye(found)[k], out)
        inverse[k] = out[:found]
    gives = dense_gives(net, bonds, lines_of(bonds, rows, len(net.slot)), len(net.slot))
    shares = np.linalg.eigvals(inverse @ gives).real
    assert 0.0 < shares.min() and shares.max() < 1.0 + 1e-9, f"shares from {shares.min()} to {shares.max()}"


def test_sheets_that_touch_move_as_the_whole_system_says(folded):
    net, rows, count, _ = with_friction(folded)
    alone = nodes_matrix(net.nodes)
    whole = alone + dense_rows(rows._replace(along=np.zeros(len(rows.on))), count, len(net.slot))
    b = net.rhs.ravel()
    truth = np.linalg.solve(whole, b)
    first = np.linalg.solve(alone, b) - truth
    error = net.dx.ravel() - truth
    share = (error @ whole @ error) / (first @ whole @ first)
    assert share < 10 * GRADIENT, f"{share:.1e} of the error in energy is left"
