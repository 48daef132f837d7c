"""The command line: one file per command, listed here; parameters.py has the parameters that they share.

A command is a function: its name is the command's, its keyword arguments are the flags, its docstring is the help. It
calls one public function and prints its result; nothing is computed here.

    taut run      → simulation.simulate     x, v, λ at t = 0, h, 2h, …      taut compare  → analysis.compare
    taut explain  → analysis.explain        λ ≥ 0, w ≥ 0, λ·w = 0           taut doctor   → analysis.mechanics
    taut export   → export.export           taut view → view.viewer         taut bench    → analysis.bench

Exit codes: 0 the work was done; 2 a user's mistake (one message, never a traceback); 1 a failed run.
TAUT_DEBUG=1 shows where a mistake was noticed.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from cyclopts import App, CycloptsError

from .. import __version__
from ..errors import TautError, TautWarning
from .bench import bench
from .compare import compare
from .convert import convert
from .doctor import doctor
from .explain import explain
from .export import export
from .listing import list_
from .reproduce import reproduce
from .run import run
from .schema import schema
from .verify import verify
from .view import view
from .warm import warm

COMMANDS: dict[str, Callable[..., int | None]] = {
    "run": run,
    "compare": compare,
    "explain": explain,
    "doctor": doctor,
    "convert": convert,
    "export": export,
    "view": view,
    "list": list_,
    "verify": verify,
    "warm": warm,
    "schema": schema,
    "bench": bench,
    "reproduce": reproduce,
}

HELP = """Constrained dynamics: state the condition, taut holds it.

A SCENE is a name of the gallery, a .yaml file, or a .py file. A .py file is a program: it is executed with all that you
may do yourself, so run only those that you trust. Everything else (.yaml, meshes, arrays, stored runs) is only read.
"""


def app() -> App:
    """The parser, with one command per function; their docstrings and hints are its help."""
    taut = App("taut", help=HELP, version=__version__)
    for name, command in COMMANDS.items():
        taut.command(command, name=name)
    return taut


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; the entry point of `taut` and `python -m taut`."""
    tokens = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always", TautWarning)
            warnings.showwarning = _once()
            code = app()(tokens, exit_on_error=False, print_error=False, result_action="return_value")
            if tokens[:1] in (["run"], ["compare"]) and "taut.simulation.run" in sys.modules:  # not for their help
                from ..simulation.native import compile_in_background

                compile_in_background()
        sys.stdout.flush()  # inside, so that a reader that has gone is noticed here
    except (TautError, CycloptsError) as mistake:
        if os.environ.get("TAUT_DEBUG") == "1":
            raise
        print(f"taut: {_text(mistake)}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        # The reader, such as `head`, has what it wanted. What Python still holds for it must not be flushed at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except KeyboardInterrupt:
        print("taut: interrupted", file=sys.stderr)
        return 1
    return code if isinstance(code, int) else 0


def _text(mistake: Exception) -> str:
    if isinstance(mistake, CycloptsError):
        return f"{str(mistake).strip()} See taut --help."
    return str(mistake)


def _once() -> Callable[..., None]:
    """Prints each warning on a line of its own, and the same text only once."""
    seen: set[str] = set()

    def show(message: Warning | str, *where: Any, **more: Any) -> None:
        if str(message) not in seen:
            seen.add(str(message))
            print(f"taut: warning: {message}", file=sys.stderr)

    return show
