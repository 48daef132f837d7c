"""Types of parameters that commands share."""

from __future__ import annotations

from typing import Annotated

from cyclopts import Parameter

Flag = Annotated[bool, Parameter(negative="")]  # off, unless it is given
Words = Annotated[list[str], Parameter(negative="", consume_multiple=False)]  # may be repeated
