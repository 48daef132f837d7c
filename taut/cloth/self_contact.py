"""Sheets against sheets: rows are found where all stood last without crossing, and what Newton's method proposes is
cut back node by node to a motion that passes through nothing (geometry/ccd_filter.py); then rows are found again.
"""

from __future__ import annotations

from ..compiled import compiled
from ..geometry.ccd_filter import HELD_CUT, find_fractions
from ..geometry.proximity import MORE_ROOM, find_rows
from ..methods.base import NOT_CONVERGED, OK, PAIRS_FULL
from .constraint_errors import RECOVERY, RECOVERY_TIME
from .context import NUMBER, WHOLE, far, open_box
from .newton import settle
from .predict import copy3

MANY = 500  # pairs for each node
ROUNDS = 3  # of finding rows between sheets


@far(WHOLE, NUMBER, NUMBER)
@compiled
def find_facets(box, reach, share):
    """Rows between sheets where all stand safely. Returns OK, PAIRS_FULL or NOT_CONVERGED."""
    system, state, par = open_box(box)
    net, near, of = par.net, par.near, par.surface
    rows = net.facets
    count = find_rows(near, of, par.safe, par.w, reach)
    net.facet_count[0] = 0
    if count < 0:
        return PAIRS_FULL if count == MORE_ROOM else NOT_CONVERGED
    for r in range(count):
        for k in range(4):
            s = near.nodes[r, k]
            rows.slot[r, k] = s
            rows.unknown[r, k] = net.unknown[s]
            rows.weight[r, k] = near.weights[r, k]
        for c in range(3):
            rows.n[r, c] = near.normal[r, c]
        a, b = of.sheet[near.nodes[r, 0]], of.sheet[near.nodes[r, 3]]
        thick = par.thickness[a, b]
        now = near.distance[r]
        par.apart[r] = thick if now >= thick else now + share * (thick - now)
        rows.friction[r] = par.friction[a, b]
        rows.lam[r] = 0.0
        rows.shift[r] = 0.0
        rows.on[r] = False
    net.facet_count[0] = count
    return OK


@far(WHOLE, NUMBER, NUMBER)
@compiled
def newton_between(box, t, h):
    """settle with rows between sheets, and only motions that pass through nothing."""
    system, state, par = open_box(box)
    net, x = par.net, state.x
    copy3(net.before, par.safe)
    thickest = 0.0
    for i in range(par.thickness.shape[0]):
        thickest = max(thickest, par.thickness[i, i])
    status = OK
    for _ in range(ROUNDS):
        farthest = 0.0
        for k in range(net.nodes.order.shape[0]):
            s = net.slot[k]
            for c in range(3):
                farthest = max(farthest, abs(x[s, c] - par.safe[s, c]))
        status = find_facets((box, 1.5 * thickest + min(2.0 * farthest, par.edge), min(RECOVERY, h / RECOVERY_TIME)))
        if status != OK:
            return status
        status = settle((box, t, h))
        if status != OK:
            return status
        found = find_fractions(par.motion, par.surface, par.safe, x, par.w_alone, par.fraction)
        if found == MORE_ROOM:
            wanted = par.motion.wanted
            # So many meet only on ways that are too long for one piece.
            return NOT_CONVERGED if wanted[1] + wanted[3] > MANY * par.surface.nodes.shape[0] else PAIRS_FULL
        if found < 0 or found == HELD_CUT:
            return NOT_CONVERGED
        cut = False
        for i in range(par.w_alone.shape[0]):
            if par.w_alone[i] > 0.0 and par.fraction[i] < 1.0:
                cut = True
                for c in range(3):
                    x[i, c] = par.safe[i, c] + par.fraction[i] * (x[i, c] - par.safe[i, c])
        copy3(x, par.safe)
        if not cut:
            return OK
    return OK
