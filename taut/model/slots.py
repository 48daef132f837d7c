"""Bodies to slots, points to places, and the functions of time that drive them (arrays.py says what these are)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..errors import TautError, present
from ..expressions import Signal, codegen
from ..scene.scene import Scene
from ..scene.specs import Body, Point
from .arrays import Bodies, Places, Signals
from .frames import multiply, principal_axes, rotate
from .model import BodyInfo

INDEX = np.uint32
UNEVEN = 100.0  # masses further apart can make J W Jᵀ look singular where J is not
ORIGIN = Point(None)  # the base of directions: it never moves


class Collected:
    """Functions of time, each once, and what they drive."""

    def __init__(self) -> None:
        self.number: dict[Signal, int] = {}
        self.targets: dict[str, list[tuple[int, ...]]] = defaultdict(list)

    def add(self, signal: Signal) -> int:
        return self.number.setdefault(signal, len(self.number))

    def table(self, target: str, width: int) -> np.ndarray:
        return np.array(self.targets[target], np.int64).reshape(-1, width)


def _planar_axes(body: Body, inertia: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """As principal_axes, of a body that turns about z alone: its moment about z, and the world's axes at the start."""
    orientation = np.array(body.orientation, float)
    z = rotate(orientation * (1, -1, -1, -1), np.array([0.0, 0.0, 1.0]))
    return np.full(3, z @ inertia @ z), orientation * (1, -1, -1, -1)


