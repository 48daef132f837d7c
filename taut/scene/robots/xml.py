"""XML elements that know the line they stand on. A DOCTYPE is refused: its entities can grow without bound."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from ... import limits
from ...errors import TautError


@dataclass
class Element:
    """An element, its attributes and its children."""

    path: Path
    line: int
    tag: str
    attributes: dict[str, str]
    children: list[Element] = field(default_factory=list)

    @property
    def where(self) -> str:
        return f"{self.path}:{self.line}"

    def all(self, tag: str) -> list[Element]:
        return [child for child in self.children if child.tag == tag]

    def one(self, tag: str) -> Element | None:
        found = self.all(tag)
        if len(found) > 1:
            raise TautError(f"{found[1].where}: <{self.tag}> has a second <{tag}>; keep one.")
        return found[0] if found else None

    def using_file(self, name: str) -> Element | None:
        """The first element inside that names a file so called."""
        return next((one for one in self.everything() if Path(one.attributes.get("file", "")).name == name), None)

    def called(self, name: str) -> Element | None:
        """The only element inside of that name."""
        found = [one for one in self.everything() if one.attributes.get("name") == name]
        return found[0] if len(found) == 1 else None

    def everything(self) -> Iterator[Element]:
        """It and all elements inside, in the order of the file."""
        yield self
        for child in self.children:
            yield from child.everything()

    def text(self, name: str, default: str | None = None) -> str:
        value = self.attributes.get(name, default)
        if value is None or not value.strip():
            raise TautError(f"{self.where}: <{self.tag}> has no {name}; give it.")
        return value.strip()

    def numbers(self, name: str, count: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        if name not in self.attributes and default is not None:
            return default
        words = self.text(name).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        if len(values) != count or not all(abs(value) < 1e150 for value in values):
            raise TautError(f"{self.where}: {name} of <{self.tag}> is '{self.attributes[name]}'; give {count} "
                            f"number{'s' if count > 1 else ''}.")
        return values

    def number(self, name: str, default: float | None = None) -> float:
        return self.numbers(name, 1, None if default is None else (default,))[0]


def read(path: Path) -> Element:
    """The root of an XML file."""
    limits.check("scene_bytes", limits.regular_size(path, "robot file"), f"robot file '{path}'")
    parser = expat.ParserCreate()
    stack: list[Element] = []
    roots: list[Element] = []

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(path, parser.CurrentLineNumber, tag, attributes)
        if len(stack) > 200:
            raise TautError(f"{element.where}: elements are nested more than 200 deep.")
        (stack[-1].children if stack else roots).append(element)
        stack.append(element)

    def refuse(*_: object) -> None:
        raise TautError(f"{path}:{parser.CurrentLineNumber}: it has a DOCTYPE, which is not read; remove it.")

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: stack.pop()
    parser.StartDoctypeDeclHandler = refuse
    try:
        parser.Parse(path.read_bytes(), True)
    except expat.ExpatError as mistake:
        raise TautError(f"{path}:{mistake.lineno}: it is no XML: {expat.errors.messages[mistake.code]}.") from None
    except OSError as mistake:
        raise TautError(f"'{path}' can not be read: {mistake.strerror}.") from None
    return roots[0]
