"""The second process of a comparison: reads jobs from its standard input until it is closed.

python -m taut.analysis.compare.worker FOLDER    where FOLDER has the scene and gets the outcomes
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from ...progress import compilation
from ...scene.load import load
from .jobs import SCENE_FILE, Job, perform


def main(folder: Path) -> None:
    compilation.silent = True  # the first process says it
    scene = load(folder / SCENE_FILE, allow_outside=True)
    print("ready", flush=True)
    for line in sys.stdin:
        number, job = json.loads(line)
        perform(scene, Job(**job)).save(folder / f"{number}.npz")
        print(number, flush=True)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except KeyboardInterrupt:  # the first process says so
        sys.exit(1)