class Slots:
    """A scene's bodies in slots. Its points are added afterwards, all at once."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.signals = Collected()
        self.x: list[Sequence[float]] = []
        self.v: list[Any] = []
        self.mass: list[Any] = []
        self.quat: list[np.ndarray] = []
        self.info: dict[str, BodyInfo] = {}
        self.world: dict[Point, int] = {}  # places, directions and counters of the world
        self.places: dict[tuple[str, tuple[float, float, float], bool], int] = {}
        self.unplaced: list[int] = []  # slots of the world whose numbers are no place
        self.turned: list[tuple[int, int, int]] = []
        self.turned_axis: list[Sequence[float]] = []
        self.turned_from: list[np.ndarray] = []
        self.inertia: list[np.ndarray] = []
        for body in scene.bodies.values():
            self.add_body(body)
        self.of_bodies = len(self.x)

    # bodies

    def add_body(self, body: Body) -> None:
        slot = len(self.x)
        free = body.motion == "free"
        mass = body.mass if free else 0.0
        self.x.append(body.position)
        self.v.append(body.velocity if free else (0.0, 0.0, 0.0))
        unknowns = (1.0, 0.0, 0.0) if body.kind == "coordinate" else (1.0, 1.0, 1.0 - body.planar)
        self.mass.append(tuple(mass * unknown for unknown in unknowns))
        if body.path is not None:
            for c in range(1 if body.kind == "coordinate" else 3):
                self.signals.targets["driven"].append((self.signals.add(body.path[c]), slot, c))
        index, to_principal = -1, None
        if body.kind == "rigid":
            index, to_principal = self.add_rotation(body, free)
        self.info[body.name] = BodyInfo(body.name, body.kind, body.motion, slot, index, to_principal, body.mass)

    def add_rotation(self, body: Body, free: bool) -> tuple[int, np.ndarray]:
        index, slot = len(self.quat), len(self.x)
        inertia = np.eye(3) if body.inertia is None else np.array(body.inertia, float)
        moments, to_principal = _planar_axes(body, inertia) if body.planar else principal_axes(inertia)
        orientation = multiply(np.array(body.orientation, float), to_principal)
        self.quat.append(orientation)
        self.inertia.append(moments if free else np.zeros(3))
        self.x.append((0.0, 0.0, 0.0))
        back = orientation * (1, -1, -1, -1)
        self.v.append(rotate(back, np.array(body.angular_velocity, float)) if free else (0.0, 0.0, 0.0))
        turning = moments * (0.0, 0.0, 1.0) if body.planar else moments
        self.mass.append(turning if free else (0.0, 0.0, 0.0))
        if body.rotation is not None:
            axis, angle = body.rotation
            self.turned.append((self.signals.add(angle), index, slot))
            self.turned_axis.append(axis)
            self.turned_from.append(orientation)
        return index, to_principal

    def nodes(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Slots of a deformable's nodes, and which of them can not move."""
        record = self.scene.deformables[name]
        slots = np.array([self.info[record.node(i)].slot for i in range(record.count)])
        return slots, np.array([self.mass[slot][0] == 0.0 for slot in slots])

    # points

    def add_points(self, points: Iterable[Point]) -> Places:
        """Places in the world become slots before any place on a body gets its number."""
        for point in points:
            self.note_point(point)
        if any(direction for _, _, direction in self.places) and ORIGIN not in self.world:
            self.note_point(ORIGIN)
            self.unplaced.append(self.world[ORIGIN])
        return self.add_places(len(self.x))

    def note_point(self, point: Point) -> None:
        if point.body is None:
            if point not in self.world:
                if point.direction or point.counter:
                    self.unplaced.append(len(self.x))
                self.world[point] = len(self.x)
                self.x.append(point.offset)
                self.v.append((0.0, 0.0, 0.0))
                self.mass.append((0.0, 0.0, 0.0))
        elif any(point.offset):
            self.places.setdefault((point.body, point.offset, point.direction), len(self.places))

    def add_places(self, slots: int) -> Places:
        arms, owners, bases = [], [], []
        for name, offset, direction in self.places:
            info = self.info[name]
            owners.append(info)
            bases.append(self.world[ORIGIN] if direction else info.slot)
            to_principal = present(info.to_principal, "the frame of a rigid body")
            arms.append(rotate(to_principal * (1, -1, -1, -1), np.array(offset)))
            self.x.append((0.0, 0.0, 0.0))
            self.v.append((0.0, 0.0, 0.0))
            self.mass.append((0.0, 0.0, 0.0))
        return Places(
            np.arange(slots, slots + len(owners)).astype(INDEX),
            np.array([info.slot for info in owners], INDEX),
            np.array(bases, INDEX),
            np.array([info.quat for info in owners], INDEX),
            np.array(arms, float).reshape(-1, 3),
            np.zeros((max((info.quat + 1 for info in owners), default=0), 9)),
            len(owners),
        )

    @property
    def count(self) -> int:
        """Slots, without the places on bodies that stand behind them once points are added."""
        return len(self.x) - len(self.places)

    def number(self, point: Point) -> int:
        """The point's place in x."""
        if point.body is None:
            return self.world[point]
        if any(point.offset):
            return self.count + self.places[point.body, point.offset, point.direction]
        return self.info[point.body].slot

    def directions(self) -> np.ndarray:
        """The numbers of points that are no places: directions, counters, and what they are carried by."""
        on_bodies = [self.count + i for (_, _, direction), i in self.places.items() if direction]
        return np.array(self.unplaced + on_bodies, np.int64)

    def turning_number(self, point: Point) -> int:
        info = self.info[point.body] if point.body is not None else None
        if info is None or info.kind != "rigid":
            raise TautError(f"a torque acts on '{point.body}', which is not a rigid body; apply a force instead.")
        return info.slot + 1

    # arrays

    def body_arrays(self, damped: bool) -> Bodies:
        mass = np.array(self.mass, float).reshape(-1, 3)
        free = (mass > 0).astype(float)
        w = np.divide(1.0, mass, out=np.zeros_like(mass), where=mass > 0)
        constant = np.zeros_like(mass)
        for info in self.info.values():
            if info.kind != "coordinate":
                constant[info.slot] = mass[info.slot] * np.array(self.scene.gravity)
            elif info.motion == "free":
                free[info.slot, 0] = 1.0  # also where only scene.reduced gives it inertia
        spins = [info.slot + 1 for info in self.info.values() if info.kind == "rigid"]
        inertia = np.array(self.inertia, float).reshape(-1, 3)
        turning = bool(np.ptp(inertia, axis=1).any()) if len(inertia) else False
        return Bodies(
            self.count, self.of_bodies, w, mass, free, constant, np.array(spins, INDEX), inertia,
            int(turning or damped), self._even_weight(mass, w),
        )  # fmt: skip

    def _even_weight(self, mass: np.ndarray, w: np.ndarray) -> np.ndarray:
        """W as it would be if every free body had 1 kg, its radii of gyration kept; nothing where masses are alike."""
        scale = mass.copy()
        for info in self.info.values():
            if info.kind == "rigid":
                scale[info.slot + 1] = mass[info.slot].max()
        sizes = scale[scale > 0.0]
        uneven = len(sizes) > 0 and sizes.max() > UNEVEN * sizes.min()
        return w * scale if uneven else np.zeros((0, 3))

    def carried(self) -> tuple[np.ndarray, np.ndarray]:
        """Nodes that sit on driven bodies."""
        table, arms = [], []
        for body in self.scene.bodies.values():
            if body.carried is not None:
                on = self.info[str(body.carried.body)]
                arm = np.array(body.carried.offset)
                if on.to_principal is not None:
                    arm = rotate(on.to_principal * (1, -1, -1, -1), arm)
                table.append((self.info[body.name].slot, on.slot, on.quat))
                arms.append(arm)
        return np.array(table, np.int64).reshape(-1, 3), np.array(arms, float).reshape(-1, 3)

    def signal_arrays(self) -> Signals:
        """Compiles every function of time; all that they drive has been collected."""
        addresses = [codegen.signal_address(signal) for signal in self.signals.number]
        return Signals(
            np.array(addresses, np.int64),
            np.zeros((len(addresses), 3)),
            self.signals.table("to_constraint", 2),
            self.signals.table("to_force", 2),
            self.signals.table("driven", 3),
            np.array(self.turned, np.int64).reshape(-1, 3),
            np.array(self.turned_axis, float).reshape(-1, 3),
            np.array(self.turned_from, float).reshape(-1, 4),
            *self.carried(),
        )
