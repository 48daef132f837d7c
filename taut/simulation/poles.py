"""Joints of three hinges whose second angle came near 90°, where the first and the third axis lie along each other.

Bodies pass such a position, but angles do not: the second one is counted between -90° and 90°, and the others turn by
180° there, so that what acts on these angles (limits, springs, motors) acts on others than before.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..constraints.base import Coordinate
from ..errors import listed
from ..model import Model
from ..result.joints import coordinate_at
from ..result.places import points_at
from ..result.records import Records

NEAR = 0.999  # of the sine of the second angle: 87.4°
HALF_TURN = 2.0  # rad: between two records, of the first and the third angle at once, it tells of a pole between


def near_poles(model: Model, chunks: Sequence[Records]) -> str:
    """Which joints came there, in words; "" where none did."""
    names = []
    for joint in model.joints:
        for coordinate, points in joint.coordinates:
            others = [pair for pair in joint.coordinates if pair[0].type == "angle"]
            if coordinate.type == "elevation" and any(
                _is_near(model, chunk, points) or _jumps(model, chunk, others) for chunk in chunks
            ):
                names.append(joint.name)
    if not names:
        return ""
    return (f"angle_2 of {listed(names)} came to 90 degrees, where hinge_1 and hinge_3 lie along each other: its "
            "angles, and what acts on them, are not to be trusted from there on; choose axes that keep angle_2 off it")


def _jumps(model: Model, chunk: Records, angles: Sequence[tuple[Coordinate, tuple[int, ...]]]) -> bool:
    """Whether both angles turn by half a turn at once, up to whole turns."""
    both = np.ones(max(len(chunk) - 1, 0), bool)
    for coordinate, points in angles:
        change = np.diff(coordinate_at(model, chunk, coordinate, points)[0])
        both &= np.abs(np.angle(np.exp(1j * change))) > HALF_TURN
    return bool(both.any())


def _is_near(model: Model, chunk: Records, points: tuple[int, ...]) -> bool:
    (u, w), _ = (np.moveaxis(found, 1, 0) for found in points_at(model, chunk, points[:2]))
    return bool((np.abs(np.einsum("tc,tc->t", u, w)) > NEAR).any())
