"""Before a run: what constraints leave free, which of them repeat or contradict each other, and which step suits.

    rank of J with rows scaled to length one, by singular values                        (1)
    P = U₀ U₀ᵀ, U₀ the left null vectors of J: rows i and j are redundant together where P_ij ≠ 0       (2)
    U₀ᵀ Φ ≠ 0: rows of that group contradict each other, or their rates or accelerations (initial/dependence.py)  (3)
    ω_max: of small motions, velocities and accelerations at the start (fastest.py)      (4)
"""

from __future__ import annotations

import warnings

import numpy as np

from ...errors import TautError, TautWarning, collecting_notes
from ...initial import Clash, changing_rows, clashes, prepare_start, schur_complement, start_mode
from ...initial.projection import polish
from ...linalg import dependences
from ...linalg.dense import on_one_thread
from ...methods import METHODS
from ...model import Model, build
from ...model.scales import scene_size
from ...scene.checks import positive
from ...scene.scene import Scene
from ...simulation.plan import only_joints_are_limited
from .fastest import Fastest, fastest
from .finding import Finding
from .perturbation import Array, Perturbed, null_space
from .ratios import ratios
from .unresolved import unresolved

MOST_UNKNOWNS = 600  # of dense singular value decompositions; beyond, (1) to (3) come of a sparse factor of J W Jᵀ
SMALL = 1e-8  # singular values below it count as zero; entries of P below its root as no relation
STEPS_PER_RADIAN = 20.0


@on_one_thread
def examine(scene: Scene, dt: float | None = None) -> list[Finding]:
    """What there is to know of a scene before it runs. dt: the step meant [s]; default: what the scene suggests."""
    model = build(scene)
    dt = scene.suggested.get("dt") if dt is None else positive(dt, "dt")
    found = [_sizes(model)]
    if model.deformables:
        found.append(Finding("rank", "not examined", "cloth and solids are solved with their own system"))
        return [*found, *ratios(model), *_suggestion(scene, model, None, dt)]
    near = Perturbed(model, model.x, model.quat, model.v, 0.0, scene)
    found += _rank(scene, model, near) if near.n <= MOST_UNKNOWNS else _rank_of_many(model, near)
    if not any(one.topic == "conflict" for one in found):  # of which a refusal of the start would tell again
        found += _start(scene, model)
    motion = fastest(near)
    return [*found, *ratios(model), *_stiffness(motion, dt), *_suggestion(scene, model, motion, dt)]


def _sizes(model: Model) -> Finding:
    moving = sum(body.motion == "free" for body in model.body_info)
    rows = f"{model.row_count:,} rows of {len(model.constraint_info):,} equalities"
    extra = f", {len(model.inequality_names):,} rows of inequalities" if model.inequality_names else ""
    return Finding("scene", f"{len(model.body_info):,} bodies, {moving:,} of them free; {rows}{extra}")


def _rank(scene: Scene, model: Model, near: Perturbed) -> list[Finding]:
    _, quat, _ = near.evaluate()
    on = np.flatnonzero(~model.rows_off(near.x))
    J, phi = near.jacobian(quat)[on], near.system.work.phi[on]
    rank, groups, off = redundant(J, phi)
    groups = [on[group].tolist() for group in groups]
    apart, changing = _clashes(model, near, groups, off)
    found = [*_counts(model, near, rank, len(J)), *_dependent(model, groups, off, apart, changing)]
    if len(J) > rank and max(off) <= 1e-6 and not apart:
        found += _open_reactions(scene, model, near, quat, on, J)
    beside = _rank_beside(near, rank)
    if beside is not None and beside != rank:
        found.append(Finding("singular position", f"rank {rank:,} here, {beside:,} beside it",
                             "the mechanism stands where branches of its motion meet; start a little beside it", True))
    return found


def _rank_of_many(model: Model, near: Perturbed) -> list[Finding]:
    """The rank by a sparse factor of J W Jᵀ: without open reactions and without a look beside the position."""
    near.evaluate()
    off = model.rows_off(near.x)
    rank, found = dependences(schur_complement(model, near.system, off))
    phi = near.system.work.phi
    wrong = [float(abs(one.weights @ phi[one.rows])) for one in found]
    groups = [one.rows for one in found]
    apart, changing = _clashes(model, near, groups, wrong)
    on = int((~off).sum())
    dependent = model.row_count - rank  # rows that are switched off count as independent
    more = [] if dependent <= len(found) else [
        Finding("redundant", f"{dependent - len(found):,} more rows", f"not named: the first {len(found)} sets are")
    ]  # fmt: skip
    return [*_counts(model, near, on - dependent, on), *_dependent(model, groups, wrong, apart, changing), *more]


