"""Types of parameters that commands share, and groups of parameters, each with its help written once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from ..scene.scene import Scene

Flag = Annotated[bool, Parameter(negative="")]  # off, unless it is given
Whole = Annotated[int, Parameter(converter=lambda _, tokens: _whole(tokens[0].value))]  # never rounded
Words = Annotated[list[str], Parameter(negative="", consume_multiple=False)]  # may be repeated
SceneName = Annotated[str, Parameter(help="A gallery name, a .yaml, .urdf or .xml file, or a .py file with build(). A "
                                     ".py file is executed, with all that you may do yourself; everything else is only "
                                     "read.")]  # fmt: skip


def _whole(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f'"{text}" is not a whole number') from None


@Parameter(name="*")
@dataclass(frozen=True)
class Opening:
    """How a scene is opened.

    Parameters
    ----------
    set
        NAME=VALUE, a parameter of the scene; may be repeated.
    allow_outside
        Let a .yaml file name meshes and arrays outside of its folder.
    """

    set: Words | None = None
    allow_outside: Flag = False

    @property
    def parameters(self) -> dict[str, Any]:
        from ..scene.parameters import parse_parameters

        return parse_parameters(self.set or ())

    def open(self, name: str) -> Scene:
        from ..scene.open import open_scene

        return open_scene(name, self.allow_outside, **self.parameters)


AS_IT_IS = Opening()
