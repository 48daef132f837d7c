"""Tunable numbers of the solver of step.py: what each means, its default and its range.

    with taut.cloth.settings.changed(max_iterations=60, max_move=0.3):
        taut.simulate(scene, dt=1/60, duration=2.0)

They are read when a run begins. The defaults are what the tests and the tables of docs/cloth.md were made with.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ..compiled import structure
from ..settings import Declared, count, size


@structure
class NewtonSettings(NamedTuple):
    """Newton's method with an active set (newton.py), friction, and substeps (step.py)."""

    max_iterations: Annotated[int, count("iterations where the active set is fixed")] = 40
    max_with_active_set: Annotated[int, count("iterations where the active set may change")] = 22
    max_after_interior_point: Annotated[int, count("iterations after the interior point")] = 20
    settling_iterations: Annotated[int, count("iterations after which the active set should change little")] = 5
    changing_share: Annotated[float, size("by then at most one of so many rows may enter or leave", 1.0)] = 300.0
    changes_decay: Annotated[float, size("factor on that in each iteration from there on", 0.0, 1.0)] = 0.7
    trial_interval: Annotated[int, count("iterations between trials of a true matrix that was not definite")] = 4
    buckling_tolerance: Annotated[float, size("factor on the residual's tolerance while springs buckle", 1.0)] = 10.0
    max_move: Annotated[float, size("move of neighbours against each other in an iteration [mean edges]")] = 0.5
    max_friction_rounds: Annotated[int, count("rounds of fixed-point iteration on friction")] = 8
    friction_tolerance: Annotated[float, size("change of λ in the last of them, of the largest", 0.0, 1.0)] = 0.01
    short_substep: Annotated[float, size("share of a step below which these rounds are tried", 0.0, 1.0)] = 0.2
    max_travel: Annotated[float, size("of a node in one substep where deformables may touch [mean edges]")] = 2.0
    max_ball_travel: Annotated[float, size("of a ball over nodes in one substep [radii]")] = 0.5
    substeps_before_growth: Annotated[float, size("substeps after a failure before they may grow")] = 16.0
    passing_depth: Annotated[float, size("depth from which on a node has passed an obstacle [mean edges]")] = 0.2


@structure
class ToleranceSettings(NamedTuple):
    """When a step counts as solved, and penalties κ in units of m/h² (tolerances.py)."""

    limit_error: Annotated[float, size("error of a limit that a step may leave, of its length")] = 5e-5
    contact_error: Annotated[float, size("error of a contact that a step may leave [mean edges]")] = 5e-4
    self_contact_error: Annotated[float, size("share of the distance between deformables that may be pressed")] = 0.5
    residual: Annotated[float, size("residual of forces as a displacement [mean edges]")] = 0.02
    coarse_edges: Annotated[float, size("edges along a sheet from which on the residual no longer falls", 1.0)] = 30.0
    usual_step: Annotated[float, size("step below which tolerances fall [s]")] = 1.0 / 60.0
    usual_hard: Annotated[float, size("the same with hard edges alone [s]")] = 1.0 / 240.0
    hard_penalty: Annotated[float, size("of hard edges and pins")] = 1e9
    soft_penalty: Annotated[float, size("of limits and contacts, to begin with")] = 1e3
    max_penalty: Annotated[float, size("of limits and contacts, at most")] = 1e7
    self_contact_penalty: Annotated[float, size("between deformables, to begin with")] = 20.0
    penalty_growth: Annotated[float, size("factor where an error is left", 1.0)] = 4.0
    release_change: Annotated[float, size("change of length in which a multiplier of before is released")] = 0.01


@structure
class FallbackSettings(NamedTuple):
    """Interior point (interior_point.py, slack.py) and augmented Lagrangian (augmented_lagrangian.py)."""

    max_interior_iterations: Annotated[int, count("iterations of the interior point")] = 60
    max_barrier_penalty: Annotated[float, size("κ = T/s at most, of m/h²")] = 1e12
    min_step_length: Annotated[float, size("step lengths below this are stalls", 0.0, 1.0)] = 0.01
    max_stalls: Annotated[int, count("stalls after which Newton's method may try")] = 3
    max_buckling_iterations: Annotated[int, count("iterations in which springs buckle")] = 10
    mu_floor: Annotated[float, size("μ at least, of m/h² times the squared residual")] = 1e-3
    small_residual: Annotated[float, size("below which the true matrix is tried [mean edges]")] = 0.1
    idle_share: Annotated[float, size("of the residual's tolerance: a weaker T does not pull")] = 0.1
    initial_slack: Annotated[float, size("s to begin with, of a length")] = 0.01
    initial_mu: Annotated[float, size("μ to begin with, in units of m/h² s²")] = 100.0
    fraction_to_boundary: Annotated[float, size("of the step length at which s = 0 or T = 0", 0.0, 1.0)] = 0.995
    max_descents: Annotated[int, count("iterations of the augmented Lagrangian")] = 150
    max_halvings: Annotated[int, count("halvings of a step length")] = 24
    sufficient_decrease: Annotated[float, size("Armijo's factor on the slope", 0.0, 1.0)] = 1e-4


@structure
class Settings(NamedTuple):
    newton: NewtonSettings = NewtonSettings()
    tolerances: ToleranceSettings = ToleranceSettings()
    fallback: FallbackSettings = FallbackSettings()


DECLARED = Declared("cloth", Settings())
current, changed = DECLARED.current, DECLARED.changed
