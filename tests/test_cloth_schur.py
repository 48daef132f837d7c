"""Laws of the forces of rows between sheets: what they resist, what preconditions them, and the whole system."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from taut.analysis.bench.frames import Frames
from taut.cloth.contact_schur import build_schur, contact_schur
from taut.cloth.newton_direction import newton_direction
from taut.cloth.settings import DECLARED
from taut.compiled import entry
from taut.linalg.envelope import factor_envelope, place_envelope, solve_envelope
from taut.scene import gallery

STEP = 1 / 240  # [s]
SETTINGS = DECLARED.defaults.contacts


@entry
def solve_in_envelope(first, offset, val, b, out):
    count = b.shape[0]
    factor_envelope(first, offset, count, val, 1e-12)
    solve_envelope(first, offset, count, val, b, out)


@entry
def place(first, offset):
    return place_envelope(first, first.shape[0], offset)


@entry
def solve_direction(state, ctx, h):
    return newton_direction(state, ctx, h, 0.0)


@entry
def build(schur, rows, count, nodes, mass, h, settings):
    build_schur(schur, rows, count, nodes, mass, h, settings)


@entry
def solve_bonds(schur, b, out):
    solve_envelope(schur.first, schur.offset, schur.number[0], schur.val, b, out)


def test_an_envelope_is_solved_as_numpy_solves_it():
    rng = np.random.default_rng(5)
    first = np.array([max(0, i - int(rng.integers(0, 12))) for i in range(50)])
    dense = np.zeros((50, 50))
    for i, begin in enumerate(first):
        dense[i, begin : i + 1] = rng.standard_normal(i + 1 - begin)
    dense = np.tril(dense, -1) + np.tril(dense, -1).T + np.diag(np.abs(dense).sum(axis=1) + 12.0)
    offset = np.zeros(50, np.int64)
    val = np.zeros(place(first, offset))
    for i, begin in enumerate(first):
        val[offset[i] + begin : offset[i] + i + 1] = dense[i, begin : i + 1]
    b, out = rng.standard_normal(50), np.zeros(50)
    solve_in_envelope(first, offset, val, b, out)
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
    rows.active[:count] = rng.uniform(size=count) < 200 / count
    across = np.cross(rows.n[:count], rng.standard_normal((count, 3)))
    across /= np.linalg.norm(across, axis=1)[:, None]
    kind = rng.integers(0, 3, count)
    rows.tangent_stiffness[:count] = rows.penalty[:count] * rng.uniform(0.1, 3.0, count) * (kind > 0)
    rows.slip_direction[:count] = across * (kind > 1)[:, None]
    return sheet


def rows_of(sheet):
    found = sheet.session.context.self_contact
    return found.rows, int(found.row_count[0])


def dense_rows(rows, count, size):
    """Σ over rows of their resistance, for (size, 3) unknowns."""
    total = np.zeros((3 * size, 3 * size))
    for r in np.flatnonzero(rows.active[:count]):
        n, d = rows.n[r], rows.slip_direction[r]
        across = np.eye(3) - np.outer(n, n) - np.outer(d, d)
        own = rows.penalty[r] * np.outer(n, n) + rows.tangent_stiffness[r] * across
        for i, u in zip(rows.unknown[r], rows.weight[r]):
            for j, v in zip(rows.unknown[r], rows.weight[r]):
                if i >= 0 and j >= 0:
                    total[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += u * v * own
    return total


def lines_of(schur, rows, size):
    """C of contact_schur.py, dense."""
    lines = np.zeros((int(schur.number[0]), size, 3))
    for b in range(len(lines)):
        r = schur.code[1, b] // 3
        for i, w in zip(rows.unknown[r], rows.weight[r]):
            if i >= 0:
                lines[b, i] += w * schur.a[b]
    return lines.reshape(len(lines), 3 * size)


def nodes_matrix(nodes):
    rows = len(nodes.ptr) - 1
    lower = sp.csr_matrix((nodes.val, nodes.idx.astype(int), nodes.ptr.astype(int)), (rows, rows)).toarray()
    out = np.zeros((rows, rows))
    perm = nodes.perm.astype(int)
    out[np.ix_(perm, perm)] = lower + np.tril(lower, -1).T
    return out


def with_friction(sheet):
    """Tables of the sheet, whose system has been solved without friction: its own schur have no room for that.

    The schur that are returned have."""
    rows, count = rows_of(sheet)
    ctx = sheet.session.context
    along = rows.tangent_stiffness.copy()
    rows.tangent_stiffness[:] = 0.0
    solve_direction(sheet.session.state, ctx, STEP)
    rows.tangent_stiffness[:] = along
    return ctx, rows, count, contact_schur(count, True, len(ctx.linear.nodes.order), SETTINGS.envelope_entries)


def test_bonds_resist_what_their_rows_resist(folded):
    ctx, rows, count, schur = with_friction(folded)
    build(schur, rows, count, ctx.linear.nodes, ctx.problem.mass, STEP, SETTINGS)
    size = len(ctx.problem.slot)
    lines = lines_of(schur, rows, size)
    expected = dense_rows(rows, count, size)
    off = np.abs(lines.T @ (schur.k[: len(lines), None] * lines) - expected).max() / np.abs(expected).max()
    on = int(rows.active.sum())
    assert len(lines) > on > 100 and off < 1e-13, f"{on} rows, {len(lines)} schur, off by {off}"


def dense_gives(ctx, schur, lines, size):
    """(3) of contact_schur.py"""
    own = nodes_matrix(ctx.linear.nodes).reshape(size, 3, size, 3)[np.arange(size), :, np.arange(size)]
    mass = np.eye(3) * (ctx.problem.mass[:, 0] / STEP**2)[:, None, None]
    give = np.linalg.inv(mass + SETTINGS.stiffness_share * (own - mass))
    across = lines.reshape(len(lines), size, 3)
    return np.diag(1 / schur.k[: len(lines)]) + np.einsum("aic,icd,bid->ab", across, give, across)


def test_bonds_are_preconditioned_by_what_their_nodes_give(folded):
    ctx, rows, count, schur = with_friction(folded)
    schur = schur._replace(val=np.zeros(count * count))
    build(schur, rows, count, ctx.linear.nodes, ctx.problem.mass, STEP, SETTINGS)
    gives = dense_gives(ctx, schur, lines_of(schur, rows, len(ctx.problem.slot)), len(ctx.problem.slot))
    b = np.random.default_rng(1).standard_normal(len(gives))
    out = np.zeros(len(schur.k))
    solve_bonds(schur, b, out)
    off = np.abs(gives @ out[: len(b)] - b).max()
    assert off < 1e-9, f"off by {off}"


def test_an_envelope_without_room_is_positive_definite_and_holds_more(folded):
    ctx, rows, count, schur = with_friction(folded)
    build(schur, rows, count, ctx.linear.nodes, ctx.problem.mass, STEP, SETTINGS)
    found = int(schur.number[0])
    entries = int((np.arange(found) - schur.first[:found] + 1).sum())
    schur = schur._replace(val=schur.val[: entries // 2])
    build(schur, rows, count, ctx.linear.nodes, ctx.problem.mass, STEP, SETTINGS)
    inverse = np.zeros((found, found))
    out = np.zeros(len(schur.k))
    for k in range(found):
        solve_bonds(schur, np.eye(found)[k], out)
        inverse[k] = out[:found]
    gives = dense_gives(ctx, schur, lines_of(schur, rows, len(ctx.problem.slot)), len(ctx.problem.slot))
    shares = np.linalg.eigvals(inverse @ gives).real
    assert 0.0 < shares.min() and shares.max() < 1.0 + 1e-9, f"shares from {shares.min()} to {shares.max()}"


def test_sheets_that_touch_move_as_the_whole_system_says(folded):
    ctx, rows, count, _ = with_friction(folded)
    alone = nodes_matrix(ctx.linear.nodes)
    smooth = rows._replace(tangent_stiffness=np.zeros(len(rows.active)))
    whole = alone + dense_rows(smooth, count, len(ctx.problem.slot))
    b = ctx.linear.rhs.ravel()
    truth = np.linalg.solve(whole, b)
    first = np.linalg.solve(alone, b) - truth
    error = ctx.linear.dx.ravel() - truth
    share = (error @ whole @ error) / (first @ whole @ first)
    assert share < 10 * SETTINGS.schur_reduction, f"{share:.1e} of the error in energy is left"
