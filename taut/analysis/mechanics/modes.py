"""A mode of small motions as a run that plays.

    ξ(t) = a Re(s e^(λ t)),   s the shape of the mode, λ its eigenvalue, a: so that it can be seen       (1)

Bodies are moved by ξ and brought onto Φ = 0 again, since what is seen is not small. Time is stretched, λ with it: one
cycle of an oscillation takes as long as is asked for, and so does the growth or decay of a mode that does not oscillate
by e³. A mode with λ = 0 is a move that nothing drives back: it is shown from one end to the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...errors import TautError, shown
from ...limits import check as check_limit
from ...model.frames import conjugate, multiply, rotate
from ...model.scales import scene_size
from ...result.records import Records
from ...result.run import Run
from ...scene.checks import positive
from .perturbation import Array, exponential

if TYPE_CHECKING:
    from .linearise import Linearisation

FRAMES = 60  # of a cycle
FOLDS = 3.0  # by e to this power modes without oscillation grow or decay while they are shown
STILL = 1e-6  # of the largest eigenvalue; below, one counts as zero


def mode_run(linearisation: Linearisation, mode: int, amplitude: float, cycle: float, cycles: int) -> Run:
    """(1) as a run."""
    count = len(linearisation.eigenvalues)
    if not 0 <= mode < count:
        remedy = f"give a number from 0 to {count - 1}" if count else "nothing moves here"
        raise TautError(f"mode is {shown(mode)}; {remedy}.")
    amplitude, cycle = positive(amplitude, "amplitude"), positive(cycle, "cycle")
    positive(cycles, "cycles")
    check_limit("steps", FRAMES * cycles, "the run of a mode")
    time = np.linspace(0.0, cycle * cycles, FRAMES * cycles + 1)
    growth, rate = _course(linearisation.eigenvalues[mode], np.abs(linearisation.eigenvalues).max(), time, cycle)
    shape = linearisation.modes[mode]
    moves, speeds = ((part[:, None, None] * shape).real for part in (growth, rate))
    near = linearisation.near
    size = scene_size(near.model, near.x)
    largest = max(float(np.abs(moves[..., :3]).max(initial=0.0)) / size, float(np.abs(moves[..., 3:]).max(initial=0.0)))
    scale = amplitude / max(largest, 1e-300)
    records = _records(linearisation, time, scale * moves, scale * speeds)
    value = linearisation.eigenvalues[mode]
    said = f"mode {mode}, eigenvalue {value:.6g} 1/s, enlarged; a cycle is shown in {cycle:g} s"
    info = {"method": f"mode {mode}", "dt": cycle / FRAMES, "record_every": 1, "steps": len(time) - 1,
            "steps_done": len(time) - 1, "options": {}, "notes": [said]}  # fmt: skip
    return Run(linearisation.scene, near.model, records, "finished", "", info)


def _course(value: complex, largest: float, time: Array, cycle: float) -> tuple[Array, Array]:
    """e^(λ t) and its rate at the times shown."""
    if abs(value) <= STILL * max(1.0, float(largest)):
        across = time / time[-1] * 2.0 - 1.0
        return across.astype(complex), np.full(len(time), 2.0 / time[-1], complex)
    oscillates = abs(value.imag) > STILL * abs(value)
    stretched = value * (2.0 * np.pi / abs(value.imag) if oscillates else FOLDS / abs(value)) / cycle
    growth = np.exp(stretched * time)
    return growth, stretched * growth


def _records(linearisation: Linearisation, time: Array, moves: Array, speeds: Array) -> Records:
    """Moves and speeds (T, bodies, 6), in the world's axes, put to the bodies."""
    near = linearisation.near
    arrays = {name: np.zeros((len(time), *shape)) for name, shape in Records.shapes(near.model).items()}
    arrays["time"][:] = time
    infos = {body.name: body for body in near.model.body_info}
    slots = near.model.bodies.slots
    for k in range(len(time)):
        x, quat, v = near.x.copy(), near.quat.copy(), np.zeros_like(near.x)
        for b, name in enumerate(linearisation.bodies):
            body = infos[name]
            x[body.slot] += moves[k, b, :3]
            v[body.slot] = speeds[k, b, :3]
            if body.kind == "rigid":
                quat[body.quat] = multiply(exponential(moves[k, b, 3:]), near.quat[body.quat])
                v[body.slot + 1] = rotate(conjugate(quat[body.quat]), speeds[k, b, 3:])
        x, quat = near.projected(x, quat)
        arrays["x"][k], arrays["quat"][k], arrays["v"][k] = x[:slots], quat, v[:slots]
        arrays["phi"][k, : near.model.row_count] = near.system.work.phi
    return Records(**arrays)
