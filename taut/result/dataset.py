"""Records with names and units, as an xarray.Dataset.

    p = Σ m v                                           (1)
    L = Σ m x × v + R I ω                               (2)   about the origin; ω in principal axes
    e = (l - L) / L                                     (3)   of an edge of a cloth that is L long at rest

The first two are sums over free bodies: what is fixed or driven takes up any momentum and has none of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..model.frames import conjugate, multiply, rotate
from .labels import Labels
from .records import Records

if TYPE_CHECKING:
    import xarray

XYZ = ["x", "y", "z"]
LEVEL = "position: Φ = 0; velocity: A v + b = 0, which is the constraint_rate, and has no constraint_error"


def dataset(labels: Labels, records: Records, attributes: dict[str, Any]) -> xarray.Dataset:
    """Dimensions time, body, xyz, constraint, and where present rigid, wxyz and coordinate."""
    import xarray

    variables = _of_bodies(labels, records) | _of_constraints(labels, records) | _of_all(labels, records)
    variables |= _of_deformables(labels, records)
    names = {
        "time": ("time", records.time, {"units": "s", "long_name": "time"}),
        "xyz": XYZ,
        "body": _names(labels, "particle", "rigid"),
        "constraint": np.array(labels.row_names(), dtype=str),
        "unit": ("constraint", np.array(labels.units(), dtype=str), {"long_name": "unit of the constraint"}),
        "level": ("constraint", np.array(labels.levels(), dtype=str), {"long_name": LEVEL}),
        "sense": ("constraint", np.array(labels.senses(), dtype=str), {"long_name": "==, >= or <="}),
    }
    if "orientation" in variables:
        names |= {"rigid": _names(labels, "rigid"), "wxyz": ["w", "x", "y", "z"]}
    if "coordinate_value" in variables:
        names["coordinate"] = np.array(list(labels.scalars(records)), dtype=str)
    data = {
        name: (dims, values, {"units": unit, "long_name": long_name})
        for name, (dims, values, unit, long_name) in variables.items()
    }
    return xarray.Dataset(data, names, attributes)


def _names(labels: Labels, *kinds: str) -> np.ndarray:
    return np.array([body.name for body in labels.bodies if body.kind in kinds], dtype=str)


def _of_bodies(labels: Labels, records: Records) -> dict[str, tuple]:
    places = [body.slot for body in labels.bodies if body.kind != "coordinate"]
    rigid = [body for body in labels.bodies if body.kind == "rigid"]
    each = ("time", "body", "xyz")
    variables: dict[str, tuple] = {
        "position": (each, records.x[:, places], "m", "position (of a rigid body: its centre of mass)"),
        "velocity": (each, records.v[:, places], "m/s", "velocity (of a rigid body: of its centre of mass)"),
    }
    if rigid:
        principal = records.quat[:, [body.quat for body in rigid]]
        spin = records.v[:, [body.slot + 1 for body in rigid]]
        own = np.array([body.to_principal for body in rigid], float)
        variables["orientation"] = (
            ("time", "rigid", "wxyz"), multiply(principal, conjugate(own)), "1",
            "unit quaternion from the body's frame to the world",
        )  # fmt: skip
        variables["angular_velocity"] = (
            ("time", "rigid", "xyz"), rotate(principal, spin), "rad/s",
            "angular velocity in the world's frame",
        )  # fmt: skip
        variables["angular_velocity_body"] = (
            ("time", "rigid", "xyz"), rotate(own, spin), "rad/s", "angular velocity in the body's own axes",
        )  # fmt: skip
    scalars = labels.scalars(records)
    if scalars:
        dims, unit = ("time", "coordinate"), "the coordinate's own"
        q, rate = (np.stack(columns, axis=1) for columns in zip(*scalars.values()))
        variables["coordinate_value"] = (dims, q, unit, "value of the coordinate")
        variables["coordinate_rate"] = (dims, rate, f"{unit} per s", "rate of the coordinate")
    return variables


def _of_constraints(labels: Labels, records: Records) -> dict[str, tuple]:
    rows, dims = labels.rows(), ("time", "constraint")
    return {
        "multiplier": (dims, records.lam[:, rows], "J per unit of the constraint", "λ, force = +Jᵀ λ"),
        "constraint_error": (dims, records.phi[:, rows], "see coordinate unit", "Φ"),
        "constraint_rate": (dims, records.rate[:, rows], "see coordinate unit, per s", "dΦ/dt, or A v + b"),
    }


def _of_all(labels: Labels, records: Records) -> dict[str, tuple]:
    kinetic, potential, driven, forces, impact, friction = records.energy.T
    linear, angular = momenta(labels, records)
    touching = {}
    if records.contact_force.shape[1]:
        slots = [body.slot for body in labels.bodies if body.kind != "coordinate"]
        touching = {
            "contact_force": (
                ("time", "body", "xyz"), records.contact_force[:, slots], "N", "force of all contacts on a body"
            ),
            "contact_count": ("time", records.contacts[:, 0].astype(int), "1", "contacts that push"),
            "overlap": ("time", records.contacts[:, 1], "m", "deepest violation of an inequality"),
        }  # fmt: skip
    return touching | {
        "energy_kinetic": ("time", kinetic, "J", "kinetic energy"),
        "energy_potential": ("time", potential, "J", "potential energy"),
        "energy_total": ("time", kinetic + potential, "J", "kinetic and potential energy"),
        "energy_driver_work": ("time", driven, "J", "work done by drivers since the start"),
        "energy_force_work": ("time", forces, "J", "work of forces without potential (drag, damping) since the start"),
        "energy_impact": ("time", impact, "J", "energy taken by impacts since the start"),
        "energy_friction": ("time", friction, "J", "energy taken by friction of contacts since the start"),
        "energy_drift": (
            "time", records.energy_drift(), "J",
            "change of energy_total that drivers, forces, impacts and friction do not account for: the method's own",
        ),
        "momentum": (("time", "xyz"), linear, "kg m/s", "momentum of free bodies"),
        "angular_momentum": (("time", "xyz"), angular, "kg m²/s", "angular momentum of free bodies"),
    }


def _of_deformables(labels: Labels, records: Records) -> dict[str, tuple]:
    if not len(labels.edges):
        return {}
    largest, mean = elongations(records.x, labels.edges, labels.lengths)
    return {
        "limited_edges": ("time", records.contacts[:, 2].astype(int), "1", "edges of deformables at their limit"),
        "elongation": ("time", largest, "1", "largest elongation of a structural edge"),
        "mean_elongation": ("time", mean, "1", "mean elongation of structural edges, shortened ones as 0"),
    }  # fmt: skip


def elongations(x: np.ndarray, edges: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Of (l - L) / L over edges (e, 2) of lengths L (e,) [m] the largest, and the mean of what is above zero, (3).

    x  places [m], shape (T, slots, 3)
    """
    found = np.empty((2, len(x)))
    for k, now in enumerate(x):  # one after the other: all together would take much memory
        longer = np.linalg.norm(now[edges[:, 0]] - now[edges[:, 1]], axis=1) / lengths - 1.0  # (3)
        found[:, k] = longer.max(), np.maximum(longer, 0.0).mean()
    return found[0], found[1]


def momenta(labels: Labels, records: Records) -> tuple[np.ndarray, np.ndarray]:
    """Momentum and angular momentum of free bodies, each of shape (T, 3)."""
    free = [body for body in labels.bodies if body.motion == "free" and body.kind != "coordinate"]
    slots = [body.slot for body in free]
    mass = np.array([body.mass for body in free]).reshape(-1, 1)
    x, p = records.x[:, slots], mass * records.v[:, slots]
    angular = np.cross(x, p).sum(axis=1)
    for body in free:
        if body.kind == "rigid":
            spin = labels.inertia[body.quat] * records.v[:, body.slot + 1]
            angular = angular + rotate(records.quat[:, body.quat], spin)  # (2)
    return p.sum(axis=1), angular  # (1)
