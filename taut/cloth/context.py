"""The context of the steps of this package: the data that they use besides system and state.

    ctx.problem       ClothProblem   constant in a run: sizes, unknowns, lengths that scale tolerances
    ctx.memory        StepMemory     data kept from step to step: views into state.memory
    ctx.edges         Edges          hard edges and limits, their multipliers and active set
    ctx.external      ContactRows    rows of nodes and balls against obstacles and balls
    ctx.self_contact  SelfContact    rows between deformables, and the search for them
    ctx.attachments   Attachments    pins to what moves freely
    ctx.rotations     Rotations      rigid bodies that move freely
    ctx.linear        LinearWork     the linear system of a Newton step
    ctx.schur         ContactSchur   the part of it that rows between deformables add
    ctx.lengths       LengthSystem   J W Jᵀ of hard edges, for fast projection
    ctx.work          StepWork       predictions, saved states, counters
    ctx.release       ReleaseRules   how contacts are released, and stopped as they come near (release.py)
    ctx.events        EventBuffers   when contacts began and ended, and
    ctx.impulses      Impulses       with which impulse (contact_events.py)
    ctx.settings      Settings       tunable numbers (settings.py)
    ctx.solvers       Solvers        addresses of the solvers that the scene needs (optional_solvers.py)

Compiled functions get these structures by reference, so an attribute costs one load where it is used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..compiled import structure
from ..contact.problem import EventBuffers
from ..forces.spring_law import Springs
from ..geometry.ccd_filter import FilterWork
from ..geometry.proximity import ProximityRows as Near
from ..geometry.proximity import Surface
from ..linalg.nodes import Nodes
from ..model.arrays import Inequalities
from .attachments import Attachments
from .contact_events import Impulses
from .contact_rows import ContactRows
from .contact_schur import ContactSchur
from .length_projection import LengthSystem
from .release import ReleaseRules
from .rigid_coupling import Rotations
from .settings import Settings
from .unknowns import Edges


@structure
class ClothProblem(NamedTuple):
    """Data that is constant during a run."""

    tolerance: float  # of the length of hard edges
    has_limits: int  # 1: some edges have a limit
    paper_rule: int  # 1: limits are released by the rule of the paper, between steps alone
    has_self_contact: int  # 1: deformables may touch each other or themselves
    projects: int  # 1: fast projection
    prediction: int  # index into UNCONSTRAINED
    frequency: float  # largest ω of explicit springs [1/s], over 1 for one substep
    mean_edge: float  # mean length of edges [m]
    extent: float  # largest side of the smallest deformable [m]
    node_mass: float  # mean mass of a node [kg]
    smallest_ball: float  # smallest radius of a ball [m]; inf: there is none
    unknown: np.ndarray  # (slots,) number of the slot's unknown, -1: fixed or driven
    slot: np.ndarray  # (unknowns,)
    mass: np.ndarray  # (unknowns, 3) [kg]; of a rotation principal moments of inertia [kg m²]
    length_scale: np.ndarray  # (unknowns,) 1; of a rotation the radius of gyration [m], which turns angles into lengths
    floating: np.ndarray  # (unknowns,) the group of deformables that nothing holds each belongs to, -1: none
    w: np.ndarray  # (slots,) inverse masses, zero for rotations
    w_unpinned: np.ndarray  # (slots,) the same, zero for pinned nodes: these can not be stopped on their way alone
    hard_row: np.ndarray  # (hard edges,) their rows in the model
    springs: Springs  # those that are part of the linear system
    spring_node_pair: np.ndarray  # (s, 2) pairs as of edges; two where one reaches over a node (implicit_springs.py)
    damping: np.ndarray  # (explicit springs,) c as the scene has it
    spring_batch: np.ndarray  # batches of springs in system.forces, which stay out of work.f,
    spring_members: np.ndarray  # and how many each has
    contact_radius: np.ndarray  # (pairs,) at which distance nodes and balls touch [m]


@structure
class StepMemory(NamedTuple):
    """Data kept from step to step."""

    multipliers: np.ndarray  # (.,) T, λ and F of all edges, external rows and pins: what these have in common
    velocity_offset: np.ndarray  # (slots, 3) v* - (x* - x)/h of the substep before: step.py (3)
    history: np.ndarray  # (FORCE_BEFORE + 3 slots,) SUBSTEP_SIZE, ...: codes.py


@structure
class StepWork(NamedTuple):
    """Predictions, saved states and counters."""

    x_pred: np.ndarray  # (slots, 3) x*, where all would go without constraints
    x_start: np.ndarray  # (slots, 3) x at the start of the substep
    x_trial: np.ndarray  # (slots, 3) scratch: x in the small steps of the prediction, then trial places of contacts
    v_pred: np.ndarray  # (slots, 3) v*, at the end of the prediction
    slow_force: np.ndarray  # (slots, 3) forces but those of springs, constant in the small steps of the prediction [N]
    v_mean: np.ndarray  # (slots, 3) v̄ = (x* - x)/h, for energies (dissipation.py)
    explicit_springs: Springs  # springs of the unconstrained part; their damping is that of small steps
    saved: np.ndarray  # (2, 3, slots, 3) x, v and lags at the start of a step, and of a substep
    saved_quat: np.ndarray  # (2, rigid, 4) orientations there,
    saved_ledger: np.ndarray  # (2, 4) state.ledger,
    saved_multipliers: np.ndarray  # (2, .) memory.multipliers,
    saved_history: np.ndarray  # (2, .) and memory.history
    newton_x: np.ndarray  # (slots, 3) x where Newton's method began,
    newton_multipliers: np.ndarray  # (.,) and memory.multipliers
    centre: np.ndarray  # (deformables, 4) sums for centres of mass
    dt: np.ndarray  # (1,) the step that is being taken [s], whatever its substeps
    substeps: np.ndarray  # (1,) in how many substeps the last step was taken
    friction_frozen: np.ndarray  # (1,) 1: friction takes the λ of the last round (newton.friction_fixed_point)
    counts: np.ndarray  # (3,) FACTORS, SOLVES, CORRECTIONS


@structure
class LinearWork(NamedTuple):
    """The linear system of a Newton step (linear_system.py, linear_solve.py)."""

    nodes: Nodes  # the sparse part
    block: np.ndarray  # (3 balls, 3 balls) the dense part, balls and rigid bodies
    coupling: np.ndarray  # (3 balls, nodes, 3) between balls and nodes,
    coupling_solved: np.ndarray  # (3 balls, nodes, 3) and the sparse part's answer to each of its rows
    rhs: np.ndarray  # (unknowns, 3)
    dx: np.ndarray  # (unknowns, 3)
    cg_work: np.ndarray  # (2, unknowns, 3)


@structure
class SelfContact(NamedTuple):
    """Deformables against deformables."""

    rows: ContactRows  # the first row_count of them
    row_count: np.ndarray  # (1,)
    gap_target: np.ndarray  # (rows,) distance that a row asks for in this step [m]
    surface: Surface  # triangles that may touch each other
    near: Near
    motion: FilterWork
    fraction: np.ndarray  # (slots,) how far each node may go without a collision
    safe: np.ndarray  # (slots, 3) the last positions known to be free of crossings
    thickness: np.ndarray  # (deformables, deformables) at which distance two deformables touch [m]
    friction: np.ndarray  # (deformables, deformables) Coulomb's coefficient


@structure
class Solvers(NamedTuple):
    """Addresses of optional_solvers.py; a solver that the scene does not need has that of an error."""

    interior_point: int
    augmented_lagrangian: int
    length_projection: int
    self_contact: int


@structure
class ClothContext(NamedTuple):
    problem: ClothProblem
    memory: StepMemory
    edges: Edges
    external: ContactRows
    self_contact: SelfContact
    attachments: Attachments
    rotations: Rotations
    linear: LinearWork
    schur: ContactSchur
    lengths: LengthSystem
    work: StepWork
    ineq: Inequalities
    solvers: Solvers
    release: ReleaseRules
    events: EventBuffers
    impulses: Impulses
    settings: Settings
