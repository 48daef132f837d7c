"""The formats, in the order in which they are told."""

from __future__ import annotations

from . import csv, gif, glb, html, mp4, nc, obj, parquet, png, usd, vtk
from .base import Format

FORMATS: dict[str, Format] = {
    module.FORMAT.name: module.FORMAT for module in (html, mp4, gif, png, usd, glb, vtk, obj, csv, parquet, nc)
}
