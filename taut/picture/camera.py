"""Where one looks from.

    s = 1 / w,   (px, py) = (W/2 + f s r·d,  H/2 - f s u·d),   d = x - eye,  w = a·d         (1)

a, r and u are the camera's axes ahead, to the right and up; s grows towards the eye and is linear in the picture.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, radians, sin, tan

import numpy as np

from .bounds import Bounds

FIELD = 28.0  # degrees from the lower to the upper edge: a long lens, so that lengths can be compared
MARGIN = 1.16
AZIMUTH, ELEVATION = 32.0, 22.0  # degrees


@dataclass(frozen=True)
class Camera:
    eye: np.ndarray  # (3,) [m]
    axes: np.ndarray  # (3, 3): right, up, ahead
    focal: float  # [pixels]
    size: tuple[int, int]  # width, height [pixels]

    def project(self, places: np.ndarray) -> np.ndarray:
        """Pixels and s of (1), shape (n, 3); what lies behind the eye has s ≤ 0."""
        d = (places - self.eye) @ self.axes.T
        with np.errstate(divide="ignore"):
            s = 1.0 / d[:, 2]
        half = 0.5 * np.array(self.size)
        return np.stack([half[0] + self.focal * s * d[:, 0], half[1] - self.focal * s * d[:, 1], s], 1)

    def extent(self, z: float = 0.0) -> tuple[float, float, float, float]:
        """Left, right, lower and upper edge of the picture [m] in a plane across the view, for matplotlib's imshow."""
        distance = abs(float((np.array([0.0, 0.0, z]) - self.eye) @ self.axes[2]))
        across, up = (0.5 * n * distance / self.focal for n in self.size)
        return self.eye[0] - across, self.eye[0] + across, self.eye[1] - up, self.eye[1] + up

    def enlarged(self, factor: int) -> Camera:
        return Camera(self.eye, self.axes, factor * self.focal, (factor * self.size[0], factor * self.size[1]))


def looking_at(
    bounds: Bounds, size: tuple[int, int], azimuth: float | None = None, elevation: float | None = None,
    margin: float = MARGIN,
) -> Camera:
    """As near as can be with all of the bounds in the picture; what moves in a plane is seen from the front.

    azimuth    degrees from the z axis towards x
    elevation  degrees above the horizon
    """  # fmt: skip
    flat = bounds.is_planar
    turn = radians(azimuth if azimuth is not None else 0.0 if flat else AZIMUTH)
    rise = radians(elevation if elevation is not None else 0.0 if flat else ELEVATION)
    back = np.array([sin(turn) * cos(rise), sin(rise), cos(turn) * cos(rise)])
    right = np.array([cos(turn), 0.0, -sin(turn)])
    axes = np.stack([right, np.cross(back, right), -back])
    width, height = size
    focal = 0.5 * height / tan(radians(FIELD) / 2.0)
    cloud = bounds.corners() if bounds.cloud is None else bounds.cloud
    places = (cloud - bounds.center) @ axes.T
    reach = np.array([0.5 * width, 0.5 * height]) / focal / margin
    shift = np.zeros(2)
    # A place at depth z from the centre is in the picture where |x| ≤ reach (distance + z).
    for _ in range(6):
        distance = max(float((np.abs(places[:, :2] - shift) / reach - places[:, 2:]).max()), 1e-9)
        seen = (places[:, :2] - shift) / (distance + places[:, 2:])
        shift = shift + 0.5 * distance * (seen.max(axis=0) + seen.min(axis=0))
    distance = max(float((np.abs(places[:, :2] - shift) / reach - places[:, 2:]).max()), 1e-9)
    eye = bounds.center + shift @ axes[:2] - distance * axes[2]
    return Camera(eye, axes, focal, size)
