"""One Newton direction: the linear system of linear_system.py assembled, factored and solved."""

from __future__ import annotations

from ..compiled import compiled
from .attachments import assemble_attachments
from .codes import NOT_DEFINITE
from .contact_assembly import assemble_external_contacts, assemble_self_contacts
from .contact_schur import build_contact_schur, solve_with_self_contacts
from .linear_solve import factor, factor_and_solve
from .linear_system import assemble_edges, assemble_springs, begin_rhs


@compiled
def newton_direction(state, ctx, h, buckling):
    """Solve (3) of linear_system.py for linear.dx, with linear.rhs. Returns how many nodes are coupled to balls.

    With `buckling` > 0 the true matrix is used; where it is not positive definite, NOT_DEFINITE is returned.
    """
    x = state.x
    begin_rhs(ctx, x, h)
    assemble_edges(ctx, h, buckling)
    assemble_springs(ctx, x, h, buckling)
    coupled = assemble_external_contacts(state, ctx, h) + assemble_attachments(ctx, buckling)
    active = assemble_self_contacts(ctx)
    ctx.schur.number[0] = 0
    if ctx.linear.block.shape[0] == 0 and active == 0:
        return NOT_DEFINITE if factor_and_solve(ctx) > 0 and buckling > 0.0 else 0
    if factor(ctx, coupled) > 0 and buckling > 0.0:
        return NOT_DEFINITE
    if active > 0:
        build_contact_schur(ctx, h)
    solve_with_self_contacts(ctx, coupled)
    return coupled
