"""taut verify: which records of a stored run are sound, and what can be done about the rest."""

from __future__ import annotations

import sys
from pathlib import Path

from .parameters import Flag
from .table import print_table

LISTED = 10


def verify(
    path: Path, /, *, save: Path | None = None, overwrite: Flag = False
) -> int:
    """Compare every file of a stored run with its checksum.

    Exit code 0: all is sound; 1: something is damaged. The run itself is not changed.

    Parameters
    ----------
    path
        The folder of a stored run.
    save
        Store the sound records in a new folder, to be viewed and exported like any other run.
    overwrite
        Replace a stored run at --save.
    """
    from ..result import open as open_run
    from ..result.verify import examine

    examination = examine(path)
    step = examination.resume["step"] if examination.resume else 0
    can_resume = examination.commit["state"] or examination.resume
    rows = [
        ("run", f"{path}, {examination.commit['status']}"),
        ("checksums", "yes" if examination.checked
         else "none: stored by an older taut; only what is missing or torn shows"),
        ("records", _share(examination.sound, examination.records)),
        ("events", _share(examination.sound_events, examination.events)),
        ("goes on from", f"step {step}" if can_resume else "nowhere: it was stored without a state"),
    ]
    print_table(rows)
    if save is not None:
        open_run(path, recover=True).save(save, overwrite)
        print(f"The sound records are stored in {save}.")
    if not examination.faults:
        return 0
    for fault in examination.faults[:LISTED]:
        print(f"taut: damaged: {fault.rstrip('.')}.", file=sys.stderr)
    if len(examination.faults) > LISTED:
        print(f"taut: and {len(examination.faults) - LISTED} more.", file=sys.stderr)
    go_on = f"; to go on before the damage: taut run --resume {path} --recover" if can_resume else ""
    print(f"taut: To keep what is sound: taut verify {path} --save NEW{go_on}", file=sys.stderr)
    return 1


def _share(sound: int, all_: int) -> str:
    return f"{all_:,}, all sound" if sound == all_ else f"the first {sound:,} of {all_:,} are sound"
