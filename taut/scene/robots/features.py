"""What a robot's file says that a scene does not hold: the list that users get, with file and line.

A file is walked element by element and held against tables of what is taken over (urdf_features.py, mjcf_features.py).
Whatever else stands in it is listed, so that a feature of which nobody thought is listed as well.
"""

from __future__ import annotations

from collections.abc import Iterable

from .xml import Element

MOST_LINES = 4


class Dropped:
    """What of a file is not taken over, in the order in which it was found, and where it stands."""

    def __init__(self, root: Element) -> None:
        self.root = root
        self.dropped: dict[str, list[Element]] = {}

    def drop(self, what: str, element: Element | None) -> None:
        self.dropped.setdefault(what, []).extend([element] if element is not None else [])

    def drop_attributes(self, element: Element, read: Iterable[str]) -> None:
        """All attributes but those that are read."""
        for name, value in element.attributes.items():
            if name not in read and not self.says_nothing(element, name, value):
                self.drop(self.attribute(element, name), element)

    def attribute(self, element: Element, name: str) -> str:
        """An attribute that is not read, in words."""
        return f"{name} of <{element.tag}>"

    def says_nothing(self, element: Element, name: str, value: str) -> bool:
        """Whether an attribute that is not read has a value without an effect."""
        return False

    def texts(self) -> list[str]:
        """What is dropped, in words."""
        return [f"{what}{self._where(elements)}" for what, elements in self.dropped.items()]

    def _where(self, elements: list[Element]) -> str:
        if not elements:
            return ""
        places = list(dict.fromkeys(
            f"line {one.line}" if one.path == self.root.path else f"{one.path.name}:{one.line}" for one in elements))
        more = f" and {len(places) - MOST_LINES} more" if len(places) > MOST_LINES else ""
        return f" ({', '.join(places[:MOST_LINES])}{more})"
