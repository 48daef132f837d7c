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
RELEASE = 0.01  # of an edge: its length and that of contacts changes so much, at most, until they let go
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


@word
def begin_stiffness(par, unit, hard):
    """κ of each edge and row to begin with: no softer than lets go of what the step before has left.

    Multipliers of an impact are hundreds of times those of the step after it. With a κ that is soft for them, edges
    would have to shrink to a fraction before they are free.
    """
    edges, rows, facets = par.net.edges, par.net.solids, par.net.facets
    soft, most = SOFT * unit, STIFFEST * unit
    for e in range(edges.i.shape[0]):
        freeing = edges.tension[e] / (RELEASE * edges.length[e])
        edges.kappa[e] = min(max(soft, freeing), most) if edges.one_sided[e] else hard
    for r in range(rows.phi.shape[0]):
        rows.kappa[r] = min(max(soft, rows.lam[r] / (RELEASE * par.edge)), most)
    for r in range(par.net.facet_count[0]):
        facets.kappa[r] = LOOSE * unit


@word
def off_by(edges, e, tolerance, limit_tolerance, beyond):
    """|φ| as a multiple of what it may be. Limits may be off by `beyond` in all, or by their tolerance in a step."""
    if not edges.one_sided[e]:
        return abs(edges.phi[e]) / (tolerance * edges.length[e])
    if not edges.on[e]:
        return max(0.0, edges.phi[e]) / (limit_tolerance * edges.length[e])
    room = edges.most[e] + beyond * edges.length[e] - edges.target[e]
    return abs(edges.phi[e]) / max(room, limit_tolerance * edges.length[e])


@word
def stiffen(par, unit, tolerance, limit_tolerance, beyond, contact_tolerance):
    """κ grows where multipliers alone have not brought things within their tolerances."""
    edges, rows, facets = par.net.edges, par.net.solids, par.net.facets
    most = STIFFEST * unit
    for e in range(edges.i.shape[0]):
        if edges.on[e] and off_by(edges, e, tolerance, limit_tolerance, beyond) > 1.0:
            edges.kappa[e] = max(edges.kappa[e], min(RAMP * edges.kappa[e], most))
    for r in range(rows.phi.shape[0]):
        if rows.on[r] and abs(rows.phi[r]) > contact_tolerance:
            rows.kappa[r] = min(RAMP * rows.kappa[r], most)
    for r in range(par.net.facet_count[0]):
        if facets.phi[r] > OFF_FACET * par.apart[r]:
            facets.kappa[r] = min(RAMP * facets.kappa[r], SOFT * unit)
