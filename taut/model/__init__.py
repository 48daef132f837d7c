"""The model of a scene: frozen flat arrays, their sparsity, and the functions that evaluate them.

    q       x, quat     positions and orientations (arrays.py says what a slot and a point are)
    v       v           velocities
    W       bodies.inverse_mass   diagonal of the inverse mass matrix
    Φ J γ   work        constraint values and derivatives, filled by `evaluate_constraints` (constraint_rows.py)
    f       work.f      applied forces, filled by `evaluate_forces`
    A       linear      J W Jᵀ, planned once per topology (linalg)

slots.py, batches.py and frames.py turn a scene's records into numbers: points, batches of one kind, frames of bodies;
build.py puts it together. evaluate.py names the functions that steps are written with: instant.py (t, places on
bodies), constraint_rows.py (Φ, J, Φ_t, γ), applied_forces.py (f, W f), jacobian.py (J v, W Jᵀ λ, A λ = b),
driver_work.py (work of drivers) and slot_vectors.py (q ⊞ h v).
"""

from .build import build
from .model import BodyInfo, ConstraintInfo, Model

__all__ = ["BodyInfo", "ConstraintInfo", "Model", "build"]
