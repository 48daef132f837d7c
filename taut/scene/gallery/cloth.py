"""Sheets and solids of nodes and springs: hung, hit, draped, folded, blown and dropped.

Every scene takes its resolution n. A method that treats cloth steps its springs as finely as they need, so the
suggested step is the same at every resolution.
"""

from __future__ import annotations

from typing import Any

from ...errors import TautError, shown
from .. import checks
from ..scene import Scene
from .common import count, real, size

STEP = 1 / 240  # [s]
MEETING = 0.65  # when a sheet of 2 m, held at one side and let go, hangs down [s]


def _limit(value: Any) -> float | None:
    return None if value is None else checks.not_negative(value, "parameter limit")


def _flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise TautError(f"parameter {name} is {shown(value)}; give true or false.")
    return value


def _thickness(side: float, n: int) -> float:
    """One centimetre, or less where n nodes along a side [m] are near each other."""
    return min(0.01, 0.3 * side / (n - 1))


def cloth_hang(n: int = 30, hard: bool = True) -> Scene:
    """A sheet released flat, held at two corners; its warp and weft keep their length.

    n     nodes along each side
    hard  whether warp and weft are equalities; else they are springs with a limit of ten percent
    """
    n = count("n", n, 3)
    scene = Scene(name="cloth_hang")
    edges = {"hard": "warp_weft", "limit": None} if _flag("hard", hard) else {"limit": 0.1}
    scene.cloth(grid=(n, n), density=0.2, stiffness=50, shear=5, bending=0.05, damping=1e-3, pins=[0, n - 1], **edges)
    scene.suggest(dt=STEP, duration=2.0, method="implicit_first")
    return scene


def cloth_ball(
    n: int = 30, limit: float | None = 0.1, mass: float = 5.0, speed: float = 5.0, corners: int = 4,
    stiffness: float = 50.0, limit_rule: str = "exact", system: str | None = None,
) -> Scene:
    """A sheet released flat, hung by its corners, and a heavy ball that flies into its middle.

    n           nodes along each side
    limit       largest elongation of the sheet, 0.1 for ten percent; none: springs alone
    mass        of the ball [kg]; the sheet weighs 0.8 kg
    speed       of the ball at the start, downward, or across where two corners are held [m/s]
    corners     that are held: four, or the two of one side, from which the sheet swings down into the ball's way
    stiffness   of structural springs [N/m]
    limit_rule  "exact" or "paper"
    system      "nodes", the papers' own "active", or "auto"
    """
    n, mass, speed = count("n", n, 3), size("mass", mass), real("speed", speed)
    if corners not in (2, 4):
        raise TautError(f"parameter corners is {shown(corners)}; choose 2 or 4.")
    scene = Scene(name="cloth_ball")
    pins = [0, n - 1, n * (n - 1), n * n - 1][:corners]
    sheet = scene.cloth(grid=(n, n), size=(2, 2), origin=(-1, 0, -1), density=0.2,
                        stiffness=size("stiffness", stiffness), damping=1e-3, limit=_limit(limit),
                        limit_rule=limit_rule, system=system, thickness=_thickness(2, n), pins=pins)  # fmt: skip
    start, velocity = (0.0, 1.0, 0.0), (0.0, -speed, 0.0)
    if corners == 2:
        start, velocity = (0.0, 0.0, -0.75 - MEETING * speed), (0.0, 1.3, speed)
    ball = scene.particle(start, mass=mass, velocity=velocity, radius=0.3, name="ball")
    scene.contacts([ball], sheet, name="ball on sheet")
    scene.suggest(dt=STEP, duration=2.0, method="implicit_first")
    return scene


def cloth_posts(
    n: int = 30, balls: int = 3, speed: float = 10.0, mass: float = 3.0, limit: float | None = 0.1,
    stiffness: float = 50.0,
) -> Scene:
    """A sheet between two posts, hit by heavy balls one after the other.

    n          nodes along each side
    balls      how many
    speed      of the balls at the start [m/s]
    mass       of each ball [kg]; the sheet weighs 0.8 kg
    limit      largest elongation of the sheet, 0.1 for ten percent; none: springs alone
    stiffness  of structural springs [N/m]
    """
    n, balls = count("n", n, 3), count("balls", balls)
    speed, mass = real("speed", speed), size("mass", mass)
    post, gap, radius, thickness = 0.08, 1e-3, 0.2, _thickness(2, n)
    scene = Scene(name="cloth_posts")
    corners = [0, n - 1, n * (n - 1), n * n - 1]
    sheet = scene.cloth(grid=(n, n), size=(2, 2), origin=(-1, 0, 0), u=(1, 0, 0), v=(0, 1, 0), density=0.2,
                        stiffness=size("stiffness", stiffness), damping=1e-3, limit=_limit(limit),
                        thickness=thickness, pins=corners, self_contact=True)  # fmt: skip
    away = 1 + post + thickness / 2 + gap  # the sheet just clears the posts
    posts = [
        scene.obstacle("outside_capsule", start=(x, -0.5, 0), end=(x, 2.5, 0), radius=post, name=name)
        for x, name in ((-away, "left post"), (away, "right post"))
    ]
    thrown = [
        scene.particle((0.4 * ((i % 3) - 1), 1.0, -1.0 - 3 * radius * i), mass=mass, velocity=(0, 0, speed),
                       radius=radius, name=f"ball_{i}")
        for i in range(balls)
    ]  # fmt: skip
    scene.contacts(thrown, sheet, name="balls on sheet")
    scene.contacts(sheet, posts, name="sheet on posts")
    scene.contacts(thrown, posts, name="balls on posts")
    if balls > 1:
        scene.contacts(thrown, name="balls")
    scene.suggest(dt=STEP, duration=1.5, method="implicit_first")
    return scene


