"""Known ways to step cloth, to compare with: they treat scenes of sheets, whose springs they know as springs.

    base.py            what they share: all springs of a scene as arrays, forces without them
    xpbd.py            compliant position constraints
    provot.py          springs, and over-long ones cut back
    implicit_euler.py  one linear system for all springs
"""
