"""Mechanisms at one instant: static equilibrium, and small motions about a state or a steady motion.

    perturbation.py   a model near one configuration: forces, accelerations and rates as functions of small moves
    equilibrium.py    equilibrium(): where forces and constraint forces balance
    doctor.py         examine(): degrees of freedom, rank, redundancy, step; `taut doctor`
    kinematics.py     kinematics(): positions, velocities, accelerations and driver forces of a fully driven mechanism
    linearise.py      linearise(): eigenvalues, frequencies and modes of small motions
    zeros.py          its eigenvalues, with those that are zero told as zero
    fastest.py        the fastest motion about a state, of many unknowns without a matrix
    modes.py          a mode as a run that plays

    ξ, η    small moves and velocities of all free unknowns, rotations in the world's axes
    J       rows of all constraints for η; J_p those of position level, for ξ
    N       an orthonormal basis of the moves that constraints allow
"""

from .equilibrium import Equilibrium, equilibrium
from .kinematics import kinematics
from .linearise import Linearisation, linearise

__all__ = ["Equilibrium", "Linearisation", "equilibrium", "kinematics", "linearise"]
