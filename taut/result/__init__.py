"""Labelled results: the records of a run, stored crash-safe, and returned with names and units.

    x, q, v, λ, Φ, Φ̇    records.x, .quat, .v, .lam, .phi, .rate     first axis time; shapes and units: records.py
    E, W                 records.energy                              kinetic, potential, works and losses
    F_i = Σ_r λ_r ∂Φ_r/∂x_i,  τ_i = (x_i - c_i) × F_i                reactions.py: force and torque on each body
    v̇ = W (f + Jᵀ λ)                                                 motion.py: accelerations at each record

    labels.py     the names of columns; enough to read a stored run without its scene;  dataset.py  as xarray
    run.py        Run: what simulate returns and `taut.open` reads; of one constraint, body, force or joint:
                  constraint_result.py, body_result.py, applied.py, joints.py; of one record: instant.py
    moments.py    crossings and extremes between records;  recipes.py  how a labelled quantity was computed;  plot.py
    older.py      runs of earlier versions, converted to the layout of this one
    store.py      Store: a folder on disk, readable after a crash at any moment; creation.py, commits.py, chunks.py,
                  files.py, lock.py, header.py, digests.py; read by stored_run.py, stored_records.py,
                  stored_scene.py, verify.py

xarray and zarr take a second to import, so they are imported where they are used.
"""

from .records import Records
from .run import Run
from .run import open_run as open
from .store import Store

__all__ = ["Records", "Run", "Store", "open"]
