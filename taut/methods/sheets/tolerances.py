"""What counts as held, and how stiffly things are held on the way there."""

from __future__ import annotations

from ...jit import word

# κ in units of m/h²: of hard edges; of limits and contacts with solids, from and to; between sheets, to begin with
HARD, SOFT, STIFFEST, LOOSE, RAMP = 1e9, 1e3, 1e7, 20.0, 4.0
OFF_LIMIT = 3e-4  # of the length of an edge
OFF_CONTACT = 5e-4  # of the mean edge
OFF_FACET = 0.5  # of the distance asked for: thickness is what keeps sheets apart, and may be pressed
IMBALANCE = 0.02  # of the mean edge: what forces may be off, as the displacement they cause
USUAL_STEP = 1.0 / 240.0  # [s]: in shorter ones forces are balanced as much better as they move things less
LONGEST_MOVE = 0.5  # of the mean edge, in one iteration


@word
def tolerances(par):
    """Of hard edges and of limits, as shares; of contacts and of the balance of forces [m]."""
    balance = IMBALANCE * par.edge * min(1.0, (par.whole[0] / USUAL_STEP) ** 2)
    return par.numbers[0], max(OFF_LIMIT, par.numbers[0]), OFF_CONTACT * par.edge, balance


@word
def worst_share(rows, count, apart):
    """How much nearer than asked for, as a share."""
    worst = 0.0
    for r in range(count):
        worst = max(worst, rows.phi[r] / max(apart[r], 1e-300))
    return worst
