"""The inequalities of a scene: those that users name, and the pairs of groups.

A group with few pairs becomes named constraints, each with its place in the results. The balls of a group with
many pairs are handed on as they are: a broad phase (geometry/ball_pairs.py) finds those that are near, and results
tell of them by events and totals. Obstacles against many balls are evaluated in bulk and not listed either, and so
are obstacles against the nodes of deformables.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..errors import TautError
from ..scene.groups import expand, pair_count
from ..scene.scene import Scene
from ..scene.specs import Constraint, Group

MOST_LISTED = 2000  # pairs of all groups together
MOST_GROUPS = 62  # bits of a mask


@dataclass(frozen=True)
class Conditions:
    specs: tuple[Constraint, ...]  # the first `listed` of them are recorded by name
    listed: int
    broad_phase_groups: tuple[Group, ...]  # groups whose balls are left to the broad phase
    node_contacts: tuple[tuple[Group, str, str], ...]  # group, obstacle and deformable whose nodes it keeps out


def conditions(scene: Scene) -> Conditions:
    """All inequalities of a scene."""
    named = [spec for spec in scene.constraints.values() if spec.sense != "=="]
    groups = list(scene.groups.values())
    few = sum(pair_count(scene, group) for group in groups) <= MOST_LISTED
    if few or scene.deformables:
        # A step with deformables takes its contacts as rows, however many there are.
        pairs = [pair for group in groups for pair in expand(scene, group)]
        node_contacts = [(group, obstacle, deformable) for group in groups
                         for deformable in group.deformables for obstacle in group.obstacles]  # fmt: skip
        return Conditions((*named, *pairs), len(named) + (len(pairs) if few else 0), (), tuple(node_contacts))
    rows: list[Constraint] = []
    broad_phase_groups = []
    for group in groups:
        switched = next((n for n in group.obstacles if scene.obstacles[n].switch), group.name if group.switch else None)
        if switched is not None:
            raise TautError(f"'{switched}' is switched, and contacts '{group.name}' are among more than {MOST_LISTED} "
                            "pairs, which are always on; leave its switch out, or let fewer balls touch.")
        if group.obstacles:
            rows += expand(scene, replace(group, bodies=()))
        if group.bodies is None or group.bodies:
            broad_phase_groups.append(group)
    if len(broad_phase_groups) > MOST_GROUPS:
        raise TautError(f"{len(broad_phase_groups)} groups of contacts have too many pairs; join some of them "
                        f"({MOST_GROUPS} are possible).")
    return Conditions((*named, *rows), len(named), tuple(broad_phase_groups), ())


@dataclass(frozen=True)
class Balls:
    """Balls of groups with a broad phase: names, and in which list of which group each stands, as bit masks."""

    names: tuple[str, ...]
    group: np.ndarray  # (balls, 2)


def balls_of(broad_phase_groups: tuple[Group, ...]) -> Balls:
    number: dict[str, int] = {}
    for group in broad_phase_groups:
        for name in (*group.first, *(group.bodies or ())):
            number.setdefault(name, len(number))
    masks = np.zeros((len(number), 2), np.int64)
    for bit, group in enumerate(broad_phase_groups):
        for which, names in enumerate((group.first, group.first if group.bodies is None else group.bodies)):
            masks[[number[name] for name in names], which] |= 1 << bit
    return Balls(tuple(number), masks)
