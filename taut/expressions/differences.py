"""Derivatives of a function g(q, t) that we can only call.

Complex step, exact to rounding (g must be analytic: no abs, <, atan2):

    ∂g/∂q_k = Im g(q + i ε e_k, t) / ε,    Φ_t = Im g(q, t + i ε) / ε,    ε = 1e-30        (1)
    γ = Im [G(s) + G(-s)] / h²,    G(s) = g(q + s v, t + s),    s = h exp(iπ/4)            (2)

In (2) s² = i h², so that the second derivative stands alone in the imaginary part; the first neglected
term is h⁴ G⁗″/360 (sixth derivative) and rounding enters as |G′| 1e-16/h.

Central differences, for any function:

    ∂g/∂q_k = [g(q + d e_k) - g(q - d e_k)] / 2d,    Φ_t likewise                          (3)
    γ = [-G(2h) + 16 G(h) - 30 G(0) + 16 G(-h) - G(-2h)] / 12h²                            (4)

Of a function g(q, v, t) = A v + b that is linear in v:

    b = g(q, 0, t),    A e_k = g(q, e_k, t) - b                                             (5)
    γ = d/ds g(q + s v, v, t + s) as in (1), or by differences of order four                (6)

All functions here are plain Python that numba also compiles; `g` may be compiled or not.
"""

from __future__ import annotations

import math

import numba
import numpy as np
from numba import literal_unroll, types
from numba.extending import register_jitable

from taut.compiled import overload

_EPSILON = 1e-30
_STEP_COMPLEX = 5e-4
_STEP_FIRST = 6e-6
_STEP_SECOND = 2e-3


def spread(result, out):
    """Write what the user's function returned (a number, a tuple or an array) to out."""
    out[:] = np.reshape(result, -1)


@overload(spread)
def _spread(result, out):
    if isinstance(result, types.Array):

        def compiled(result, out):
            k = 0
            for value in result.flat:
                if k < len(out):  # never outside, whatever the user returns
                    out[k] = value
                k += 1
    elif isinstance(result, types.BaseTuple):

        def compiled(result, out):
            k = 0
            for value in literal_unroll(result):
                out[k] = value
                k += 1
    else:

        def compiled(result, out):
            out[0] = result

    return compiled


@numba.njit
def _largest(v):
    largest = 0.0
    for k in range(len(v)):
        largest = max(largest, abs(v[k]))
    return largest


