"""Tunable numbers of the solvers of cloth and solids: what each means, its default and its range.

    import taut.cloth.settings

    with taut.cloth.settings.changed(max_iterations=60, max_move=0.3):
        taut.simulate(scene, dt=1/60, duration=2.0)

They are read when a run begins (taut/settings.py); `taut list settings` prints them. The defaults are what the tests
and the tables of docs/cloth.md were made with.
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
    active_set_iterations: Annotated[int, count("iterations after which the active set may hardly change")] = 5
    rows_per_change: Annotated[float, size("from then on at most one row in so many may enter or leave", 1.0)] = 300.0
    changes_decay: Annotated[float, size("factor on that in each iteration from there on", 0.0, 1.0)] = 0.7
    trial_interval: Annotated[int, count("iterations between trials of a true matrix that was not definite")] = 4
    buckling_tolerance: Annotated[float, size("factor on the residual's tolerance while springs buckle", 1.0)] = 10.0
    max_move: Annotated[float, size("move of neighbours against each other in an iteration [mean edges]")] = 0.5
    max_friction_rounds: Annotated[int, count("rounds of fixed-point iteration on friction")] = 8
    friction_tolerance: Annotated[float, size("change of λ in the last of them, of the largest", 0.0, 1.0)] = 0.01
    short_substep: Annotated[float, size("share of a step below which these rounds are tried", 0.0, 1.0)] = 0.2
    max_travel: Annotated[float, size("of a node in one substep where deformables may touch [mean edges]")] = 2.0
    max_ball_travel: Annotated[float, size("of a ball over nodes in one substep [radii]")] = 0.5
    max_step_halvings: Annotated[int, count("of a step: the paper's rule in an impact needs more than 6", 0, 30)] = 8
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
    limit_tolerance: Annotated[float, size("largest error of a limit over all steps, of its length")] = 1e-3
    depth_tolerance: Annotated[float, size("largest depth in an obstacle over all steps [mean edges]")] = 9e-4
    recovery: Annotated[float, size("share of an earlier error that a step takes back", 0.0, 1.0)] = 0.05
    recovery_time: Annotated[float, size("and at most the step over this time [s]", 1e-9)] = 0.1
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
class ContactSettings(NamedTuple):
    """Friction (friction.py), and contacts between deformables (self_contact.py, contact_schur.py)."""

    creep_speed: Annotated[float, size("what sticks slides slower than this [m/s]", 1e-12)] = 1e-3
    free_switches: Annotated[int, count("iterations before only every other contact may begin or end to slip")] = 6
    straight_rope: Annotated[float, size("of its length: a rope so long pulls along itself", 0.0, 1.0)] = 0.999
    self_contact_rounds: Annotated[int, count("of finding rows, solving and cutting back")] = 3
    row_reach: Annotated[float, size("distance within which rows are found [thicknesses]", 1.0)] = 1.5
    move_reach: Annotated[float, size("and, of the farthest move, beyond that, up to a mean edge")] = 2.0
    max_pairs_per_node: Annotated[int, count("pairs that meet in a substep: more ask for shorter ones")] = 500
    stiffness_share: Annotated[float, size("of edges and springs, in the preconditioner of these rows", 0.0, 1.0)] = 0.2
    envelope_entries: Annotated[int, count("of this preconditioner, for each node")] = 64
    envelope_pivot: Annotated[float, size("share of its diagonal below which a pivot is dependent", 0.0, 1.0)] = 1e-10
    max_schur_iterations: Annotated[int, count("conjugate gradients for the forces of these rows")] = 200
    schur_reduction: Annotated[float, size("of the squared error that ends them", 0.0, 1.0)] = 1e-7


@structure
class ProjectionSettings(NamedTuple):
    """Prediction and rotation (predict.py, rigid_coupling.py), and fast projection (length_projection.py)."""

    prediction_phase: Annotated[float, size("small steps of springs at most, in units of 1/ω", 1e-6, 2.0)] = 0.7
    prediction_damping: Annotated[float, size("time constant of their damping there, of a step", 0.0, 1.0)] = 0.1
    rotation_iterations: Annotated[int, count("of the predicted turn of a rigid body")] = 6
    common_move_weight: Annotated[float, size("of a move that neighbours make, too, in its size", 0.0, 1.0)] = 0.1
    length_softness: Annotated[float, size("ε of the projection on lengths, of its diagonal", 0.0, 1.0)] = 1e-4
    length_residual: Annotated[float, size("of its conjugate gradients, over that before", 0.0, 1.0)] = 0.02
    max_length_gradients: Annotated[int, count("conjugate gradients of one projection on lengths")] = 20
    length_pivot: Annotated[float, size("share of its diagonal below which a pivot is dependent", 0.0, 1.0)] = 1e-10
    max_linearisations: Annotated[int, count("of the implicit step, in fast projection")] = 60
    max_length_projections: Annotated[int, count("projections on lengths after each")] = 12
    far_error: Annotated[float, size("of a length: farther off, the step is linearised anew")] = 0.1
    length_reduction: Annotated[float, size("of the error in each, or the step is linearised anew", 0.0, 1.0)] = 0.6


@structure
class ActiveSettings(NamedTuple):
    """The papers' own step, system "active" (active_limits.py, active_iteration.py, bounded_tensions.py)."""

    longest_phase: Annotated[float, size("substep at most, in units of 1/ω", 1e-6, 2.0)] = 1.4
    longest_phase_adams: Annotated[float, size("the same with Adams-Bashforth", 1e-6, 2.0)] = 0.7
    shortest_share: Annotated[float, size("of a step: no substep is shorter", 1e-12, 1.0)] = 1.0 / 16384.0
    fine_error: Annotated[float, size("error of a length that ends iterations, over (ω dt)² up to 1")] = 5e-5
    contact_share: Annotated[float, size("of that for contacts, since what lies sinks in substep by substep")] = 0.02
    max_gain: Annotated[float, size("kinetic energy that limits and contacts may give in a substep")] = 1e-3
    max_active_iterations: Annotated[int, count("iterations of a substep")] = 40
    stalled_share: Annotated[float, size("error over the one before: with more, an iteration brings no less")] = 0.8
    contradicting_share: Annotated[float, size("the same of equalities: with more, they contradict each other")] = 0.2
    bounded_from: Annotated[int, count("iteration from which λ ≥ 0 is a bound of the solve", 0)] = 4
    softness: Annotated[float, size("ε of equalities, of the diagonal", 0.0, 1.0)] = 0.02
    softness_bounded: Annotated[float, size("the same where λ ≥ 0 is a bound", 0.0, 1.0)] = 1e-6
    active_residual: Annotated[float, size("of conjugate gradients, over that before", 0.0, 1.0)] = 0.05
    max_active_gradients: Annotated[int, count("conjugate gradients of one iteration")] = 50
    active_pivot: Annotated[float, size("share of its diagonal below which a pivot is dependent", 0.0, 1.0)] = 1e-10
    bounded_residual: Annotated[float, size("gradient that is left with bounds, over that before", 0.0, 1.0)] = 0.05
    max_bounded_gradients: Annotated[int, count("conjugate gradients of one iteration with bounds")] = 1000


