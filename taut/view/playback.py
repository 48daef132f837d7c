"""One run as the page sees it: what it is, blocks of frames, and lines over time.

A block holds every stride-th record from `start` to `stop`, so the page decides how finely it looks:

    time  (T,)          [s]
    x     (T, slots, 3) places [m]; missing where a run has left all that is worth seeing
    quat  (T, rigid, 4) principal axes
    speed (T, slots)    [m/s]
    phi   (T, m)        log10 of |Φ|, of what an inequality does not allow
    lam   (T, m)        λ
    joint (T, n)        coordinates of joints; `coordinates` of the description names them
    force (T, F, 6)     what constraints do [N], and where [m], if asked for; `forces` of the description names them
    push  (T, slots, 3) what contacts do [N]
    touch (n, 6)        points [m] and normals of contacts, those of frame k from touch_at[k] on
    obstacle: NAME (T, n)  the numbers of an obstacle that moves

A line has every record where few are asked for, else the least and the largest of each bucket: no peak is lost.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, lru_cache
from math import log
from typing import Any

import numpy as np

from ..methods import style_of
from ..result.dataset import elongations
from ..result.reactions import Before
from ..result.records import Records
from ..result.run import Run
from .contacts import contacts
from .drawing import Drawing, nearby
from .forces import Forces
from .frames import message
from .joints import Coordinates

FAR = 50.0  # times the scene's size: further off a body is not drawn
FLAT, THIN = 0.05, 0.3  # of the size: what moves less along z, and is not thicker, is seen from the front
MOST_EVENTS = 2000
NOTHING = 1e-20  # the least |Φ| that is told apart from zero
ROUGH = 40  # records that tell how far a scene reaches


class Playback:
    """A run, with a name and a colour."""

    def __init__(self, run: Run, name: str, duration: float | None = None) -> None:
        self.run, self.name = run, name
        self.source = name  # what a message calls it
        self.color = style_of(run.info.get("method", "")).color
        n = len(run.records)
        thin = run.records.places(np.unique(np.linspace(0, n - 1, min(n, ROUGH)).astype(np.int64)))
        self.drawing = Drawing(run.labels, run.scene, thin, duration or float(run.records.time[-1]))
        self.centre, self.size = extent(run, thin[0], self.drawing.reach())
        self.bounds, self.is_flat = self._bounds(thin)
        self.coordinates, self.forces = Coordinates(run), Forces(run)
        self._series: dict[str, np.ndarray] = {}
        self.block = lru_cache(maxsize=8)(self._block)  # a second viewer asks for the same

    @property
    def records(self) -> Records:
        return self.run.records

    is_running = False

    def grow(self) -> bool:
        """Whether there is more than before; a run in memory is as it is."""
        return False

    def forget(self) -> None:
        """Drop what was computed from shorter records."""
        self._series = {}  # a line that is being computed of the shorter records goes into the old one
        self.block.cache_clear()

    def describe(self) -> dict[str, Any]:
        """What the page shows of the run beside its motion."""
        run, info = self.run, self.run.info
        style = style_of(info.get("method", ""))
        return {
            "name": self.name, "method": info.get("method", ""), "dt": info.get("dt"), "status": run.status,
            "message": run.message, "color": self.color, "dash": list(style.dash), "records": len(self.records),
            "start": float(self.records.time[0]), "end": self.end, "events": self.events(),
            "forces": self.forces.names, "coordinates": self.coordinates.names(), "lines": list(self.lines()),
            "bounds": self.bounds, "flat": self.is_flat, "unshown": self.forces.unshown,
        }  # fmt: skip

    @property
    def end(self) -> float:
        return float(self.records.time[-1])

    def _bounds(self, x: np.ndarray) -> tuple[list[list[float]], bool]:
        """Corners of the box that the motion stays in, as far as it is worth seeing [m]; whether it is flat in z."""
        bodies = [body for body in self.run.labels.bodies if body.kind != "coordinate"]
        reach = self.drawing.reach()
        radius = np.array([reach.get(body.name, 0.0) for body in bodies])[None, :, None]
        places = x[:, [body.slot for body in bodies]]
        with np.errstate(all="ignore"):
            near = (np.abs(places - self.centre) < 2.0 * self.size).all(axis=2)
        if not near.any():
            return [(self.centre - self.size).tolist(), (self.centre + self.size).tolist()], False
        low, high = (places - radius)[near].min(axis=0), (places + radius)[near].max(axis=0)
        for visual, *_ in self.drawing.visuals:
            if visual["body"] is None:
                ends = nearby(visual["box"], low, high)
                low, high = np.minimum(low, ends[0]), np.maximum(high, ends[1])
        flat = np.ptp(places[near][:, 2]) < FLAT * self.size and high[2] - low[2] < THIN * self.size
        return [low.tolist(), high.tolist()], bool(flat)

    # Frames

    def _block(self, start: int, stop: int, stride: int, forces: bool, level: int = 0) -> bytes:
        """Frames; they are not compressed on the way to a page of this machine: that would be most of the work."""
        start, stop = max(0, start), min(stop, len(self.records))
        at = np.arange(start, max(stop, start), max(stride, 1))
        part = self.records.part(at)
        arrays = self.arrays(part, self._before(at) if forces else None)
        return message("block", arrays, level, start=start, stop=stop, stride=stride)

    def arrays(self, part: Records, before: Before | None) -> dict[str, tuple[str, np.ndarray]]:
        """What a block tells of some records; forces of constraints where `before` is given (reactions.py)."""
        with np.errstate(all="ignore"):
            phi = np.abs(self.run.labels.violation(part.phi)).astype(np.float32)  # six digits are more than are sent
            arrays: dict[str, tuple[str, np.ndarray]] = {
                "time": ("f8", part.time),
                "x": ("track", self._near(part.x)),
                "quat": ("track", part.quat),
                "speed": ("track", np.minimum(np.sqrt(np.einsum("tsc,tsc->ts", part.v, part.v)), 1e6)),
                "phi": ("track", np.log(phi + np.float32(NOTHING)) / np.float32(log(10.0))),
                "lam": ("track", part.lam),
            }
            if self.coordinates.names():
                arrays["joint"] = ("track", self.coordinates.table(part))
            arrays |= self._contacts_of(part)
            if before is not None and self.forces.names:
                arrays["force"] = ("track", self.forces.table(part, before))
            return arrays | {f"obstacle: {name}": ("track", v) for name, v in self.drawing.moved(part.time).items()}

    def _near(self, x: np.ndarray) -> np.ndarray:
        """Places, and none where they are further off than is worth seeing."""
        low, high = x.min(initial=np.inf), x.max(initial=-np.inf)
        reach = FAR * self.size - np.abs(self.centre).max()
        if max(-low, high) <= reach:
            return x
        return np.where(np.abs(x - self.centre) > FAR * self.size, np.nan, x)

    def _before(self, at: np.ndarray) -> Before:
        """Where the step that led to each record began."""
        if self.run.info.get("record_every", 1) == 1:
            last = self.records.part(np.maximum(at - 1, 0))
            return last.time, last.x, last.quat
        now = self.records.part(at)
        dt = np.where(at > 0, float(self.run.info.get("dt") or 0.0), 0.0)
        return now.time - dt, now.x - dt[:, None, None] * now.v, now.quat

    def _contacts_of(self, part: Records) -> dict[str, tuple[str, np.ndarray]]:
        if not part.contact_force.shape[1]:
            return {}
        balls, nodes = self._touchable
        obstacles = self.drawing.obstacles()
        found, ends = [np.zeros((0, 6))], [0]
        for x, push in zip(part.x, part.contact_force):
            found.append(contacts(x, push, balls, nodes, obstacles))
            ends.append(ends[-1] + len(found[-1]))
        return {
            "push": ("track", part.contact_force), "touch": ("short", np.concatenate(found)),
            "touch_at": ("u4", np.array(ends)),
        }  # fmt: skip

    @cached_property
    def _touchable(self) -> tuple[list[tuple[int, float]], np.ndarray]:
        """Slot and radius [m] of balls, and slots of the nodes of deformables."""
        bodies = dict(self.run.scene.bodies) if self.run.scene else {}
        owned = {name for name, spec in bodies.items() if spec.owner is not None}
        balls = [(body.slot, bodies[body.name].radius if body.name in bodies else 0.0)
                 for body in self.run.labels.bodies
                 if body.kind != "coordinate" and body.name not in owned]  # fmt: skip
        return balls, np.array([body.slot for body in self.run.labels.bodies if body.name in owned], np.int64)

    # Lines

    def lines(self) -> dict[str, Callable[[], np.ndarray]]:
        """What can be drawn over time, by name; of a constraint "λ NAME", of a coordinate "joint NAME"."""
        records, labels = self.records, self.run.labels
        lines: dict[str, Callable[[], np.ndarray]] = {
            "kinetic": lambda: records.energy[:, 0],
            "potential": lambda: records.energy[:, 1],
            "total": lambda: records.energy[:, 0] + records.energy[:, 1],
            "drift of energy": records.energy_drift,
        }
        if records.phi.shape[1]:
            lines["drift"] = lambda: np.abs(labels.violation(records.phi)).sum(axis=1)
            lines["rate"] = lambda: np.abs(labels.equality_rates(records.rate)).sum(axis=1)
        if len(labels.edges):
            lines["elongation"] = lambda: elongations(records.x, labels.edges, labels.lengths)[0]
        if records.contacts.shape[1]:
            lines["contacts"] = lambda: records.contacts[:, 0]
            lines["overlap"] = lambda: records.contacts[:, 1]
        return lines

    def line(self, name: str) -> np.ndarray:
        """All records of a line."""
        known = self._series
        if name not in known:
            with np.errstate(all="ignore"):
                if name.startswith("joint "):
                    values = self.coordinates.line(name[6:], self.records)
                elif name.startswith("λ "):
                    rows = dict(zip(self.run.labels.row_names(), self.run.labels.rows()))
                    values = self.records.lam[:, rows[name[2:]]]
                else:
                    values = self.lines()[name]()
            known[name] = values
        return known[name]

    def series(self, name: str, start: float, end: float, points: int, level: int = 0) -> bytes:
        """A line between two times, thinned to about so many points."""
        time = self.records.time
        first = max(int(np.searchsorted(time, start)) - 1, 0)
        last = min(int(np.searchsorted(time, end, "right")) + 1, len(time))
        at = thinned(self.line(name)[first:last], points) + first
        arrays = {"time": ("f8", time[at]), "value": ("f8", self.line(name)[at])}
        return message("series", arrays, level, name=name, exact=len(at) == last - first)

    def events(self) -> list[list[Any]]:
        """[time, kind, name] of impacts, activations and releases; impacts first where there are too many."""
        events = self.run._events
        if not len(events) or self.run.scene is None:
            return []
        table = self.run.events
        rows = list(zip(table.time.tolist(), table.kind.tolist(), table.constraint.tolist()))
        if len(rows) > MOST_EVENTS:
            rows = [row for row in rows if row[1] == "impact"] or rows
            rows = rows[:: -(-len(rows) // MOST_EVENTS)]
        return [list(row) for row in rows]


def thinned(values: np.ndarray, points: int) -> np.ndarray:
    """Which entries to keep: all, or the places of the least and the largest of each bucket, in order."""
    n = len(values)
    if n <= max(points, 4):
        return np.arange(n)
    edges = np.linspace(0, n, max(points // 2, 2) + 1).astype(np.int64)
    width = int(np.diff(edges).max())
    spread = np.minimum(edges[:-1, None] + np.arange(width), edges[1:, None] - 1)
    table = np.where(np.isfinite(values[spread]), values[spread], 0.0)
    rows = np.arange(len(spread))
    picked = [spread[rows, table.argmin(axis=1)], spread[rows, table.argmax(axis=1)]]
    return np.unique(np.concatenate([[0, n - 1], *picked]))


def extent(run: Run, x: np.ndarray, reach: dict[str, float]) -> tuple[np.ndarray, float]:
    """Centre and diagonal [m] of the box around the bodies of a scene; reach [m] of each about its place."""
    bodies = [body for body in run.labels.bodies if body.kind != "coordinate"]
    if not bodies:
        return np.zeros(3), 1.0
    radius = max((body.radius for body in run.scene.bodies.values()), default=0.0) if run.scene else 0.0
    around = np.array([max(radius, reach.get(body.name, 0.0)) for body in bodies])[:, None]
    places = x[[body.slot for body in bodies]]
    low, high = (places - around).min(axis=0), (places + around).max(axis=0)
    size = float(np.linalg.norm(high - low))
    return (low + high) / 2.0, size if size > 0.0 else 1.0
