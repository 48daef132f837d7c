"""The decorators of compiled/ under their old names."""

from .compiled import compiled as part
from .compiled import entry as kernel
from .compiled import inline as word
from .compiled import specialise

__all__ = ["kernel", "part", "specialise", "word"]
