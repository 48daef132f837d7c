"""What the machine holds: frozen flat arrays, their sparsity, and the words that evaluate them.

    q       x, quat     positions and orientations (arrays.py says what a slot and a point are)
    v       v           velocities
    W       w           diagonal of the inverse mass matrix
    Φ J γ   work        constraint values and derivatives, filled by `constraints` (constraint_rows.py)
    f       work.f      applied forces, filled by `forces`
    A       linear      J W Jᵀ, planned once per topology (linalg)
"""

from .build import build
from .model import BodyInfo, ConstraintInfo, Model

__all__ = ["BodyInfo", "ConstraintInfo", "Model", "build"]