def _start(scene: Scene, model: Model) -> list[Finding]:
    """Whether a run would refuse the start, and why."""
    with warnings.catch_warnings(), collecting_notes():
        warnings.simplefilter("ignore", TautWarning)  # small errors, which a run corrects and tells
        try:
            prepare_start(model, model.system(), model.initial_state(), start_mode(scene.suggested.get("start")))
        except TautError as refusal:
            return [Finding("start", "refused", str(refusal), True)]
    return []


def _counts(model: Model, near: Perturbed, rank: int, rows: int) -> list[Finding]:
    idle = [name for k, name in enumerate(model.switch_names) if near.x[model.switches.keeper[k], 0] == 0.0]
    return [
        *([Finding("switched off", ", ".join(idle), "at the start; not counted below")] if idle else []),
        Finding("unknowns", f"{near.n:,}"),
        Finding("rank", f"{rank:,} of {rows:,} rows"),
        Finding("degrees of freedom", f"{near.n - rank:,}",
                "" if near.n > rank else "drivers and constraints leave nothing free: the motion follows from them"),
    ]


def _clashes(model: Model, near: Perturbed, groups: list[list[int]], off: list[float]) -> tuple[list[Clash], Array]:
    """Which rates and accelerations contradict each other, where places do not; and rows that change with time."""
    if not groups or max(off) > 1e-6:
        return [], np.zeros(model.row_count, bool)
    state = model.initial_state()
    state.x[:], state.quat[:], state.v[:] = near.x, near.quat, near.v
    return clashes(model, near.system, state, groups, 1.0), changing_rows(model, near.system, state, 1.0)


def _dependent(
    model: Model, groups: list[list[int]], off: list[float], apart: list[Clash], changing: Array
) -> list[Finding]:
    """Groups of dependent rows.

    off       what each contradicts itself by in Φ
    apart     where rates or accelerations do
    changing  (rows,) which change with time alone
    """
    findings = []
    for rows, amount in zip(groups, off):
        listed = owners(model, rows)
        if amount > 1e-6:
            reason = f"they can not all hold: {amount:.3g} remains between them; change or remove one"
            findings.append(Finding("conflict", listed, reason, True))
        elif any({*rows} & {*clash.rows} for clash in apart):
            clash = next(clash for clash in apart if {*rows} & {*clash.rows})
            reason = (f"they can not all hold: their {clash.level} misses by {clash.amount:.3g} {clash.unit} at best; "
                      "change or remove one")
            findings.append(Finding("conflict", listed, reason, True))
        else:
            condition = " as long as they agree" if changing[rows].any() else ""
            some = _some(model.row_names, rows)
            reason = (f"{len(rows)} rows depend on each other ({some}): the motion is right{condition}, "
                      "how the force is shared among them is not decided")
            findings.append(Finding("redundant", listed, reason))
    return findings


def _open_reactions(scene: Scene, model: Model, near: Perturbed, quat: Array, on: Array, J: Array) -> list[Finding]:
    """One line for all constraints of which the same components are open."""
    null, lengths = left_null_vectors(J)
    z = np.zeros((model.row_count, null.shape[1]))
    z[on] = null / lengths[:, None]
    by_text: dict[str, list[str]] = {}
    for name, text in unresolved(scene, model, near.x, quat, z).items():
        by_text.setdefault(text, []).append(name)
    why = "open in run[…].reaction, whose axes turn with a joint; all components that are not named here are right"
    return [Finding("open reactions", f"{', '.join(names)}: {text}", why) for text, names in by_text.items()]


def left_null_vectors(J: Array) -> tuple[Array, Array]:
    """U₀ (rows, n) of J with rows of length one, and their lengths."""
    lengths = np.linalg.norm(J, axis=1)
    kept = np.where(lengths > 0.0, lengths, 1.0)
    left, values, _ = np.linalg.svd(J / kept[:, None], full_matrices=True)
    rank = int((values > SMALL * max(1.0, values.max(initial=0.0))).sum())
    return left[:, rank:], kept


def redundant(J: Array, phi: Array) -> tuple[int, list[list[int]], list[float]]:
    """(1), the groups of redundant rows (2), and what each contradicts itself by (3), in the unit of Φ."""
    null, row_scale = left_null_vectors(J)
    rank = len(J) - null.shape[1]
    P = null @ null.T  # (2)
    members = [i for i in range(len(J)) if P[i, i] > SMALL]
    groups: list[list[int]] = []
    while members:
        group, todo = [], [members[0]]
        while todo:
            i = todo.pop()
            if i in members:
                members.remove(i)
                group.append(i)
                todo += [j for j in members if abs(P[i, j]) > SMALL**0.5]
        groups.append(sorted(group))
    wrong = P @ (phi / row_scale)  # (3)
    return rank, groups, [float(np.abs(wrong[group] * row_scale[group]).max()) for group in groups]


