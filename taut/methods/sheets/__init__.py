"""Steps for scenes with cloth and solids.

Held by multipliers (implicit_first, fast_projection):

    forms.py    the methods' forms for sheets, and what they refuse
    net.py      unknowns and edges as flat arrays;  contact_rows.py  rows of contact;  tables.py  all of it;  box.py
    hold.py     a step: its pieces, and what goes from one to the next
    free.py     the unconstrained part
    couples.py  which springs are part of the system
    joins.py    pins to what moves freely;  turning.py  rigid bodies
    settle.py   Newton's method;  rows.py, measures.py  who is off and who enters
    system.py, contacts.py, friction.py, newton.py, aim.py  one Newton step
    interior.py  limits and contacts all at once, and descent.py  an energy: where Newton's method goes astray
    lengths.py  fast projection: lengths alone
    between.py  sheets against sheets;  bonds.py, bond_order.py  their forces
    report.py   records

Known ways to step cloth, to compare with; springs are springs to them:

    base.py            what they share: all springs of a scene as arrays, forces without them
    bump.py            and nodes and balls moved out of each other and of obstacles
    xpbd.py            compliant position constraints
    provot.py          springs, and over-long ones cut back
    implicit_euler.py  one linear system for all springs
"""
