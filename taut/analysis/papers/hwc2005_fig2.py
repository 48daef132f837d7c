"""Hong, Welch and Choi 2005, Fig 2: a 5-link arm falls from the horizontal, held by the improved scheme.

The moments and the length are not given: rods of 10 m, h = 0.01, the first 5 s.
"""

from __future__ import annotations

from ...scene.gallery.chains import five_link
from .base import HWC2005
from .common import case
from .snapshots import Arm, falling

FIGURE = falling("hwc2005-fig2", HWC2005, "4, Fig 2", Arm("5-link arm", 5, five_link, case("implicit_improved")))