def owners(model: Model, rows: list[int]) -> str:
    """The constraints that rows belong to."""
    names = [info.name for info in model.constraint_info if set(info.rows) & set(rows)]
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")


def _some(names: list[str], rows: list[int]) -> str:
    return ", ".join(names[row] for row in rows[:6]) + (", …" if len(rows) > 6 else "")


def _rank_beside(near: Perturbed, rank: int) -> int | None:
    """The rank a little way off, along a move that the constraints allow; None where they allow none."""
    _, quat, _ = near.evaluate()
    N = null_space(near.jacobian(quat))
    if not N.shape[1]:
        return None
    random = np.random.default_rng(0).standard_normal(N.shape[1])
    move = N @ random
    move *= 0.02 * scene_size(near.model, near.x) / max(float(np.abs(move).max()), 1e-300)
    x, turned, _ = near.moved(move, np.zeros(near.n))
    state = near.model.initial_state()
    state.x[:], state.quat[:] = x, turned
    polish(near.system, state, 0.0)
    beside = Perturbed(near.model, state.x, state.quat, np.zeros_like(near.v), 0.0, near.scene)
    _, quat, _ = beside.evaluate()
    if np.abs(beside.system.work.phi).max(initial=0.0) > 1e-6:
        return None  # no place was found to look at
    return redundant(beside.jacobian(quat), np.zeros(near.model.row_count))[0]


def _stiffness(motion: Fastest | None, dt: float | None) -> list[Finding]:
    if motion is None or not motion.rate > 0.0:
        return []
    rate = motion.rate
    value = f"{rate:.3g} rad/s at the start (a period of {2.0 * np.pi / rate:.3g} s)"
    if not motion.is_oscillation:
        soon = f"by the accelerations at the start (it moves within {1.0 / rate:.3g} s)"
        value = f"{rate:.3g} rad/s, {soon if rate == motion.starting else 'by the velocities at the start'}"
    if dt is None:
        return [Finding("fastest motion", value)]
    why = ""
    if motion.is_stiff(dt):
        why = "too few for explicit forces, which will be unstable or wrong: these are stiff"
    elif rate * dt > 1.0:
        why = "too few: the motion itself is faster than the step"
    return [Finding("fastest motion", f"{value}; {2.0 * np.pi / (rate * dt):.3g} steps a period at dt = {dt:g} s", why,
                    bool(why))]


def _suggestion(scene: Scene, model: Model, motion: Fastest | None, dt: float | None) -> list[Finding]:
    suggested = scene.suggested
    is_stiff = motion is not None and motion.is_stiff(dt)
    if model.deformables:
        case = "deformables"
    elif model.is_unilateral and not only_joints_are_limited(scene):
        case = "contacts"
    elif is_stiff:
        case = "stiff"
    elif motion is not None and dt is not None and motion.rate * dt > 1.0:
        case = "fast"
    else:
        case = "smooth"
    method, reason = next((name, one.suits[case]) for name, one in METHODS.items() if case in one.suits)
    asked = METHODS.get(suggested.get("method", ""))
    if asked is not None and case == "stiff" and not asked.adaptive and "stiff" not in asked.suits:
        reason += f" (the scene suggests {asked.name}, which is explicit in them)"
    elif asked is not None:
        method, reason = asked.name, "as the scene suggests"
    step = suggested.get("dt")
    if step is not None:
        why = "as the scene suggests"
    elif "stiff" in METHODS[method].suits and dt is not None:
        step, why = dt, "as given; halve it and compare: the fastest motion does not dictate it"
    elif case == "stiff" and motion is not None and "stiff" in METHODS[method].suits:
        step = float(f"{1.0 / (STEPS_PER_RADIAN * motion.slow):.1g}")
        why = f"{STEPS_PER_RADIAN:g} steps per radian of the motion beside the stiff forces; halve it and compare"
    elif motion is not None and motion.rate > 0.0:
        step = float(f"{1.0 / (STEPS_PER_RADIAN * motion.rate):.1g}")
        why = f"{STEPS_PER_RADIAN:g} steps per radian of the fastest motion"
    else:
        step, why = 0.005, "a common choice, since nothing moves or accelerates at the start; halve it and compare"
    return [Finding("method", method, reason), Finding("dt", f"{step:g} s", why)]