def cloth_drape(n: int = 30, over: str = "sphere", friction: float = 0.3) -> Scene:
    """A sheet that falls over a thing and drapes it.

    n         nodes along each side
    over      "sphere" or "table"
    friction  Coulomb's coefficient between them
    """
    n = count("n", n, 3)
    scene = Scene(name="cloth_drape")
    if over == "sphere":
        thing = scene.obstacle("outside_sphere", center=(0, 0, 0), radius=0.3, name="sphere")
    elif over == "table":
        thing = scene.obstacle("outside_box", center=(0, 0.2, 0), half=(0.35, 0.1, 0.35), name="table")
    else:
        raise TautError(f"parameter over is {shown(over)}; choose 'sphere' or 'table'.")
    sheet = scene.cloth(grid=(n, n), size=(1.2, 1.2), origin=(-0.6, 0.35, -0.6), density=0.2, stiffness=50,
                        damping=1e-3, thickness=_thickness(1.2, n), self_contact=True)  # fmt: skip
    scene.contacts(sheet, [thing], friction=checks.not_negative(friction, "parameter friction"), name="drape")
    scene.suggest(dt=STEP, duration=2.0, method="implicit_first")
    return scene


def cloth_fold(n: int = 30, friction: float = 0.3) -> Scene:
    """A sheet that falls edge first on the floor and folds onto itself in layers.

    n         nodes along each side
    friction  Coulomb's coefficient with the floor
    """
    n = count("n", n, 3)
    scene = Scene(name="cloth_fold")
    # Leaning a little: an upright sheet would stand on its edge.
    sheet = scene.cloth(grid=(n, n), origin=(-0.5, 0.05, 0), u=(1, 0, 0), v=(0, 1, 0.15), density=0.2, stiffness=50,
                        damping=1e-3, thickness=_thickness(1, n), self_contact=True)  # fmt: skip
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(sheet, [floor], friction=checks.not_negative(friction, "parameter friction"), name="on floor")
    scene.suggest(dt=STEP, duration=2.0, method="implicit_first")
    return scene


def flag_wind(n: int = 20, speed: float = 6.0) -> Scene:
    """A flag on its pole in a gusty wind.

    n      nodes along the pole; the flag is one and a half times as long as it is high
    speed  of the wind [m/s]
    """
    n, speed = count("n", n, 3), real("speed", speed)
    along = (3 * n) // 2
    scene = Scene(name="flag_wind")
    gusts = (f"{speed} * (1 + 0.3*sin(3*t))", 0, f"{0.3 * speed} * sin(2*t + 0.5)")
    scene.cloth(grid=(along, n), size=(1.5, 1), u=(1, 0, 0), v=(0, 1, 0), density=0.15, stiffness=50, damping=1e-3,
                wind=gusts, pins=[along * j for j in range(n)], name="flag")  # fmt: skip
    scene.suggest(dt=STEP, duration=4.0, method="implicit_first")
    return scene


def jelly_block(n: int = 4, height: float = 0.3, limit: float | None = None) -> Scene:
    """A soft block dropped on the floor.

    n       nodes along each edge
    height  from which it drops [m]
    limit   largest elongation of its springs, 0.1 for ten percent; none: springs alone
    """
    n, height = count("n", n, 2), size("height", height)
    scene = Scene(name="jelly_block")
    # The stiffness of a block of springs falls with the area that each of them stands for.
    block = scene.solid(box=(n, n, n), size=(0.3, 0.3, 0.3), origin=(-0.15, height, -0.15), density=1000,
                        stiffness=6000 / (n - 1), damping=20 / (n - 1), limit=_limit(limit), name="jelly")  # fmt: skip
    floor = scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
    scene.contacts(block, [floor], friction=0.3, name="on floor")
    scene.suggest(dt=STEP, duration=2.0, method="implicit_first")
    return scene
