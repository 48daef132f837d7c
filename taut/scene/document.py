"""A YAML file as a tree with line marks, and as plain data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ..errors import TautError


def parse(path: Path) -> Any:
    """The tree of a YAML file, in which the library has marked lines and columns."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise TautError(f"there is no scene file '{path}'; check the path.") from None
    except (OSError, UnicodeDecodeError) as problem:
        raise TautError(f"'{path}' can not be read as a scene file: {problem}.") from None
    try:
        tree = YAML(typ="rt").load(text)
    except MarkedYAMLError as problem:
        mark = problem.problem_mark or problem.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        reason = str(problem.problem or problem.context).splitlines()[0]
        raise TautError(f"{place}: this is not YAML: {reason}.") from None
    except (YAMLError, ValueError, RecursionError) as problem:
        raise TautError(f"{path}: this is not YAML: {str(problem).splitlines()[0]}.") from None
    if tree is None:
        raise TautError(f"{path} is empty; a scene file begins with 'taut: 1'.")
    if not isinstance(tree, dict):
        held = "list" if isinstance(tree, list) else "single value"
        raise TautError(f"{path} holds a {held}; a scene file holds keys, beginning with 'taut: 1'.")
    return tree


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
                done[id(node)] = {str(key): plain(value) for key, value in node.items()}
            elif isinstance(node, list):
                done[id(node)] = [plain(item) for item in node]
            else:
                done[id(node)] = str(node)
        return done[id(node)]

    try:
        return plain(node)
    except RecursionError:
        raise TautError(f"{path}: an anchor contains itself, or lists are nested too deeply.") from None
