"""How far a start may break equalities, in words.

    project   (the default) errors up to SMALL of the scene's size, but 10 SMALL of a constraint's own length, or SMALL
              rad (model/scales.py) are projected away and told; larger ones are refused
    repair    errors of any size are projected away; inequalities that are broken are repaired too
    as_given  positions and velocities stay, for methods that forget an error and for experiments about it; broken
              inequalities are still refused, since no method can start inside
"""

from __future__ import annotations

import numpy as np

from ..errors import TautError, and_more, listed, note, unknown, warn
from ..model import Model
from ..model.arrays import State, System
from ..scene.specs import HARD_EDGE
from .alignment import misalignment
from .projection import CONVERGED, project

Array = np.ndarray
PROJECT, REPAIR, AS_GIVEN = "project", "repair", "as_given"
SMALL = 1e-3
ROUNDING = 1e-10  # of a constraint's scale: less is not worth a word
SHOWN = 4


def start_mode(start: str | None, repair: bool = False, project_initial: bool = True) -> str:
    """The mode that the arguments of simulate ask for; `repair` and `project_initial` are its older words."""
    asked = [start] if start is not None else []
    asked += [REPAIR] if repair else []
    asked += [] if project_initial else [AS_GIVEN]
    for mode in asked:
        if mode not in (PROJECT, REPAIR, AS_GIVEN):
            raise unknown("start", str(mode), (PROJECT, REPAIR, AS_GIVEN))
    if len(set(asked)) > 1:
        raise TautError(f"the start is to be {' and '.join(map(repr, asked))}: repair=True is start='repair', and "
                        "project_initial=False is start='as_given'; give one of them.")
    return asked[0] if asked else PROJECT


def meet_equalities(
    model: Model, system: System, state: State, phi: Array, scale: Array, size: float, mode: str, conflicting: bool
) -> bool:
    """Bring the start onto Φ = 0 as the mode says; returns whether anything was moved.

    phi          (rows,) Φ at the start
    conflicting  rows contradict each other: what they leave is no fault of the start
    """
    opposed = misalignment(model, state)
    phi = np.where(opposed > 0.0, opposed, phi)
    off = np.abs(phi) / scale
    if off.max() > ROUNDING:
        off[_own_check(model)] = 0.0
    if not off.max() > ROUNDING:
        return False
    small = _small(model, scale, size)
    if mode == AS_GIVEN:
        note(f"the start breaks {amounts(model, phi, off)}; it was left so (start='as_given')")
        return False
    if mode == PROJECT and not conflicting and (off > small).any():
        raise _refusal(model, phi, off, size)
    before = State(*(array.copy() for array in state))
    moved = project(model, system, state, scale, size)
    stuck = moved.left > CONVERGED
    wrong = (off > small) & ~stuck
    if mode == PROJECT and wrong.any():
        state.x[:], state.quat[:] = before.x, before.quat
        raise _refusal(model, phi, np.where(wrong, off, 0.0), size)
    if stuck.any() and not conflicting:
        state.x[:], state.quat[:] = before.x, before.quat
        left = np.where(np.isfinite(moved.left), moved.left, off)
        raise TautError(f"the start breaks {amounts(model, phi, off)}, and no place was found where all constraints "
                        f"hold: the search ended at one that breaks {amounts(model, left * scale, left)}. Change "
                        "their values, or start nearer to where they hold.")
    if not conflicting or max(moved.far, moved.turned) > ROUNDING * size:
        turned = f" and turned by up to {moved.turned:.3g} rad" if moved.turned > ROUNDING else ""
        least = ", the least (weighted by mass) that corrects it" if moved.is_least else ""
        if conflicting:
            remaining = amounts(model, moved.left * scale, moved.left)
            least = f" to a compromise, which breaks {remaining}" if remaining else least
        broke = amounts(model, phi, off)
        warn(f"the start broke {broke}; bodies were moved by up to {moved.far:.3g} m{turned}{least}")
    return True


def _own_check(model: Model) -> Array:
    """(rows,) hard edges of deformables, which deformables.py looks at."""
    found = np.zeros(model.row_count, bool)
    found[model.rows_of_role(HARD_EDGE)] = True
    return found


def _small(model: Model, scale: Array, size: float) -> Array:
    """(rows,) which errors are small enough to be projected away, in units of each row's scale."""
    found = np.full(len(scale), SMALL)
    for info in model.constraint_info:
        if info.length is not None:
            rows = list(info.rows)
            found[rows] = np.minimum(SMALL * size / scale[rows], 10.0 * SMALL)
    return found


def _refusal(model: Model, phi: Array, off: Array, size: float) -> TautError:
    return TautError(
        f"the start breaks {amounts(model, phi, off)}. Only small errors are corrected: {SMALL:g} of the scene's size "
        f"({SMALL * size:.3g} m, but {10 * SMALL:g} of a constraint's own length at most), or {SMALL:g} rad. "
        f"{_centres(model, off)}Correct "
        "the start or the values, let taut move the bodies with start='repair' (--repair), or keep it with "
        "start='as_given' (--start as_given)."
    )


def _centres(model: Model, off: Array) -> str:
    """What to write where a joint was given bodies, and so their centres, that are apart."""
    row = int(np.argmax(off))
    info = next(info for info in model.constraint_info if row in info.rows)
    meets = info.units[:3] == ("m", "m", "m") and row in info.rows[:3]
    names = [body.name for body in model.body_info if body.kind == "rigid" and body.slot in info.points]
    if not (meets and names):
        return ""
    return (f"'{info.name}' joins {'the centre' if len(names) == 1 else 'the centres'} of {listed(names)}; where "
            f"bodies meet elsewhere, name the place on them ({names[-1]}.at((x, y, z)) in Python). ")


def amounts(model: Model, phi: Array, off: Array) -> str:
    """The worst rows with their Φ in its unit."""
    units = {row: unit for info in model.constraint_info for row, unit in zip(info.rows, info.units)}
    rows = [int(r) for r in np.argsort(-off) if off[r] > ROUNDING]
    names = model.row_names
    shown = [f"'{names[r]}' by {phi[r]:.3g}{'' if units[r] == '1' else f' {units[r]}'}" for r in rows[:SHOWN]]
    return ", ".join(shown) + and_more(len(rows), SHOWN)
