"""The stages of Radau IIA of order 5 on the constrained system, by Newton's method.

    V_i = v + h Σ a_ij K_j,   q_i = q + h Σ a_ij N(q_j) V_j,   K_i = v̇(q_i, V_i, t + c_i h)       (1)
    v̇ = W (f + Jᵀ λ),   J v̇ + γ = 0                                                              (2)

The unknowns are the K_i. Orientations follow from them by repeated substitution, which takes no forces. With

    ∂v̇ = P (T_v ∂V + T_q ∂q),   P = W - W Jᵀ (J W Jᵀ)⁻¹ J W                                       (3)

for T_v = ∂f/∂v and T_q = ∂f/∂q, which leaves out what is not stiff, and with the eigenvalues μ and the left and right
eigenvectors of (a_ij), Newton's equations fall apart into one for each μ [Hairer and Wanner 1996, IV.8]:

    [M - z T_v - z² T_q  -Jᵀ] [dK]   [M r]
    [J                    E ] [ν ] = [J r],    z = h μ,   r that part of v̇(q_i, V_i) - K_i        (4)

One μ is real; of the other two, which are conjugate, one is enough. E: tangent.py.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, structure
from ..linalg.lu import SparseLU, factor_lu, solve_lu
from ..model.arrays import Array
from ..model.evaluate import copy, jacobian_times, power_at
from ..model.rotation import normalise, quaternion_rate
from .acceleration import constrained
from .tangent import Tangent, differentiate, fill_inertia_and_rows

_S = sqrt(6.0)
A = np.array([[(88 - 7 * _S) / 360, (296 - 169 * _S) / 1800, (-2 + 3 * _S) / 225],
              [(296 + 169 * _S) / 1800, (88 + 7 * _S) / 360, (-2 - 3 * _S) / 225],
              [(16 - _S) / 36, (16 + _S) / 36, 1 / 9]])  # fmt: skip
B = A[2].copy()
C = A.sum(axis=1)
_mu, _right = np.linalg.eig(A)
_real, _pair = int(np.argmin(np.abs(_mu.imag))), int(np.argmax(_mu.imag))
_left = np.linalg.inv(_right)
MU, MU_PAIR = float(_mu[_real].real), complex(_mu[_pair])
TO_REAL, FROM_REAL = np.ascontiguousarray(_left[_real].real), np.ascontiguousarray(_right[:, _real].real)
TO_RE, TO_IM = np.ascontiguousarray(_left[_pair].real), np.ascontiguousarray(_left[_pair].imag)
FROM_RE, FROM_IM = np.ascontiguousarray(2 * _right[:, _pair].real), np.ascontiguousarray(2 * _right[:, _pair].imag)

# Where stages stand in work.stage_a, stage_v and stage_quat; tangent.py works in stage_a[0].
K, LEFT, START = 1, 4, 7  # stage_a: K_i, v̇ - K_i and then their change; v̇ at the start of the step
V, REAL, RE, IM = 1, 4, 5, 6  # stage_v: V_i; the parts of (4)
QUAT, RATE = 1, 4  # stage_quat: orientations and their rates
STAGE_ARRAYS = 8
MOST_SWEEPS = 20
CONVERGED = 1e-15  # a change of quaternions of this size ends the substitution


@structure
class Newton(NamedTuple):
    """(4) for both μ."""

    tangent: Tangent
    pair: SparseLU  # of complex numbers, with the pattern of tangent.lu
    right: Array  # (n + rows,) complex
    by_velocity: Array  # (.,) the entries of T_v
    by_place: Array  # (.,) and of T_q


def plan_newton(tangent: Tangent) -> Newton:
    lu, entries = tangent.lu, len(tangent.entry)
    wide = {name: np.zeros(len(getattr(lu, name)), complex) for name in ("val", "lower", "upper", "inverse", "y")}
    return Newton(tangent, lu._replace(**wide), np.zeros(len(tangent.right), complex), np.zeros(entries),
                  np.zeros(entries))  # fmt: skip


@compiled
def renew_forces(system, newton, t, x, quat, v):
    """T_v and T_q at (q, v, t)."""
    differentiate(system, newton.tangent, t, x, quat, v, 1.0, 0.0, newton.by_velocity)
    differentiate(system, newton.tangent, t, x, quat, v, 0.0, 1.0, newton.by_place)


@compiled
def factor_for(system, newton, lu, z):
    """(4), with J in work."""
    tangent = newton.tangent
    fill_inertia_and_rows(system, tangent, lu, 1.0)
    for e in range(newton.by_velocity.shape[0]):
        lu.val[tangent.entry_at[e]] -= z * newton.by_velocity[e] + z * z * newton.by_place[e]
    return factor_lu(lu)


@compiled
def renew_factors(system, newton, h):
    """Both matrices with the J that stands in work, which is kept in J2."""
    copy(system.work.J, system.work.J2)
    factor_for(system, newton, newton.tangent.lu, h * MU)
    factor_for(system, newton, newton.pair, h * MU_PAIR)


@compiled
def place_stages(system, state, h):
    """V_i and the orientations of (1) from K_i."""
    work, count = system.work, state.quat.shape[0]
    for i in range(3):
        for p in range(state.v.shape[0]):
            for c in range(3):
                change = A[i, 0] * work.stage_a[K, p, c] + A[i, 1] * work.stage_a[K + 1, p, c]
                work.stage_v[V + i, p, c] = state.v[p, c] + h * (change + A[i, 2] * work.stage_a[K + 2, p, c])
    for k in range(count):
        spin = system.bodies.spin_slot[k]
        for _ in range(MOST_SWEEPS):
            for i in range(3):
                o = work.stage_v[V + i, spin]
                rate = quaternion_rate(work.stage_quat[QUAT + i], k, o[0], o[1], o[2])
                for q in range(4):
                    work.stage_quat[RATE + i, k, q] = rate[q]
            moved = 0.0
            for i in range(3):
                for q in range(4):
                    change = A[i, 0] * work.stage_quat[RATE, k, q] + A[i, 1] * work.stage_quat[RATE + 1, k, q]
                    new = state.quat[k, q] + h * (change + A[i, 2] * work.stage_quat[RATE + 2, k, q])
                    moved = max(moved, abs(new - work.stage_quat[QUAT + i, k, q]))
                    work.stage_quat[QUAT + i, k, q] = new
            if moved <= CONVERGED:
                break


@compiled
def configuration(state, work, h, i):
    """Stage i into the first spare configuration and v1."""
    for p in range(state.x.shape[0]):
        for c in range(3):
            along = A[i, 0] * work.stage_v[V, p, c] + A[i, 1] * work.stage_v[V + 1, p, c]
            work.x1[p, c] = state.x[p, c] + h * (along + A[i, 2] * work.stage_v[V + 2, p, c])
    copy(work.stage_quat[QUAT + i], work.quat1)
    normalise(work.quat1)
    copy(work.stage_v[V + i], work.v1)


@compiled
def left_over(system, state, t, h):
    """v̇(q_i, V_i) - K_i of all stages."""
    work, w = system.work, system.bodies.inverse_mass
    for i in range(3):
        configuration(state, work, h, i)
        constrained(system, t + C[i] * h, work.x1, work.quat1, work.v1, 0.0, 0.0, state.lam)
        if system.accumulates_work == 1:
            power_at(system, work.J, work.v1, state.lam, work.stage_power[i])
        slopes, left = work.stage_a[K + i], work.stage_a[LEFT + i]
        for p in range(left.shape[0]):
            for c in range(3):
                if w[p, c] == 0.0:  # what is driven has its accelerations
                    slopes[p, c] = work.a[p, c]
                left[p, c] = work.a[p, c] - slopes[p, c]


@compiled
def solve_real(system, newton, part):
    """(4) for the real μ, of r in `part`, where its solution stands afterwards."""
    work, mass, tangent = system.work, system.bodies.mass, newton.tangent
    n, right = tangent.slot.shape[0], tangent.right
    jacobian_times(system, work.J2, part, work.b)
    for u in range(n):
        s, c = tangent.slot[u], tangent.axis[u]
        right[u] += mass[s, c] * part[s, c]
    for r in range(work.b.shape[0]):
        right[n + r] += work.b[r]
    solve_lu(tangent.lu, right, right)
    for u in range(n):
        part[tangent.slot[u], tangent.axis[u]] = right[u]
    for u in range(right.shape[0]):
        right[u] = 0.0


@compiled
def solve_pair(system, newton, re, im):
    """(4) for the complex μ, likewise."""
    work, mass, tangent = system.work, system.bodies.mass, newton.tangent
    n, right = tangent.slot.shape[0], newton.right
    jacobian_times(system, work.J2, re, work.b)
    jacobian_times(system, work.J2, im, work.mu)
    for u in range(n):
        s, c = tangent.slot[u], tangent.axis[u]
        right[u] = complex(mass[s, c] * re[s, c], mass[s, c] * im[s, c])
    for r in range(work.b.shape[0]):
        right[n + r] = complex(work.b[r], work.mu[r])
    solve_lu(newton.pair, right, right)
    for u in range(n):
        s, c = tangent.slot[u], tangent.axis[u]
        re[s, c], im[s, c] = right[u].real, right[u].imag


@compiled
def improve(system, newton):
    """K_i += dK_i of (4); dK_i remain where their r were."""
    work = system.work
    real, re, im, left = work.stage_v[REAL], work.stage_v[RE], work.stage_v[IM], work.stage_a
    for p in range(real.shape[0]):
        for c in range(3):
            one, two, three = left[LEFT, p, c], left[LEFT + 1, p, c], left[LEFT + 2, p, c]
            real[p, c] = TO_REAL[0] * one + TO_REAL[1] * two + TO_REAL[2] * three
            re[p, c] = TO_RE[0] * one + TO_RE[1] * two + TO_RE[2] * three
            im[p, c] = TO_IM[0] * one + TO_IM[1] * two + TO_IM[2] * three
    solve_real(system, newton, real)
    solve_pair(system, newton, re, im)
    for i in range(3):
        for p in range(real.shape[0]):
            for c in range(3):
                change = FROM_REAL[i] * real[p, c] + FROM_RE[i] * re[p, c] - FROM_IM[i] * im[p, c]
                left[LEFT + i, p, c] = change
                left[K + i, p, c] += change
