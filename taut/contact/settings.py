"""Tunable numbers of the contact solvers: what each means, its default and its range.

    import taut.contact.settings

    with taut.contact.settings.changed(max_sweeps=8000, speed_tolerance=1e-9):
        taut.simulate(scene, dt=0.005, duration=2.0)

They are read when a run begins (taut/settings.py); `taut list settings` prints them. What a user chooses for a scene is
an option of the method instead: `tolerance`, `resting`, `time_tolerance`, `active_set`, `rewind`. The defaults are what
the tests and the tables of docs/benchmarks.md were made with.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

from ..compiled import structure
from ..settings import Declared, count, size


@structure
class RuleSettings(NamedTuple):
    """Few rows, in dense matrices: the rules of the active set (qp.py, lawson_hanson.py, face.py, rules/)."""

    max_proximal_rounds: Annotated[int, count("rounds of the proximal iteration of the exact rule")] = 40
    slack_tolerance: Annotated[float, size("error of a slack, of its terms, that ends them", 0.0, 1.0)] = 1e-13
    slack_accepted: Annotated[float, size("the same after `proximal_patience` rounds, and at the end", 0.0, 1.0)] = 1e-9
    proximal_patience: Annotated[int, count("rounds before that larger error is accepted", 0)] = 3
    proximal_weight: Annotated[float, size("ε of the regularised problem, rows scaled", 1e-14, 1.0)] = 1e-8
    changes_per_row: Annotated[int, count("changes of the active set in a round, for each row")] = 5
    changes_spare: Annotated[int, count("and so many more")] = 50
    weak_slack: Annotated[float, size("slack, of its terms, that lets a row push or not", 0.0, 1.0)] = 1e-10
    probing_push: Annotated[float, size("push that looks for another solution, of the largest λ", 0.0, 1.0)] = 1e-3
    probed_share: Annotated[float, size("share of it that must be left: then λ is not unique", 0.0, 1.0)] = 0.01
    ray_share: Annotated[float, size("least share of a row in a contradiction, of the largest", 0.0, 1.0)] = 1e-6
    rank_tolerance: Annotated[float, size("pivot, of a row's diagonal, below which it depends", 0.0, 1.0)] = 1e-11
    alike_scales: Annotated[float, size("ratio of diagonals within which rows weigh the same", 1.0)] = 100.0
    refinement_rounds: Annotated[int, count("solves of each face, the later ones for what rounding left")] = 2
    slack_floor: Annotated[float, size("least size of terms that slacks are judged by, of the largest c")] = 1e-3
    equality_accepted: Annotated[float, size("error of an enforced row, of its terms", 0.0, 1.0)] = 1e-9
    entering_slack: Annotated[float, size("violation, of its terms, for which jonquet adds a row", 0.0, 1.0)] = 1e-12
    max_impact_rounds: Annotated[int, count("rounds of simultaneous impacts before one compression ends them")] = 200
    impact_rate: Annotated[float, size("approach that is none, of the largest rate of the rows", 0.0, 1.0)] = 1e-12
    max_cone_iterations: Annotated[int, count("Newton's iterations for λ_t of a contact that slips")] = 50
    friction_relaxation: Annotated[float, size("share of a sweep's change that late sweeps take", 0.0, 1.0)] = 0.6
    unrelaxed_share: Annotated[float, size("share of the sweeps before they do", 0.0, 1.0)] = 0.5


@structure
class SweepSettings(NamedTuple):
    """Many rows: projected Gauss-Seidel and conjugate residuals; and when rows are many (solve_contacts.py)."""

    max_dense_rows: Annotated[int, count("rows up to which fixed steps use dense matrices", 3, 20_000)] = 300
    max_sweeps: Annotated[int, count("sweeps and iterations for hard contacts", 1, 10**9)] = 4000
    speed_tolerance: Annotated[float, size("change and error of a row that end them [m/s]")] = 1e-7
    max_compliant_sweeps: Annotated[int, count("sweeps and iterations for compliant contacts", 1, 10**9)] = 300
    compliant_tolerance: Annotated[float, size("change and error of a row that end those [m/s]")] = 2e-7
    friction_tolerance: Annotated[float, size("change that ends the sweeps of few rows with friction [m/s]")] = 1e-12
    compliance: Annotated[float, size("of contacts of large groups, of J W Jᵀ", 0.0, 1.0)] = 1e-3
    first_sweeps: Annotated[int, count("sweeps in a round, at first")] = 8
    max_round_sweeps: Annotated[int, count("and at most, where rounds make no progress")] = 64
    worse_round: Annotated[float, size("error over the best so far from which on rounds get longer", 1.0)] = 2.0
    near_slack: Annotated[float, size("slack of a row that may soon close, over the last change of any", 1.0)] = 8.0
    face_tolerance: Annotated[float, size("residual on the face, over the tolerance", 0.0, 1.0)] = 0.3
    max_step_halvings: Annotated[int, count("halvings of a step that would leave the cone")] = 10


@structure
class StepSettings(NamedTuple):
    """What touches, and fixed steps (time_stepping.py, broad_phase.py, dissipation.py)."""

    gap_tolerance: Annotated[float, size("gap up to which a row touches [smallest radius, at most 1 m]")] = 1e-10
    gap_roundings: Annotated[float, size("and at least so many rounding errors of Φ", 1.0)] = 4.0
    pair_reach: Annotated[float, size("gap within which a record finds a pushing pair [the same]")] = 1e-6
    candidate_reach: Annotated[float, size("way of the fastest slot in a step within which rows matter", 1.0)] = 2.0
    candidate_gap: Annotated[float, size("gap of a row that matters, over that reach", 1.0)] = 2.0
    skin: Annotated[float, size("reach of the search for pairs beyond what is needed [smallest radii]")] = 0.3
    max_candidate_rounds: Annotated[int, count("solves of a step, as long as rows were missed")] = 10
    max_corrections: Annotated[int, count("corrections of Φ after a step")] = 30
    accepted_error: Annotated[float, size("error of Φ that is accepted after all of them [tolerances]", 1.0)] = 100.0
    impact_steps: Annotated[float, size("steps of gravity: what approaches faster has an impact")] = 2.0
    told_impulse: Annotated[float, size("least impulse of an event, of the largest there", 0.0, 1.0)] = 1e-9


@structure
class EventSettings(NamedTuple):
    """Steps that are cut at events (event_driven.py, event_location.py, active_set.py)."""

    landing_speed: Annotated[float, size("approach without restitution where `resting` is 0 [m/s]")] = 1e-6
    rate_tolerance: Annotated[float, size("rate of a gap that is none [m/s]")] = 1e-9
    acceleration_tolerance: Annotated[float, size("acceleration that no force is needed for [m/s²]")] = 1e-9
    gap_rounding: Annotated[float, size("depth of a gap that is none [rounding errors of Φ of a method]")] = 0.125
    separation_margin: Annotated[float, size("separation that lasts, over what falls back by rounding")] = 2.0
    max_projections: Annotated[int, count("iterations that remove drift")] = 4
    drift_share: Annotated[float, size("of the tolerances of gaps and rates: less drift stays", 0.0, 1.0)] = 0.1
    max_bounces: Annotated[int, count("events in a step before impacts lose their restitution", 1, 10**9)] = 2000
    max_events: Annotated[int, count("events in a step before the run ends", 1, 10**9)] = 4000
    shortest_part: Annotated[float, size("of a step: what is shorter is left to Runge-Kutta", 0.0, 1.0)] = 0.01
    first_part: Annotated[float, size("first step of an adaptive method, if none is asked for [s]", 1e-15)] = 1e-3
    itp_slope: Annotated[float, size("κ₁ of the ITP method, times the length of the bracket")] = 0.2
    itp_nudge: Annotated[float, size("least move of its guess towards the middle [time tolerances]", 0.0, 1.0)] = 0.25


@structure
class Settings(NamedTuple):
    rules: RuleSettings = RuleSettings()
    sweeps: SweepSettings = SweepSettings()
    steps: StepSettings = StepSettings()
    events: EventSettings = EventSettings()


DECLARED = Declared("contact", Settings())
current, changed = DECLARED.current, DECLARED.changed
