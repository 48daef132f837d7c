"""Vectors of three numbers as tuples: they stay in registers."""

from __future__ import annotations

from .decorators import inline


@inline
def dot3(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inline
def cross3(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@inline
def edge(x, a, b):
    """From point a to point b."""
    return x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]


@inline
def add_pair(out, i, j, a, b, d0, d1, d2):
    """out_i += a d and out_j -= b d, for rows of three numbers."""
    out[i, 0] += a * d0
    out[i, 1] += a * d1
    out[i, 2] += a * d2
    out[j, 0] -= b * d0
    out[j, 1] -= b * d1
    out[j, 2] -= b * d2
