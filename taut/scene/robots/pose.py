"""Where frames are: rotations and translations, with z up in the file and y up in the scene."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

Array = np.ndarray
UP = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])  # from z up to y up


@dataclass(frozen=True)
class Pose:
    """Rotation (3, 3) and translation [m]."""

    R: Array = field(default_factory=lambda: np.eye(3))
    p: Array = field(default_factory=lambda: np.zeros(3))

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.R @ other.R, self.R @ other.p + self.p)

    def point(self, place: Array) -> Array:
        return self.R @ place + self.p

    def inverse(self) -> Pose:
        return Pose(self.R.T, -self.R.T @ self.p)


# From a shape whose long axis is x, as here, to one that has it along z, as in both formats.
UPRIGHT = Pose(np.array([[0.0, 0.0, -1.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]))


def turn(axis: Array, angle: float) -> Array:
    """The matrix of a turn about a unit axis [rad]."""
    K = np.array([[0.0, -axis[2], axis[1]], [axis[2], 0.0, -axis[0]], [-axis[1], axis[0], 0.0]])
    return np.eye(3) + np.sin(angle) * K + (1.0 - np.cos(angle)) * (K @ K)


def quaternion(R: Array) -> tuple[float, ...]:
    from scipy.spatial.transform import Rotation

    x, y, z, w = Rotation.from_matrix(R).as_quat()
    return float(w), float(x), float(y), float(z)


def matrix(quat: Array) -> Array:
    from scipy.spatial.transform import Rotation

    w, x, y, z = quat
    return np.asarray(Rotation.from_quat([x, y, z, w]).as_matrix())