@numba.njit(error_model="numpy")
def complex_step(g_real, g_complex, q, v, t, phi, J, phi_t, gamma):
    """(1) and (2). q and v are flat, g takes q in shape (points, 3); J has shape (rows, len(q))."""
    rows, size = len(phi), len(q)
    z = np.empty(size, np.complex128)
    points = z.reshape((size // 3, 3))  # the same memory
    out = np.empty(rows, np.complex128)
    middle = np.empty(rows)
    phi[:] = np.nan  # what the caller finds if the user's function raises
    spread(g_real(q.reshape((size // 3, 3)), t), middle)
    h = _STEP_COMPLEX / (1.0 + _largest(v))
    diagonal = complex(h * math.sqrt(0.5), h * math.sqrt(0.5))
    gamma[:] = 0.0
    # One call for all directions: first each coordinate, then time, then the two along the motion.
    for direction in range(size + 3):
        s = complex(0.0, 0.0)
        if direction > size:
            s = diagonal if direction == size + 1 else -diagonal
        for k in range(size):
            z[k] = q[k] + s * v[k]
        time = t + s
        if direction < size:
            z[direction] += complex(0.0, _EPSILON)
        elif direction == size:
            time += complex(0.0, _EPSILON)
        spread(g_complex(points, time), out)
        for r in range(rows):
            if direction < size:
                J[r, direction] = out[r].imag / _EPSILON  # (1)
            elif direction == size:
                phi_t[r] = out[r].imag / _EPSILON  # (1)
            else:
                gamma[r] += out[r].imag / (h * h)  # (2)
    phi[:] = middle


@numba.njit(error_model="numpy")
def central(g, q, v, t, phi, J, phi_t, gamma):
    """(3) and (4). q and v are flat, g takes q in shape (points, 3); J has shape (rows, len(q))."""
    rows, size = len(phi), len(q)
    z = q.copy()
    points = z.reshape((size // 3, 3))  # the same memory
    out = np.empty(rows)
    middle = np.empty(rows)
    phi[:] = np.nan  # what the caller finds if the user's function raises
    spread(g(points, t), middle)
    J[:] = 0.0
    phi_t[:] = 0.0
    h = _STEP_SECOND / (1.0 + _largest(v))
    for r in range(rows):
        gamma[r] = -30.0 * middle[r] / (12.0 * h * h)  # (4)
    # One call for all: forward and back along each coordinate, along time, then four along the motion.
    for sample in range(2 * size + 6):
        direction = sample // 2
        sign = 1.0 if sample % 2 == 0 else -1.0
        d = _STEP_FIRST * (1.0 + abs(q[direction] if direction < size else t))
        s = 0.0
        if direction > size:
            s = sign * h * (direction - size)
        for k in range(size):
            z[k] = q[k] + s * v[k]
        time = t + s
        if direction < size:
            z[direction] += sign * d
        elif direction == size:
            time += sign * d
        spread(g(points, time), out)
        for r in range(rows):
            if direction < size:
                J[r, direction] += sign * out[r] / (2.0 * d)  # (3)
            elif direction == size:
                phi_t[r] += sign * out[r] / (2.0 * d)  # (3)
            else:
                gamma[r] += (16.0 if direction == size + 1 else -1.0) * out[r] / (12.0 * h * h)  # (4)
    phi[:] = middle


@register_jitable
def linear_parts(g, q, v, t, phi, J, phi_t):
    """(5): Φ is zero, J is A and Φ_t is b. g takes q and v in shape (points, 3)."""
    rows, size = len(phi), len(q)
    points = q.reshape((size // 3, 3))
    unit = np.zeros(size)
    speeds = unit.reshape((size // 3, 3))  # the same memory
    out = np.empty(rows)
    phi_t[:] = np.nan  # what the caller finds if the user's function raises
    spread(g(points, speeds, t), out)
    for k in range(size):
        unit[k] = 1.0
        column = np.empty(rows)
        spread(g(points, speeds, t), column)
        for r in range(rows):
            J[r, k] = column[r] - out[r]  # (5)
        unit[k] = 0.0
    phi[:] = 0.0
    phi_t[:] = out


@numba.njit(error_model="numpy")
def linear_complex_step(g_real, g_complex, q, v, t, phi, J, phi_t, gamma):
    """(5) and (6) for an analytic g."""
    size = len(q)
    linear_parts(g_real, q, v, t, phi, J, phi_t)
    z, w = np.empty(size, np.complex128), np.empty(size, np.complex128)
    for k in range(size):
        z[k] = complex(q[k], _EPSILON * v[k])
        w[k] = complex(v[k], 0.0)
    out = np.empty(len(phi), np.complex128)
    spread(g_complex(z.reshape((size // 3, 3)), w.reshape((size // 3, 3)), complex(t, _EPSILON)), out)
    for r in range(len(phi)):
        gamma[r] = out[r].imag / _EPSILON  # (6)


@numba.njit(error_model="numpy")
def linear_central(g, q, v, t, phi, J, phi_t, gamma):
    """(5) and (6) for any g."""
    size = len(q)
    linear_parts(g, q, v, t, phi, J, phi_t)
    speeds = v.copy().reshape((size // 3, 3))
    out = np.empty(len(phi))
    h = _STEP_SECOND / (1.0 + _largest(v))
    gamma[:] = 0.0
    for sample in range(4):
        s = (1.0 + sample // 2) * (1.0 if sample % 2 == 0 else -1.0)
        weight = (8.0 if sample < 2 else -0.5) * s / (12.0 * h)
        z = q + s * h * v
        spread(g(z.reshape((size // 3, 3)), speeds, t + s * h), out)
        for r in range(len(phi)):
            gamma[r] += weight * out[r]  # (6)
