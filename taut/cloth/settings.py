"""Tunable numbers of the solver of step.py: what each means, its default and its range.

    with taut.cloth.settings.changed(max_iterations=60, max_move=0.3):
        taut.simulate(scene, dt=1/60, duration=2.0)

They are read when a run begins. The defaults are what the tests and the tables of docs/cloth.md were made with.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Annotated, Any, NamedTuple, get_type_hints

from ..compiled import structure
from ..errors import TautError, shown, unknown


class Meaning(NamedTuple):
    least: float
    most: float
    text: str


def _count(text: str, least: int = 1, most: int = 10_000) -> Meaning:
    return Meaning(least, most, text)


def _size(text: str, least: float = 0.0, most: float = 1e15) -> Meaning:
    return Meaning(least, most, text)


@structure
class NewtonSettings(NamedTuple):
    """Newton's method with an active set (newton.py), friction, and substeps (step.py)."""

    max_iterations: Annotated[int, _count("iterations where the active set is fixed")] = 40
    max_with_active_set: Annotated[int, _count("iterations where the active set may change")] = 22
    max_after_interior_point: Annotated[int, _count("iterations after the interior point")] = 20
    active_set_iterations: Annotated[int, _count("iterations after which the active set may hardly change")] = 5
    rows_per_change: Annotated[float, _size("from then on at most one row in so many may enter or leave", 1.0)] = 300.0
    changes_decay: Annotated[float, _size("factor on that in each iteration from there on", 0.0, 1.0)] = 0.7
    trial_interval: Annotated[int, _count("iterations between trials of a true matrix that was not definite")] = 4
    buckling_tolerance: Annotated[float, _size("factor on the residual's tolerance while springs buckle", 1.0)] = 10.0
    max_move: Annotated[float, _size("move of neighbours against each other in an iteration [mean edges]")] = 0.5
    max_friction_rounds: Annotated[int, _count("rounds of fixed-point iteration on friction")] = 8
    friction_tolerance: Annotated[float, _size("change of λ in the last of them, of the largest", 0.0, 1.0)] = 0.01
    short_substep: Annotated[float, _size("share of a step below which these rounds are tried", 0.0, 1.0)] = 0.2
    max_travel: Annotated[float, _size("of a node in one substep where deformables may touch [mean edges]")] = 2.0
    max_ball_travel: Annotated[float, _size("of a ball over nodes in one substep [radii]")] = 0.5
    substeps_before_growth: Annotated[float, _size("substeps after a failure before they may grow")] = 16.0
    passing_depth: Annotated[float, _size("depth from which on a node has passed an obstacle [mean edges]")] = 0.2


@structure
class ToleranceSettings(NamedTuple):
    """When a step counts as solved, and penalties κ in units of m/h² (tolerances.py)."""

    limit_error: Annotated[float, _size("error of a limit that a step may leave, of its length")] = 5e-5
    contact_error: Annotated[float, _size("error of a contact that a step may leave [mean edges]")] = 5e-4
    self_contact_error: Annotated[float, _size("share of the distance between deformables that may be pressed")] = 0.5
    residual: Annotated[float, _size("residual of forces as a displacement [mean edges]")] = 0.02
    coarse_edges: Annotated[float, _size("edges along a sheet from which on the residual no longer falls", 1.0)] = 30.0
    usual_step: Annotated[float, _size("step below which tolerances fall [s]")] = 1.0 / 60.0
    usual_hard: Annotated[float, _size("the same with hard edges alone [s]")] = 1.0 / 240.0
    hard_penalty: Annotated[float, _size("of hard edges and pins")] = 1e9
    soft_penalty: Annotated[float, _size("of limits and contacts, to begin with")] = 1e3
    max_penalty: Annotated[float, _size("of limits and contacts, at most")] = 1e7
    self_contact_penalty: Annotated[float, _size("between deformables, to begin with")] = 20.0
    penalty_growth: Annotated[float, _size("factor where an error is left", 1.0)] = 4.0
    release_change: Annotated[float, _size("change of length in which a multiplier of before is released")] = 0.01


@structure
class FallbackSettings(NamedTuple):
    """Interior point (interior_point.py, slack.py) and augmented Lagrangian (augmented_lagrangian.py)."""

    max_interior_iterations: Annotated[int, _count("iterations of the interior point")] = 60
    max_barrier_penalty: Annotated[float, _size("κ = T/s at most, of m/h²")] = 1e12
    min_step_length: Annotated[float, _size("step lengths below this are stalls", 0.0, 1.0)] = 0.01
    max_stalls: Annotated[int, _count("stalls after which Newton's method may try")] = 3
    max_buckling_iterations: Annotated[int, _count("iterations in which springs buckle")] = 10
    mu_floor: Annotated[float, _size("μ at least, of m/h² times the squared residual")] = 1e-3
    small_residual: Annotated[float, _size("below which the true matrix is tried [mean edges]")] = 0.1
    idle_share: Annotated[float, _size("of the residual's tolerance: a weaker T does not pull")] = 0.1
    initial_slack: Annotated[float, _size("s to begin with, of a length")] = 0.01
    initial_mu: Annotated[float, _size("μ to begin with, in units of m/h² s²")] = 100.0
    fraction_to_boundary: Annotated[float, _size("of the step length at which s = 0 or T = 0", 0.0, 1.0)] = 0.995
    max_descents: Annotated[int, _count("iterations of the augmented Lagrangian")] = 150
    max_halvings: Annotated[int, _count("halvings of a step length")] = 24
    sufficient_decrease: Annotated[float, _size("Armijo's factor on the slope", 0.0, 1.0)] = 1e-4


@structure
class Settings(NamedTuple):
    newton: NewtonSettings = NewtonSettings()
    tolerances: ToleranceSettings = ToleranceSettings()
    fallback: FallbackSettings = FallbackSettings()


GROUPS: tuple[Any, ...] = (NewtonSettings, ToleranceSettings, FallbackSettings)
MEANINGS: dict[str, Meaning] = {
    name: hint.__metadata__[0]
    for group in GROUPS
    for name, hint in get_type_hints(group, include_extras=True).items()
}
DEFAULTS = Settings()
_current: ContextVar[Settings] = ContextVar("settings of cloth")


def current() -> Settings:
    """The settings that a run takes which begins now."""
    return _current.get(DEFAULTS)


@contextmanager
def changed(**values: float) -> Iterator[Settings]:
    """Runs that begin inside have these values."""
    settings = current()
    for name, value in values.items():
        settings = _with(settings, name, value)
    token = _current.set(settings)
    try:
        yield settings
    finally:
        _current.reset(token)


def _with(settings: Settings, name: str, value: Any) -> Settings:
    if name not in MEANINGS:
        raise unknown("setting of cloth", name, MEANINGS)
    meaning = MEANINGS[name]
    whole = isinstance(getattr(_group(settings, name), name), int)
    kinds = (int,) if whole else (int, float)
    if isinstance(value, bool) or not isinstance(value, kinds) or not meaning.least <= value <= meaning.most:
        kind = "a whole number" if whole else "a number"
        raise TautError(f"setting '{name}' ({meaning.text}) is {shown(value)}; give {kind} from {meaning.least:g} to "
                        f"{meaning.most:g}.")
    own = _group(settings, name)
    field = next(field for field in Settings._fields if getattr(settings, field) is own)
    return settings._replace(**{field: own._replace(**{name: value if whole else float(value)})})


def _group(settings: Settings, name: str) -> Any:
    return next(group for group in settings if name in group._fields)
