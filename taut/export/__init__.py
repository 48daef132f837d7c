"""Runs as files for other tools: one file per format, listed here.

A run is known at its records t_k, and a file shows these alone, none in between. Frames are the records nearest to
the times of a rate, or every n-th record:

    k(j) = argmin_k |t_k - (t_0 + j/fps)|,   j = 0, 1, …                base.frames                               (1)
    x(t) = p + R(q) S y   of a place y of a part that keeps its form    tracks.Stiff: position, orientation, scale (2)
    q ← -q where q·q₋ < 0                                               so that tools may interpolate orientations (3)

    p, q, S    (frames, 3) [m], (frames, 4) w x y z, (frames, 3)        one row of a part that never moves
    x          tracks.Soft.points, (frames, n, 3) [m]                   of cloth and solids; y is up, as in taut

    base.py    what a format declares, and the frames that it takes from a run
    write.py   export(): checks, progress, and files that appear whole or not at all
    tables.py  records as one table, for csv and parquet
    tracks.py  parts of a scene over time, for the formats of 3D tools
"""

from .base import Format, Options
from .formats import FORMATS
from .write import animate, export

__all__ = ["FORMATS", "Format", "Options", "animate", "export"]
