"""A YAML file as a tree with line marks, and as plain data. Nothing in a file is ever executed.

Reading is bounded in time and memory: the text in bytes, lists and keys inside each other in depth, and values in
number, where what an alias repeats counts each time (nine aliases of nine aliases of … make a billion of a few lines).
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

from .. import limits
from ..errors import TautError, shown


def parse(path: Path, holds: str = "keys, beginning with 'taut: 1'") -> Any:
    """The tree of a YAML file, in which the library has marked lines and columns. holds: what is to stand in it."""
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        text = limits.read_bytes(path, "scene_bytes", "scene file").decode("utf-8")
    except UnicodeDecodeError as problem:
        raise TautError(f"'{path}' can not be read as a scene file: {problem}. Store it as text in UTF-8.") from None
    try:
        tree = _library().load(text)
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        told = _first_line(problem.problem or problem.context)
        hint = " Indent with spaces, not with tabs." if "'\\t'" in told else ""
        raise TautError(f"{place}: this is not YAML: {told}.{hint}") from None
    except TautError as problem:
        raise TautError(f"{path}: {problem}") from None
    except RecursionError:
        raise TautError(f"{path}: lists are nested too deeply.") from None
    except (YAMLError, Exception) as problem:  # the library asserts, and looks up what is not there
        raise TautError(f"{path}: this is not YAML: {_first_line(problem)}.") from None
    if tree is None:
        raise TautError(f"{path} is empty; it holds {holds}.")
    if not isinstance(tree, dict):
        held = "list" if isinstance(tree, list) else "single value"
        raise TautError(f"{path} holds a {held}; give {holds}.")
    return tree


def place_of(tree: Any, steps: Sequence[Any], at_key: bool = False) -> tuple[int, int]:
    """Line and column of what the steps (keys and numbers of entries) lead to, or of the nearest thing around it."""
    node, line, column = tree, 0, 0
    for number, step in enumerate(steps):
        try:
            if isinstance(step, int):
                line, column = node.lc.item(step)
            else:
                line, column = node.lc.key(step) if at_key and number == len(steps) - 1 else node.lc.value(step)
            node = node[step]
        except (AttributeError, KeyError, IndexError, TypeError):
            break
    return line + 1, column + 1


def _first_line(problem: Any) -> str:
    lines = str(problem).splitlines()
    return lines[0][:300] if lines else type(problem).__name__


def _library() -> Any:
    """The YAML library, with bounds that hold before it makes anything of what it has read."""
    from ruamel.yaml import YAML
    from ruamel.yaml.constructor import RoundTripConstructor
    from ruamel.yaml.scanner import RoundTripScanner

    class Scanner(RoundTripScanner):
        """Bounds the depth: the time to read brackets grows with the square of that."""

        def fetch_flow_collection_start(self, *args: Any, **more: Any) -> Any:
            self.check_depth()
            return super().fetch_flow_collection_start(*args, **more)

        def add_indent(self, column: int) -> bool:
            self.check_depth()
            return super().add_indent(column)

        def check_depth(self) -> None:
            mark = self.reader.get_mark()
            limits.check("scene_depth", int(self.flow_level) + len(self.indents), f"line {mark.line + 1}")

    class Constructor(RoundTripConstructor):
        """Bounds the values, aliases written out: a message that shows one would write them out."""

        def construct_document(self, node: Any) -> Any:
            _check_size(node)
            return super().construct_document(node)

    yaml = YAML(typ="rt")
    yaml.Scanner, yaml.Constructor = Scanner, Constructor
    return yaml


def _check_size(root: Any) -> None:
    """Refuse a graph of nodes that would be too large as a tree, or that contains itself."""
    done: dict[int, int] = {}
    under_way: set[int] = set()

    def size(node: Any) -> int:
        if id(node) in under_way:
            raise TautError(f"line {node.start_mark.line + 1}: an anchor contains itself; write it out.")
        if id(node) not in done:
            under_way.add(id(node))
            held = 1
            for item in node.value if isinstance(node.value, list) else ():
                held += size(item[0]) + size(item[1]) if isinstance(item, tuple) else size(item)
            limits.check("scene_values", held, f"what begins in line {node.start_mark.line + 1}, aliases written out,")
            under_way.discard(id(node))
            done[id(node)] = held
        return done[id(node)]

    size(root)


def plain_data(node: Any, path: Path) -> Any:
    """The tree without the YAML library's own types. What an anchor shares stays shared."""
    done: dict[int, Any] = {}

    def plain(node: Any) -> Any:
        if isinstance(node, bool) or node is None:
            return node
        if isinstance(node, float):
            return float(node)
        if isinstance(node, int):  # the library's true and false are whole numbers too
            return bool(node) if type(node).__name__ == "ScalarBoolean" else int(node)
        if isinstance(node, str):
            return str(node)
        if id(node) not in done:
            if isinstance(node, dict):
                done[id(node)] = {_key(key, node, path): plain(value) for key, value in node.items()}
            elif isinstance(node, list):
                done[id(node)] = [plain(item) for item in node]
            else:
                done[id(node)] = _scalar(node)
        return done[id(node)]

    return plain(node)


def _line(node: Any) -> int:
    return int(getattr(getattr(node, "lc", None), "line", 0) or 0) + 1


def _key(key: Any, node: Any, path: Path) -> str:
    if isinstance(key, str | int | float | date) or key is None:
        return str(key) if not isinstance(key, int) else shown(key)
    raise TautError(f"{path}:{_line(node)}: a key is {shown(str(key))}, a list or keys itself; write a word.")


def _scalar(node: Any) -> str:
    """What YAML knows and taut does not, such as a date or a tag, as its text."""
    value = getattr(node, "value", node)
    return value if isinstance(value, str) else str(value)[:1000]
