"""The deformable problem: steps of scenes with cloth and solids.

    algorithms.py            which algorithm runs under which method's name, and what it refuses
    unknowns.py              unknowns and edges as flat arrays;  contact_rows.py  rows of contact
    problem.py               all that a step works on;  context.py  how compiled functions reach it
    step.py                  a step: its substeps, and what goes from one to the next
    predict.py               the unconstrained prediction x*
    implicit_springs.py      which springs are part of the linear system
    attachments.py           pins to what moves freely;  rigid_coupling.py  rigid bodies beside cloth
    newton.py                Newton's method with an active set, and what follows where it stalls
    newton_direction.py      one Newton direction: linear_system.py, contact_assembly.py, friction.py, linear_solve.py
    constraint_errors.py     errors of edges and rows, activation;  evaluate.py  all of them;  tolerances.py
    interior_point.py        limits and contacts all at once;  slack.py  slacks and multipliers
    augmented_lagrangian.py  descent of an energy with a line search
    length_projection.py     fast projection: lengths alone
    external_contact.py      contacts with obstacles and balls;  initial_contacts.py  the same at the start
    self_contact.py          contacts between sheets;  contact_schur.py, contact_ordering.py  their forces
    records.py               what records keep
    baselines/               XPBD, Provot, implicit Euler, to compare with

    x, v        state.x, state.v              positions and velocities, (slots, 3)
    x*          net.aim                       prediction without constraints
    T, λ, F     edges.tension, rows.lam, joins.force   multipliers of edges, contacts and pins [N]
"""
