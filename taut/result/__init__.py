"""Labelled results: what a run kept, stored crash-safe, and given back with names and units.

    records.py    Records: plain arrays, first axis time
    labels.py     Labels: what their columns are called; enough to read a stored run without its scene
    dataset.py    both together as an xarray.Dataset
    reactions.py  +Jᵀ λ of one constraint: forces and torques on its bodies
    run.py        Run: what simulate returns and `taut.open` reads; of one constraint, body, force or joint:
                  constraint_result.py, body_result.py, applied.py, joints.py; of one record: instant.py
    motion.py     v̇ at each record from the equations of motion; moments.py: crossings and extremes between records;
                  recipes.py: how a labelled quantity was found
    plot.py       run.plot: figures with units
    store.py      Store: a folder on disk, readable after a crash at any moment; creation.py: a new one; commits.py:
                  which records count; stored_records.py: read when asked for; stored_scene.py: the scene in it
    header.py     run.json, checked; digests.py: checksums, and digests of scenes and plans
    chunks.py     records in chunks of zarr arrays; files.py: commits, events, and waiting for the disk
    lock.py       one writer at a time
    verify.py     which records of a stored run are sound

xarray and zarr take a second to import, so they are imported where they are used.
"""

from .records import Records
from .run import Run
from .run import open_run as open
from .store import Store

__all__ = ["Records", "Run", "Store", "open"]
