"""A stored run that another process may still be writing: what is there, and what has come since."""

from __future__ import annotations

from pathlib import Path

from ..errors import TautError
from ..result.commits import RUNNING
from ..result.run import Run, open_run
from ..result.store import Store
from ..result.stored_records import StoredRecords
from .playback import Playback


class StoredPlayback(Playback):
    """A playback that grows with its folder."""

    def __init__(self, path: Path, name: str | None = None) -> None:
        self.path = path
        self.is_running = Store.open(path).status == RUNNING
        run = open_run(path, lazy=True)
        steps, dt = run.info.get("steps"), run.info.get("dt")
        asked = float(steps) * float(dt) if steps and dt else None
        super().__init__(run, name or str(run.info.get("method") or path.stem), asked)
        self.source = str(path)

    def grow(self) -> bool:
        """Read what has come since; True where the run is longer or has ended."""
        if not self.is_running:
            return False
        try:
            store = Store.open(self.path)
        except TautError:
            return False  # the folder is being replaced
        ended = store.status != RUNNING
        if len(store) <= len(self.records) and not ended:
            return False
        old = self.run
        status, message = (store.status, store.message) if ended else (old.status, old.message)
        info = {**old.info, **store.info(), "steps_done": store.step}
        model = old._model
        self.run = Run(old.scene, model, StoredRecords(store), status, message, info, old.labels, store.events())
        self.is_running = not ended
        self.forget()
        return True
