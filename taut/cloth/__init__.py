"""The deformable problem: steps of scenes with cloth and solids.

    M (x' - x*)/h² + Σ T u - Σ λ ω n = 0,    v' = (x' - x)/h          implicit Euler: step.py, solved by newton.py
    l ≤ (1 + limit) L, T ≥ 0;   gap ≥ 0, λ ≥ 0;   one of both an equality      limits and contacts: the active set

    algorithms.py            which algorithm runs under which method's name, and what it refuses
    unknowns.py              unknowns and edges as flat arrays;  contact_rows.py  rows of contact
    context.py               the structures that a step works on;  problem.py  makes them from a model;  codes.py
    settings.py              tunable numbers, with meaning and range
    optional_solvers.py      solvers that only some scenes need, called by address
    step.py                  a step: its substeps, and the data that one passes to the next
    predict.py               the unconstrained prediction x*
    implicit_springs.py      which springs are part of the linear system
    attachments.py           pins to bodies that move freely;  rigid_coupling.py  rigid bodies beside cloth
    newton.py                Newton's method with an active set, and the fallbacks where it stalls
    newton_direction.py      one Newton direction: linear_system.py, contact_assembly.py, friction.py, linear_solve.py
    constraint_errors.py     errors of edges and rows, activation;  evaluate.py  all of them;  tolerances.py
    interior_point.py        interior point for all limits and contacts;  slack.py  slacks and multipliers
    augmented_lagrangian.py  descent of an energy with a line search
    length_projection.py     fast projection: lengths alone
    active_limits.py         the papers' own step: explicit springs, and constraints on over-long ones alone
    active_context.py        its structures;  active_iteration.py  its multipliers;  active_contacts.py  its contacts
    active_system.py         its linear system;  bounded_tensions.py  the same with λ ≥ 0
    choice.py                which of the two steps is taken, by counts of operations
    release.py               release rules of contacts, and contacts as bounds on velocities
    contact_events.py        when contacts begin and end, with their impulse
    external_contact.py      contacts with obstacles and balls;  initial_contacts.py  the same at the start
    self_contact.py          contacts between deformables;  contact_schur.py, contact_ordering.py  their forces
    records.py               the values in records;  dissipation.py  energy that limits, contacts and friction take
    baselines/               XPBD, Provot, implicit Euler, to compare with

    x, v        state.x, state.v              positions and velocities, (slots, 3)
    x*, v*      work.x_pred, work.v_pred      prediction without constraints
    T, λ, F     edges.tension, external.lam, attachments.force   multipliers of edges, contacts and pins [N]
    T₀, λ₀, F₀  lam_est                       their estimates in the augmented Lagrangian
    κ, s, φ     penalty, slack, phi           penalty parameter [N/m], slack [m], constraint error [m]
"""