@structure
class ChoiceSettings(NamedTuple):
    """When a step takes which system (choice.py). Costs are nanoseconds of one operation, measured once."""

    cost_of_substep: Annotated[float, size("active: a substep, for each spring, row and node [ns]")] = 13.7
    cost_of_iteration: Annotated[float, size("active: an iteration, for each row [ns]")] = 5.0
    cost_of_gathering: Annotated[float, size("active: an entry of the system gathered [ns]")] = 12.6
    cost_of_product: Annotated[float, size("active: an entry of the system multiplied [ns]")] = 2.0
    cost_of_step: Annotated[float, size("nodes: a step, for each spring, row and node [ns]")] = 70.0
    cost_of_entry: Annotated[float, size("nodes: a number of the factor, in each factorisation [ns]")] = 2.6
    cost_of_factoring: Annotated[float, size("nodes: a multiplication of a factorisation [ns]")] = 0.028
    margin_of_active: Annotated[float, size("how much dearer active must be to be left", 1.0)] = 1.2
    margin_of_nodes: Annotated[float, size("how much dearer nodes must be to be left", 1.0)] = 1.6
    clear_margin: Annotated[float, size("how much dearer either must be to be left early", 1.0)] = 2.5
    earliest_change: Annotated[float, size("steps before that")] = 4.0
    shortest_stay: Annotated[float, size("steps before a system is left", 1.0)] = 8.0
    longest_stay: Annotated[float, size("and at most, after repeated changes", 1.0)] = 64.0
    averaged_steps: Annotated[float, size("in the mean of costs", 1.0)] = 8.0
    forgotten_steps: Annotated[float, size("in which ρ goes back to what it was at the start", 1.0)] = 32.0
    fewest_factors: Annotated[float, size("factorisations of a step with nodes")] = 3.0
    factors_per_root: Annotated[float, size("and more, times the root of the loaded limits")] = 0.4
    most_factors: Annotated[float, size("and at most")] = 6.0
    impact_factors: Annotated[float, size("those of a step with an impact, by the paper's rule")] = 24.0
    first_factors: Annotated[float, size("those that the choice at the start counts with")] = 4.0
    first_ratio_paper: Annotated[float, size("ρ at the start, by the paper's rule")] = 4.0
    first_ratio_exact: Annotated[float, size("ρ at the start, by the exact rule")] = 1.0
    most_ratio: Annotated[float, size("ρ at most")] = 50.0
    growth_power: Annotated[float, size("of the number of loaded limits, in what active would cost", 0.0, 10.0)] = 1.5
    max_gain_of_step: Annotated[float, size("kinetic energy a step with active may give: more is no step")] = 0.02


@structure
class BaselineSettings(NamedTuple):
    """Implicit Euler of all springs (baselines/implicit_solve.py, implicit_euler.py)."""

    contact_firmness: Annotated[float, size("stiffness of a contact, over springs and mass of its node", 1e-3)] = 30.0
    max_contact_rounds: Annotated[int, count("solves of a step, as long as contacts enter and leave")] = 8
    max_gradients: Annotated[int, count("conjugate gradients of each", 1, 10**9)] = 2000
    max_push_out_passes: Annotated[int, count("over all contacts, until nothing is inside")] = 20


@structure
class Settings(NamedTuple):
    newton: NewtonSettings = NewtonSettings()
    tolerances: ToleranceSettings = ToleranceSettings()
    fallback: FallbackSettings = FallbackSettings()
    contacts: ContactSettings = ContactSettings()
    projection: ProjectionSettings = ProjectionSettings()
    active: ActiveSettings = ActiveSettings()
    choice: ChoiceSettings = ChoiceSettings()
    baselines: BaselineSettings = BaselineSettings()


DECLARED = Declared("cloth", Settings())
current, changed = DECLARED.current, DECLARED.changed
