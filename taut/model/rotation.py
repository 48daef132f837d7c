"""Quaternions (w, x, y, z) of rigid bodies, in compiled code.

    R(q) a = a + 2 w (u × a) + 2 u × (u × a),    q = (w, u)                         (1)
    q' = q ⊗ exp(h ω / 2) for a constant angular velocity ω in the body's axes      (2)
    q̇ = q ⊗ (0, ω) / 2                                                              (3)
"""

from __future__ import annotations

from math import cos, sin, sqrt

from ..compiled import inline

SMALL_SQUARE = 1e-3  # of half the angle: its fifth power over 10! is 3e-22, far below rounding


@inline
def to_world(quat, i, a0, a1, a2):
    w, x, y, z = quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3]
    c0 = y * a2 - z * a1
    c1 = z * a0 - x * a2
    c2 = x * a1 - y * a0
    return (  # (1)
        a0 + 2.0 * (w * c0 + y * c2 - z * c1),
        a1 + 2.0 * (w * c1 + z * c0 - x * c2),
        a2 + 2.0 * (w * c2 + x * c1 - y * c0),
    )


@inline
def to_body(quat, i, a0, a1, a2):
    w, x, y, z = quat[i, 0], -quat[i, 1], -quat[i, 2], -quat[i, 3]
    c0 = y * a2 - z * a1
    c1 = z * a0 - x * a2
    c2 = x * a1 - y * a0
    return (  # (1) with the conjugate
        a0 + 2.0 * (w * c0 + y * c2 - z * c1),
        a1 + 2.0 * (w * c1 + z * c0 - x * c2),
        a2 + 2.0 * (w * c2 + x * c1 - y * c0),
    )


@inline
def set_frame(quat, i, frame):
    """frame[i] = R(q) by rows: the matrix of (1)."""
    w, x, y, z = quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3]
    frame[i, 0] = 1.0 - 2.0 * (y * y + z * z)
    frame[i, 1] = 2.0 * (x * y - w * z)
    frame[i, 2] = 2.0 * (x * z + w * y)
    frame[i, 3] = 2.0 * (x * y + w * z)
    frame[i, 4] = 1.0 - 2.0 * (x * x + z * z)
    frame[i, 5] = 2.0 * (y * z - w * x)
    frame[i, 6] = 2.0 * (x * z - w * y)
    frame[i, 7] = 2.0 * (y * z + w * x)
    frame[i, 8] = 1.0 - 2.0 * (x * x + y * y)


@inline
def turned_by(frame, i, a0, a1, a2):
    """R a"""
    return (
        frame[i, 0] * a0 + frame[i, 1] * a1 + frame[i, 2] * a2,
        frame[i, 3] * a0 + frame[i, 4] * a1 + frame[i, 5] * a2,
        frame[i, 6] * a0 + frame[i, 7] * a1 + frame[i, 8] * a2,
    )


@inline
def product(w, x, y, z, W, X, Y, Z):
    return (
        w * W - x * X - y * Y - z * Z,
        w * X + x * W + y * Z - z * Y,
        w * Y - x * Z + y * W + z * X,
        w * Z + x * Y - y * X + z * W,
    )


@inline
def turn(quat, i, h, o0, o1, o2, out):
    """out[i] = quat[i] turned for a time h at angular velocity o in body axes, kept at length one."""
    square = 0.25 * h * h * (o0 * o0 + o1 * o1 + o2 * o2)
    if square < SMALL_SQUARE:  # their series, right to the last digit
        cosine = 1.0 + square * (-1 / 2 + square * (1 / 24 + square * (-1 / 720 + square * (1 / 40_320))))
        sinc = 1.0 + square * (-1 / 6 + square * (1 / 120 + square * (-1 / 5_040 + square * (1 / 362_880))))
    else:
        angle = sqrt(square)
        cosine, sinc = cos(angle), sin(angle) / angle
    scale = 0.5 * h * sinc
    w, x, y, z = product(  # (2)
        quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3], cosine, scale * o0, scale * o1, scale * o2
    )
    length = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    out[i, 0], out[i, 1], out[i, 2], out[i, 3] = w * length, x * length, y * length, z * length


@inline
def normalise(quat):
    for i in range(quat.shape[0]):
        length = sqrt(quat[i, 0] ** 2 + quat[i, 1] ** 2 + quat[i, 2] ** 2 + quat[i, 3] ** 2)
        for c in range(4):
            quat[i, c] /= length


@inline
def quaternion_rate(quat, i, o0, o1, o2):
    w, x, y, z = product(quat[i, 0], quat[i, 1], quat[i, 2], quat[i, 3], 0.0, o0, o1, o2)
    return 0.5 * w, 0.5 * x, 0.5 * y, 0.5 * z  # (3)
