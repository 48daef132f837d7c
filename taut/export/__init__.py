"""Runs as files for other tools: one file per format, listed here.

    base.py    what a format declares, and the frames that it takes from a run
    write.py   export(): checks, progress, and files that appear whole or not at all
    tables.py  records as one table, for csv and parquet
    tracks.py  parts of a scene over time, for the formats of 3D tools
"""

from .base import Format, Options
from .formats import FORMATS
from .write import animate, export

__all__ = ["FORMATS", "Format", "Options", "animate", "export"]
