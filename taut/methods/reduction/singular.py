"""Where the coordinates of formulas come near a singular position, such as Euler's angles near a pole.

    H = L Lᵀ,   p_j = L_jj²                                                         (1)  inertia of coordinate j
    max p_j > 1.2 min p_j   over the stages of a step, of any j                     (2)
    p_j < 1e-4 H_jj,   of any j                                                     (3)
    M^½ B = Q Lᵀ,   Lᵀ θ̈ = Qᵀ M^-½ (f - M c)                                        (4)  Gram and Schmidt
    |δθ_j| max(1, √(p_j/p_j(0))) < ε (1 + |θ_j|),   |Lᵀ δθ̇|_j < ε (√p_j(0) + |Lᵀ θ̇|_j)   (5)
    ε = max(1e-12, 1e-15/c),   c² = min p_j/p_j(0)                                  (6)  or its inverse
    |v' - v - h a| < 0.1 max(|v|, |v'|),   p_j < 1e10 p_j(0)                        (7)  in the norm of M

Of (1), p_j is what is left to coordinate j where those before it move freely: at a singular position one of them is 0,
or infinite. The motion is smooth there, but its coordinates turn within the time that it takes to pass, however short
that is. Where (2) holds, a fixed step is too long to show it, and is taken again in as many as the error (5) needs, in
which rates count by the velocities that they stand for; a tolerance that is given takes the place of 1e-12. H has the
square of the condition of B, and loses twice the digits: where (3) holds, its factor comes from (4). What rounding
leaves then is in (6). Steps of error control near such a position obey (7), too, v, v' and a of bodies:
coordinates may go on smoothly where bodies can not (x of y = √(1 - x²) turns back at 1, and the body with it).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...compiled import compiled, inline, structure
from ...errors import listed
from ...model.arrays import Array
from ...model.slot_vectors import copy
from .. import dormand_prince as dp

TURNING = 1.2  # (2)
CLOSE = 1e-4  # (3)
LOST = 1e-20  # of H_jj: what is left of p_j is rounding
WITHIN = 1e-12  # (6)
ROUNDING = 1e-15
APART, GROWN = 0.1, 1e10  # (7)
APART_BY = 1e6  # what a step that breaks (7) has for an error
NEAR = 1e-2  # c² below which errors count by (5) where a tolerance is given, too,
TOLD = 1e-6  # and of a passage that is told
FELT = 0.1  # of the largest share of a coordinate in it


@structure
class Nearness(NamedTuple):
    """Of n coordinates."""

    start: Array  # (n,) p_j at t = 0
    p: Array  # (n,) H_jj where H was last formed,
    least: Array  # (n,) and the range of p_j since `forget`
    most: Array
    first: Array  # (n, n) L where the step began,
    at: Array  # (n, n) and where it was nearest to singular, of all beginnings of steps:
    nearest: Array  # (3,) c² now and there, or its inverse where p_j has grown; when that was
    refined: Array  # (1,) how many steps were taken again
    Q: Array  # (m, n + 1) of (4), with the right-hand side
    mass: Array  # (m,)
    v: Array  # (m,) of (7): v,
    a: Array  # (m,) and a


def nearness(m: int = 0, n: int = 0) -> Nearness:
    """Of n coordinates and m rows of B."""
    tables = (np.zeros(shape) for shape in (n, n, n, n, (n, n), (n, n)))
    rows = (np.zeros(shape) for shape in ((m, n + 1), m, m, m))
    return Nearness._make([*tables, np.ones(3), np.zeros(1, np.int64), *rows])


def begin(near: Nearness, mass: Array, B: Array, H: Array) -> None:
    """(1) at t = 0. H: what a kinetic energy adds."""
    near.mass[:] = mass
    weighted = np.sqrt(mass)[:, None] * B
    if H.any():
        near.start[:] = np.diag(np.linalg.cholesky(weighted.T @ weighted + H)) ** 2
    else:
        near.start[:] = np.diag(np.linalg.qr(weighted, mode="r")) ** 2


@compiled
def forget(near):
    for j in range(near.p.shape[0]):
        near.least[j], near.most[j] = 1e300, 0.0


@compiled
def is_close(near, L):
    """(3), of the diagonal of H in p and its factor."""
    found = False
    for j in range(near.p.shape[0]):
        found = found or not L[j, j] ** 2 > CLOSE * near.p[j]
    return found


@compiled
def look(near, L):
    """Keep the range of p_j. Returns 1 where nothing is left of one."""
    lost = 0
    for j in range(near.p.shape[0]):
        own = L[j, j] ** 2
        if not own > LOST * near.p[j]:
            lost = 1
        near.least[j], near.most[j] = min(near.least[j], own), max(near.most[j], own)
    return lost


@compiled
def solve_orthogonal(near, L, out):
    """(4): Q and the right-hand side, which stand in near.Q, are used up; L and θ̈."""
    Q, n = near.Q, L.shape[0]
    for j in range(n):
        size = 0.0
        for i in range(Q.shape[0]):
            size += Q[i, j] ** 2
        L[j, j] = size**0.5
        for k in range(j + 1, n + 1):
            share = 0.0
            for i in range(Q.shape[0]):
                share += Q[i, j] * Q[i, k]
            share /= L[j, j]
            for i in range(Q.shape[0]):
                Q[i, k] -= share / L[j, j] * Q[i, j]
            if k < n:
                L[k, j] = share
            else:
                out[j] = share
    for i in range(n):
        j = n - 1 - i
        for k in range(j + 1, n):
            out[j] -= L[k, j] * out[k]
        out[j] /= L[j, j]


@inline
def turns_within(near):
    """(2), of all that `look` has seen since `forget`."""
    found = False
    for j in range(near.p.shape[0]):
        found = found or near.most[j] > TURNING * near.least[j]
    return found


@compiled
def remember(formulas, rates, accelerations, t):
    """Keep what (5) and (7) need of the beginning of a step, where all was evaluated last, and where it was nearest of
    all."""
    near, B, L = formulas.near, formulas.B, formulas.H
    copy(L, near.first)
    size = 1.0
    for j in range(near.p.shape[0]):
        share = L[j, j] ** 2 / near.start[j]
        size = min(size, share, 1.0 / share)
    near.nearest[0] = size
    if size < near.nearest[1]:
        near.nearest[1], near.nearest[2] = size, t
        copy(L, near.at)
    for row in range(near.v.shape[0]):
        near.v[row], near.a[row] = formulas.x_t[row], formulas.c[row]
        for j in range(rates.shape[0]):
            near.v[row] += B[row, j] * rates[j]
            near.a[row] += B[row, j] * accelerations[j]


@compiled
def weighted_error(near, y, slopes, h, tolerance):
    """(5), below 1 where it holds."""
    n, L = y.shape[1], near.first
    allowed = max(WITHIN, tolerance, ROUNDING / near.nearest[0] ** 0.5)  # (6)
    e3 = e5 = 0.0
    for j in range(n):
        scale = allowed * (1.0 + abs(y[0, j])) / max(1.0, L[j, j] / near.start[j] ** 0.5)
        s3 = s5 = 0.0
        for k in range(dp.STAGES):
            s3 += dp.E3[k] * slopes[k, 0, j]
            s5 += dp.E5[k] * slopes[k, 0, j]
        e3 += (s3 / scale) ** 2
        e5 += (s5 / scale) ** 2
        s3 = s5 = rate = 0.0
        for i in range(j, n):
            rate += L[i, j] * y[1, i]
            for k in range(dp.STAGES):
                s3 += L[i, j] * dp.E3[k] * slopes[k, 1, i]
                s5 += L[i, j] * dp.E5[k] * slopes[k, 1, i]
        scale = allowed * (near.start[j] ** 0.5 + abs(rate))
        e3 += (s3 / scale) ** 2
        e5 += (s5 / scale) ** 2
    return dp.scaled_error(h, e3, e5, 2.0 * n)


@compiled
def is_apart(formulas, rates, h):
    """Whether (7) is broken, where the end of the step was evaluated last."""
    near, B, x_t = formulas.near, formulas.B, formulas.x_t
    for j in range(near.p.shape[0]):
        if near.most[j] > max(GROWN * near.start[j], TURNING * near.least[j]):
            return True
    off = before = after = 0.0
    for row in range(x_t.shape[0]):
        v = x_t[row]
        for j in range(rates.shape[0]):
            v += B[row, j] * rates[j]
        off += near.mass[row] * (v - near.v[row] - h * near.a[row]) ** 2
        before += near.mass[row] * near.v[row] ** 2
        after += near.mass[row] * v**2
    return not off <= APART**2 * max(before, after)


@inline
def is_near(near):
    """Whether the last step began at a position near enough to be told."""
    return near.nearest[0] < TOLD


def at_fault(near: Nearness, names: list[str]) -> str:
    """The coordinates that come near a singular position where `at` was kept: what they move together is least, or
    most, beside what they moved at the start."""
    if not near.at.any():
        return "the coordinates"
    sides, sizes, _ = np.linalg.svd(np.tril(near.at) / np.sqrt(near.start)[:, None])
    share = np.abs(sides[:, -1 if sizes[-1] * sizes[0] < 1.0 else 0])
    found = [name for name, one in zip(names, share.tolist()) if one > FELT * share.max()]
    return f"coordinate{'s' if len(found) > 1 else ''} {listed(found)}"


def passages(near: Nearness, names: list[str]) -> list[str]:
    """What is to be told of a passage near a singular position."""
    if not near.nearest[1] < TOLD:
        return []
    again = f", and {near.refined[0]} steps were taken again in shorter ones" if near.refined[0] else ""
    return [f"{at_fault(near, names)} of scene.reduced came near a singular position at t = {near.nearest[2]:.6g} s: "
            f"rates are large there{again}"]


def remedy(near: Nearness, names: list[str]) -> str:
    """What to do where they are singular."""
    return (f"There {at_fault(near, names)} of scene.reduced can not describe the motion. Choose coordinates that are "
            "singular elsewhere, or a method without reduced coordinates.")  # fmt: skip
