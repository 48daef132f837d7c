"""The contact problem: unilateral rows Φ ≥ 0, the forces that enforce them, impacts and Coulomb friction.

    S           (capacity, capacity)    J W Jᵀ of the unilateral rows; may be singular
    c           (capacity)              the slack when all of their forces are zero: J v̇ - d
    λ, P        lam, impulse            multipliers ≥ 0: contacts push and never pull
    w = Sλ + c  w                       the slack with them

Declarations and the data of a run

    algorithms.py       CONTACT_METHODS: the algorithm that treats inequalities under each method's name
    problem.py          ContactContext: what these steps work on, and their options
    settings.py         tunable numbers, with meaning and range

Steps

    event_driven.py     steps of a method, cut at each activation, release or impact
    event_location.py   where a step meets its first event
    enforced_rows.py    a method's own step with the active rows enforced as equalities
    active_set.py       which rows are in the active set at acceleration level
    time_stepping.py    fixed steps with complementarity at the new time
    second_order_steps.py    the same, with a method's own step while the active set does not change
    restitution.py      impacts in fixed steps
    collect.py          inequalities evaluated; rows that may matter become candidates
    broad_phase.py      the same for balls of groups with many pairs
    solve_contacts.py   λ of equalities and candidates together (few: dense and exact; many: iterative)
    driver_work.py      the work of moving walls and of driven bodies in contact
    dissipation.py      the energy that impacts and friction dissipate
    event_log.py        events and records
    snapshot.py         the contact problem of one instant, for `taut explain`

Solvers, which know nothing of scenes

    rules/              rules by which users choose the active set, one file each
    qp.py               the complementarity problem λ ≥ 0, w ≥ 0, λ·w = 0, dense
    lawson_hanson.py    its active set
    face.py             equalities on a set of rows, redundant or not
    friction.py         Coulomb friction with dense matrices
    impact.py           simultaneous impacts
    rows.py             ContactRows: sparse rows, and Coulomb's cone
    projected_gauss_seidel.py, conjugate_residuals.py    many contacts, sparse and iterative
    work.py             workspace, log and statuses of the dense kernels
"""
