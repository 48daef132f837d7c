"""Where the next iteration goes: the system of linear_system.py put together, factored and solved."""

from __future__ import annotations

from ..compiled import compiled
from .attachments import assemble_joins
from .contact_assembly import assemble_facets, assemble_solids
from .contact_schur import bind_facets, solve_with_facets
from .context import NUMBER, WHOLE, far, open_box
from .linear_solve import factor, factor_and_solve
from .linear_system import assemble_edges, assemble_springs, start_rhs

NOT_DEFINITE = -1


@far(WHOLE, NUMBER, NUMBER)
@compiled
def aim(box, h, buckling):
    """net.dx of linear_system.py (3), its right-hand side in net.rhs. Returns how many nodes are on balls.

    With `buckling`, the true matrix: where it is not positive definite, NOT_DEFINITE and no answer.
    """
    system, state, par = open_box(box)
    x = state.x
    start_rhs((box, x, h))
    assemble_edges((box, h, buckling))
    assemble_springs((box, x, h, buckling))
    touching = assemble_solids((box, h)) + assemble_joins((box, buckling))
    on = assemble_facets((box,))
    par.bonds.number[0] = 0
    if par.net.block.shape[0] == 0 and on == 0:
        return NOT_DEFINITE if factor_and_solve((box,)) > 0 and buckling > 0.0 else 0
    if factor((box, touching)) > 0 and buckling > 0.0:
        return NOT_DEFINITE
    if on > 0:
        bind_facets((box, h))
    solve_with_facets((box, touching))
    return touching
