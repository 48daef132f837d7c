"""How a package declares the tunable numbers of its solvers, and how a run takes others than the defaults.

    @structure
    class StepSettings(NamedTuple):
        max_corrections: Annotated[int, count("corrections of Φ after a step")] = 30

    @structure
    class Settings(NamedTuple):
        steps: StepSettings = StepSettings()

    DECLARED = Declared("contact", Settings())

A setting is a number that trades speed, accuracy or robustness against each other. It stands in a group (`steps`), a
structure that compiled code reads by reference, with its meaning and its range; `changed` gives it another value for
the runs that begin inside. `taut list settings` prints all of them, run.info["settings"] has those that differ from the
defaults, by `package.name`, and a stored run that is resumed takes the settings it began with (`taken`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from typing import Any, Generic, NamedTuple, TypeVar, get_type_hints

from .errors import TautError, shown, unknown


class Meaning(NamedTuple):
    least: float
    most: float
    text: str


def count(text: str, least: int = 1, most: int = 10_000) -> Meaning:
    """The meaning of a whole number."""
    return Meaning(least, most, text)


def size(text: str, least: float = 0.0, most: float = 1e15) -> Meaning:
    """The meaning of any other number; units stand in brackets."""
    return Meaning(least, most, text)


All = TypeVar("All", bound=Any)


class Declared(Generic[All]):
    """The settings of one package: a NamedTuple of groups, each a NamedTuple of numbers with a `Meaning` each."""

    def __init__(self, package: str, defaults: All) -> None:
        self.package, self.defaults = package, defaults
        self.meanings: dict[str, Meaning] = {}
        self.group_of: dict[str, str] = {}
        for field, group in defaults._asdict().items():
            for name, hint in get_type_hints(type(group), include_extras=True).items():
                if name in self.meanings:
                    raise TypeError(f"two settings of {package} have the name '{name}'")
                self.meanings[name], self.group_of[name] = hint.__metadata__[0], field
        self._current: ContextVar[All] = ContextVar(f"settings of {package}")
        PACKAGES[package] = self

    def current(self) -> All:
        """The settings that a run takes which begins now."""
        return self._current.get(self.defaults)

    @contextmanager
    def changed(self, **values: float) -> Iterator[All]:
        """Runs that begin inside have these values."""
        with self._set(self._with(self.current(), values)) as found:
            yield found

    @contextmanager
    def taken(self, values: Mapping[str, Any]) -> Iterator[All]:
        """Inside, the defaults but for these values are the current settings."""
        with self._set(self._with(self.defaults, values)) as found:
            yield found

    def differing(self) -> dict[str, float]:
        """The current settings that are not the defaults, by name."""
        now = self.current()
        if now is self.defaults:
            return {}
        return {name: self.value(now, name) for name in self.meanings
                if self.value(now, name) != self.value(self.defaults, name)}

    def value(self, settings: All, name: str) -> Any:
        """The setting of that name, whichever group it stands in."""
        return getattr(getattr(settings, self.group_of[name]), name)

    @contextmanager
    def _set(self, settings: All) -> Iterator[All]:
        token = self._current.set(settings)
        try:
            yield settings
        finally:
            self._current.reset(token)

    def _with(self, settings: All, values: Mapping[str, Any]) -> All:
        for name, value in values.items():
            if name not in self.meanings:
                raise unknown(f"setting of {self.package}", name, self.meanings)
            found = self._checked(name, value)
            field = self.group_of[name]
            settings = settings._replace(**{field: getattr(settings, field)._replace(**{name: found})})
        return settings

    def _checked(self, name: str, value: Any) -> float:
        meaning = self.meanings[name]
        whole = isinstance(self.value(self.defaults, name), int)
        kinds = (int,) if whole else (int, float)
        if isinstance(value, bool) or not isinstance(value, kinds) or not meaning.least <= value <= meaning.most:
            kind = "a whole number" if whole else "a number"
            raise TautError(f"setting '{name}' ({meaning.text}) is {shown(value)}; give {kind} from "
                            f"{meaning.least:g} to {meaning.most:g}.")
        return value if whole else float(value)


PACKAGES: dict[str, Declared] = {}  # those that have been imported, by name


def differing() -> dict[str, float]:
    """The current settings of all packages that are not the defaults, by `package.name`."""
    return {f"{package}.{name}": value for package, own in PACKAGES.items() for name, value in own.differing().items()}


@contextmanager
def taken(values: Mapping[str, Any]) -> Iterator[None]:
    """Inside, the defaults of all packages but for these values, by `package.name`, are the current settings."""
    own: dict[str, dict[str, Any]] = {package: {} for package in PACKAGES}
    for name, value in values.items():
        package, _, word = str(name).partition(".")
        if package not in own:
            raise unknown("package of settings", package, PACKAGES)
        own[package][word] = value
    with ExitStack() as stack:
        for package, chosen in own.items():
            stack.enter_context(PACKAGES[package].taken(chosen))
        yield
