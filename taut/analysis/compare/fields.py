"""What a comparison measures: one Field per number, in the order of tables."""

from __future__ import annotations

from dataclasses import dataclass
from math import isinf, isnan

# Stand for units of the scene: of its constraints, and of its bodies' places.
PHI, RATE, LENGTH = "unit of Φ", "unit of Φ/s", "m"


@dataclass(frozen=True)
class Field:
    name: str  # in the Dataset and the CSV file
    title: str  # in tables
    unit: str
    doc: str
    judged: bool = False  # measured against the reference, and absent without one
    of_constraints: bool = False  # absent where there are none
    of_deformables: bool = False  # absent where there is no cloth and no solid


FIELDS: tuple[Field, ...] = (
    Field("drift_accumulated", "Σ|Φ|", PHI, "sum of |Φ| over all constraints and steps", False, True),
    Field("drift_max", "max |Φ|", PHI, "largest |Φ|", False, True),
    Field("rate_accumulated", "Σ|dΦ/dt|", RATE, "sum of |dΦ/dt| over all constraints and steps", False, True),
    Field("rate_max", "max |dΦ/dt|", RATE, "largest |dΦ/dt|", False, True),
    Field("multiplier_error_max", "max λ error", "1", "largest error of λ, relative to the largest λ", True, True),
    Field("multiplier_error_rms", "rms λ error", "1", "rms error of λ, relative to the largest λ", True, True),
    Field("trajectory_error_end", "end error", LENGTH, "largest error of a body's position at the end", True),
    Field("trajectory_error_max", "max error", LENGTH, "largest error of a body's position at any time", True),
    Field("horizon", "horizon", "s", "time until a body is off by a tenth of the scene's size", True),
    Field("elongation_max", "longest", "1", "largest elongation of a structural edge at any time", of_deformables=True),
    Field("elongation_mean", "mean longer", "1", "largest mean elongation of structural edges", of_deformables=True),
    Field("held_rows", "held", "1", "hard edges, limits and contacts that act, mean over time", of_deformables=True),
    Field("system_size", "unknowns", "1", "unknowns of the linear system, mean over time", of_deformables=True),
    Field("ms_per_frame", "per frame", "ms", "computing time of 1/60 s, run alone", of_deformables=True),
    Field("energy_drift", "energy drift", "J", "largest change of energy that is the method's own"),
    Field("wall_time", "wall time", "s", "computing time of all steps, without records"),
    Field("us_per_step", "per step", "µs", "computing time of a step, run alone"),
    Field("solves_per_step", "solves", "1", "linear systems solved in a step"),
    Field("steps_done", "steps", "1", "steps taken"),
)
BY_NAME = {field.name: field for field in FIELDS}


def unit_of(field: Field, units: list[str], length: str) -> str:
    """The field's unit in a scene whose constraints and places have these units."""
    distinct = sorted(set(units))
    phi = distinct[0] if len(distinct) == 1 else "mixed units"
    rate = f"{phi}/s" if phi != "mixed units" else phi
    return {PHI: phi, RATE: rate, LENGTH: length}.get(field.unit, field.unit)


def written(field: Field, value: float, duration: float) -> str:
    """A number as tables show it."""
    if isnan(value):
        return "–"
    if field.name == "horizon":
        return f"> {duration:g}" if isinf(value) else f"{value:.3g}"
    if field.name in ("steps_done", "system_size", "held_rows"):
        return f"{value:,.0f}"
    if field.name in ("us_per_step", "solves_per_step", "ms_per_frame"):
        return f"{value:.3g}"
    return f"{value:.2e}"
