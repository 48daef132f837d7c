"""Meshes in the formats that meshio reads, in a process of its own with bounds on its time and memory.

Its readers wait for ever at the end of a cut file, pass over as many lines as a number says, and make arrays as long
as the largest number of a node. None of that can be mended here, so it is fenced in: what a file may cost follows
from its size. Formats that include other files are left out.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from .. import limits
from ..errors import TautError

FORMATS = (".msh", ".vtk", ".vtu", ".mesh", ".stl")
_SECONDS, _SECONDS_PER_MB = 5, 5
_BYTES, _BYTES_PER_BYTE = 1 << 30, 200
# Kinds of cells, and what else is there, go back as arrays.
_PROGRAM = """
import sys
try:
    import resource
    seconds, most = int(sys.argv[3]), int(sys.argv[4])
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
import meshio, numpy
try:
    found = meshio.read(sys.argv[1])
    held = {f"{i} {block.type}": numpy.asarray(block.data) for i, block in enumerate(found.cells)}
    numpy.savez(sys.argv[2], points=numpy.asarray(found.points, float),
                **{k: v if v.dtype.kind in "iu" else numpy.zeros(0) for k, v in held.items()})
except SystemExit:
    sys.exit("its format is not known")
except MemoryError:
    sys.exit("it asks for more memory than a file of its size needs")
except BaseException as wrong:
    sys.exit(str(wrong)[:300] or type(wrong).__name__)
"""


class Block(NamedTuple):
    type: str
    data: np.ndarray


class Found(NamedTuple):
    points: np.ndarray
    cells: list[Block]


def read(path: Path) -> Found:
    """Points and cells of a mesh file."""
    if path.suffix.lower() not in FORMATS:
        known = ", ".join((".obj", ".ply", ".off", *FORMATS))
        raise TautError(f"'{path}' could not be read as a mesh: its format is not known; use one of {known}.")
    if find_spec("meshio") is None:
        raise TautError(f"'{path}' is read by meshio, which is not installed: pip install 'taut[mesh]'.")
    size = limits.regular_size(path, "mesh file")
    seconds, max_bytes = _SECONDS + _SECONDS_PER_MB * (size >> 20), _BYTES + _BYTES_PER_BYTE * size
    with tempfile.TemporaryDirectory(prefix="taut_mesh_") as folder:
        out = Path(folder) / "mesh.npz"
        command = [sys.executable, "-c", _PROGRAM, str(path.resolve()), str(out), str(seconds), str(max_bytes)]
        try:
            # The clock allows ten times the processor's seconds, for machines that are busy with others.
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  timeout=10 * seconds, text=True, errors="replace")  # fmt: skip
            reason = (done.stderr.strip().splitlines() or [""])[-1]
            if done.returncode < 0:
                reason = f"it takes more than the {seconds} s that a file of its size should"
        except subprocess.TimeoutExpired:
            reason = f"it takes more than the {seconds} s that a file of its size should"
        except OSError as problem:
            reason = f"no process for it could be started ({problem.strerror})"
        if out.exists() and not reason:
            with np.load(out, allow_pickle=False) as arrays:
                cells = [Block(name.partition(" ")[2], arrays[name]) for name in arrays.files if name != "points"]
                return Found(arrays["points"], cells)
    raise TautError(f"'{path}' could not be read as a mesh: {reason or 'nothing came back'}; export it again, or use "
                    ".obj, .ply or .off for sheets.")
