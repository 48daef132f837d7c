"""Hong 2008, Fig 1: the 2-link arm falls from the horizontal, held by the second-order method; rods of 10 m, h = 0.01.

The moments are not given: the first 5 s.
"""

from __future__ import annotations

from ...scene.gallery.chains import two_link
from .base import HONG2008
from .common import case
from .snapshots import Arm, falling

FIGURE = falling("hong2008-fig1", HONG2008, "5, Fig 1", Arm("2-link arm", 2, two_link, case("implicit_second")))
