"""What counts as held, and how stiffly things are held on the way there."""

from __future__ import annotations

from ..compiled import compiled, inline
from .attachments import join_off
from .constraint_errors import NOTHING_OFF, edge_off, row_off
from .context import NOTHING, NUMBER, far, open_box

# κ in units of m/h²: of hard edges; of limits and contacts with solids, from and to; between sheets, to begin with
HARD, SOFT, STIFFEST, LOOSE, RAMP = 1e9, 1e3, 1e7, 20.0, 4.0
OFF_LIMIT = 5e-5  # of the length of an edge: what Newton's method leaves in a step,
OFF_CONTACT = 5e-4  # and of the mean edge
OFF_FACET = 0.5  # of the distance asked for: thickness is what keeps sheets apart, and may be pressed
IMBALANCE = 0.02  # of the mean edge: what forces may be off, as the displacement they cause
COARSE = 30.0  # edges along a sheet: of finer ones the length is that of these instead
USUAL_STEP, USUAL_HARD = 1.0 / 60.0, 1.0 / 240.0  # [s]: in shorter ones all is held better; hard edges alone
RELEASE = 0.01  # of an edge: its length and that of contacts changes so much, at most, until they let go
LONGEST_MOVE = 0.5  # of the mean edge, in one iteration, of neighbours against each other


@inline
def finer(par, off):
    """Of lengths: what is off by δ at the end of a step leaves with δ/h. δ ~ h², or motion would not converge.

    Not by the paper's rule: an edge that has entered stays until the end of the step, and there may be more of them
    than a sheet can hold at once.
    """
    share = 1.0 if par.paper == 1 else min(1.0, (par.whole[0] / USUAL_STEP) ** 2)
    return max(off * share, par.numbers[0])


@inline
def allowed_imbalance(par):
    """[m]. Forces off by m δ/h² act in every step: δ ~ h³. Where they also tell who is held, sooner.

    Elsewhere fine sheets may be off as far as coarser ones: the error of motion is the same.
    """
    tells = par.limited == 1 or par.net.solids.phi.shape[0] > 0 or par.has_facets == 1
    tells = tells or par.net.joins.row.shape[0] > 0
    usual = USUAL_STEP if tells else USUAL_HARD
    length = par.edge if tells else max(par.edge, par.extent / COARSE)
    return max(IMBALANCE * length * min(1.0, (par.whole[0] / usual) ** 3), NOTHING_OFF * par.edge)


@inline
def held_to(par):
    """Of pins, like hard edges [m]."""
    return par.numbers[0] * par.edge


@inline
def worst_share(rows, count, apart):
    """How much nearer than asked for, as a share."""
    worst = 0.0
    for r in range(count):
        worst = max(worst, rows.phi[r] / max(apart[r], 1e-300))
    return worst


@far(NOTHING, NUMBER, NUMBER)
@compiled
def begin_stiffness(box, unit, hard):
    """κ of each edge and row to begin with: no softer than lets go of what the step before has left.

    Multipliers of an impact are hundreds of times those of the step after it. With a κ that is soft for them, edges
    would have to shrink to a fraction before they are free.
    """
    par = open_box(box).par
    edges, rows, facets = par.net.edges, par.net.solids, par.net.facets
    soft, most = SOFT * unit, STIFFEST * unit
    for e in range(edges.i.shape[0]):
        freeing = edges.tension[e] / (RELEASE * edges.length[e])
        edges.kappa[e] = min(max(soft, freeing), most) if edges.one_sided[e] else hard
    for r in range(rows.phi.shape[0]):
        rows.kappa[r] = min(max(soft, rows.lam[r] / (RELEASE * par.edge)), most)
    for r in range(par.net.facet_count[0]):
        facets.kappa[r] = LOOSE * unit
    for p in range(par.net.joins.row.shape[0]):
        par.net.joins.kappa[p] = hard


@far(NOTHING, NUMBER, NUMBER, NUMBER)
@compiled
def stiffen(box, unit, most, deepest):
    """κ grows where multipliers alone have not brought things within their rooms."""
    par = open_box(box).par
    edges, rows, facets, joins = par.net.edges, par.net.solids, par.net.facets, par.net.joins
    stiffest = STIFFEST * unit
    for p in range(joins.row.shape[0]):
        if join_off(joins, p) > held_to(par):
            joins.kappa[p] = max(joins.kappa[p], min(RAMP * joins.kappa[p], stiffest))
    for e in range(edges.i.shape[0]):
        if edges.on[e] and edge_off(edges, e, most) > 1.0:
            edges.kappa[e] = max(edges.kappa[e], min(RAMP * edges.kappa[e], stiffest))
    for r in range(rows.phi.shape[0]):
        if rows.on[r] and row_off(rows, r, deepest) > 1.0:
            rows.kappa[r] = min(RAMP * rows.kappa[r], stiffest)
    for r in range(par.net.facet_count[0]):
        if facets.phi[r] > OFF_FACET * par.apart[r]:
            facets.kappa[r] = min(RAMP * facets.kappa[r], SOFT * unit)


@far(NOTHING)
@compiled
def settle_shifts(box):
    """T₀ = T, λ₀ = λ, F₀ = F."""
    net = open_box(box).par.net
    edges, rows, joins = net.edges, net.solids, net.joins
    for e in range(edges.i.shape[0]):
        edges.shift[e] = edges.tension[e] if edges.on[e] else 0.0
    for r in range(rows.phi.shape[0]):
        rows.shift[r] = rows.lam[r] if rows.on[r] else 0.0
    for p in range(joins.row.shape[0]):
        for c in range(3):
            joins.shift[p, c] = joins.force[p, c]
