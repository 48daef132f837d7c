"""Point masses joined by rods, one after the other."""

from __future__ import annotations

from math import cos, pi, sin

from ...errors import TautError
from ..scene import Scene
from .common import count, hanging, real, size

# Formulas for reduced coordinates grow with the square of the number of links.
_REDUCED_UP_TO = 10

GOAL_TIMES = (0.0, 1.0, 2.0, 3.0)  # s
GOALS = ((1.0, -1.0), (-0.5, -1.2), (-1.2, 0.4), (1.0, -1.0))  # of the hand, in lengths of a rod


def chain(
    n: int = 10,
    length: float = 1.0,
    angle: float = pi / 2,
    mass: float = 1.0,
    tip_mass: float | None = None,
    span: float | None = None,
    drag: float = 0.0,
) -> Scene:
    """A chain of n rods with a point mass at each joint, hanging from the origin, or between two pins.

    n         number of rods
    length    of each rod [m]
    angle     of all rods from the downward vertical towards +x [rad]
    mass      of each point [kg]
    tip_mass  of the last one [kg]; default: as the others
    span      pin the other end at (span, 0, 0) [m]; the rods then start as chords of a hanging arc
    drag      force per speed on all masses [N s/m], to let it settle
    """
    n, length = count("n", n, least=1 if span is None else 2), size("length", length)
    angle, drag = real("angle", angle), real("drag", drag)
    if span is None:
        x, y, z = hanging(angle, length)
        places = [(i * x, i * y, i * z) for i in range(n + 1)]
    else:
        places = _arc(n, length, size("span", span))
    scene = Scene(name="chain")
    last = scene.particle(places[0], fixed=True, name="anchor")
    for i in range(1, n + 1):
        if span is not None and i == n:
            node = scene.particle(places[i], fixed=True, name="end")
        else:
            here = mass if tip_mass is None or i < n else tip_mass
            node = scene.particle(places[i], mass=here, name=f"node_{i}")
        scene.distance(last, node, length=length, name=f"link_{i}")
        last = node
    if drag:
        scene.drag(coefficient=drag, name="drag")
    if span is None and n <= _REDUCED_UP_TO:
        _reduce(scene, n, length, angle)
    scene.suggest(dt=0.01, duration=10.0)
    return scene


def _arc(n: int, length: float, span: float) -> list[tuple[float, float, float]]:
    """Joints of n equal chords of a circle between (0, 0) and (span, 0).

    Each rod is turned against the last by α, such that Σ length cos((k - (n-1)/2) α) = span.
    """
    if span >= n * length:
        raise TautError(f"parameter span is {span:g} m, but {n} rods of {length:g} m reach only "
                        f"{n * length:g} m; choose a smaller span.")
    low, high = 0.0, 2.0 * pi / n  # straight, and a closed polygon
    for _ in range(200):
        turn = 0.5 * (low + high)
        reach = sum(length * cos((k - 0.5 * (n - 1)) * turn) for k in range(n))
        low, high = (turn, high) if reach > span else (low, turn)
    x = y = 0.0
    places = [(0.0, 0.0, 0.0)]
    for k in range(n - 1):
        direction = (k - 0.5 * (n - 1)) * turn
        x, y = x + length * cos(direction), y + length * sin(direction)
        places.append((x, y, 0.0))
    return [*places, (span, 0.0, 0.0)]


def _reduce(scene: Scene, n: int, length: float, angle: float) -> None:
    """The angle of every rod as a reduced coordinate."""
    names = [f"q{i}" for i in range(1, n + 1)]
    positions = {}
    for i in range(1, n + 1):
        across = " + ".join(f"sin({name})" for name in names[:i])
        down = " + ".join(f"cos({name})" for name in names[:i])
        positions[list(scene.bodies)[i]] = (f"{length!r}*({across})", f"-{length!r}*({down})", "0")
    scene.reduced(dict.fromkeys(names, angle), positions)


def two_link(length: float = 10.0, mass: float = 1.0) -> Scene:
    """Two rods in a row, released from the horizontal: the double pendulum.

    length  of each rod [m]
    mass    of each point [kg]
    """
    length = size("length", length)
    scene = Scene(name="two_link")
    anchor = scene.particle((0, 0, 0), fixed=True, name="anchor")
    middle = scene.particle((length, 0, 0), mass=mass, name="middle")
    tip = scene.particle((2 * length, 0, 0), mass=mass, name="tip")
    scene.distance(anchor, middle, length=length, name="upper")
    scene.distance(middle, tip, length=length, name="lower")
    _reduce(scene, 2, length, pi / 2)
    scene.suggest(dt=0.01, duration=20.0)
    return scene


def goal_keyframes(length: float = 1.0, mass: float = 1.0) -> Scene:
    """Two rods whose end is to be at given places at given times: a goal as a constraint, with the force that it takes.

    length  of each rod [m]
    mass    of each point [kg]
    """
    length = size("length", length)
    scene = Scene(name="goal_keyframes")
    anchor = scene.particle((0, 0, 0), fixed=True, name="anchor")
    elbow = scene.particle((length, 0, 0), mass=mass, name="elbow")
    hand = scene.particle((length, -length, 0), mass=mass, name="hand")
    scene.distance(anchor, elbow, length=length, name="upper")
    scene.distance(elbow, hand, length=length, name="lower")
    places = [(length * x, length * y, 0.0) for x, y in GOALS]
    scene.fixed_point(hand, place={"times": list(GOAL_TIMES), "values": places}, name="goal")
    scene.suggest(dt=0.01, duration=GOAL_TIMES[-1])
    return scene


def five_link(length: float = 10.0, tip_mass: float = 1.0) -> Scene:
    """Five rods in a row, released from the horizontal; the last mass may be heavy.

    length    of each rod [m]
    tip_mass  of the last point [kg]; the others have 1 kg
    """
    scene = chain(n=5, length=length, tip_mass=tip_mass)
    scene.name = "five_link"
    scene.suggest(dt=0.01, duration=20.0)
    return scene


def ten_link_sawtooth(length: float = 1.0, tooth: float = pi / 4) -> Scene:
    """Ten rods as the teeth of a saw, fixed at both ends.

    length  of each rod [m]
    tooth   slope of the rods, down and up in turn [rad], between 0 and π/2
    """
    length, tooth = size("length", length), real("tooth", tooth)
    if not 0.0 < tooth < pi / 2:
        raise TautError(f"parameter tooth is {tooth:g} rad; choose a slope between 0 and π/2.")
    scene = Scene(name="ten_link_sawtooth")
    last = scene.particle((0, 0, 0), fixed=True, name="anchor")
    for i in range(1, 11):
        place = (i * length * cos(tooth), -length * sin(tooth) if i % 2 else 0.0, 0.0)
        node = scene.particle(place, fixed=i == 10, name="end" if i == 10 else f"node_{i}")
        scene.distance(last, node, length=length, name=f"link_{i}")
        last = node
    scene.suggest(dt=0.001, duration=5.0)
    return scene


def inconsistent_start(length: float = 10.0, stretch: float = 0.1, rate: float = 0.5) -> Scene:
    """The two links, started with rods too long and growing: Φ = stretch and its rate = rate.

    length   of each rod [m]
    stretch  by which each rod is too long at the start [m]
    rate     at which each rod grows at the start [m/s]
    """
    length, stretch, rate = size("length", length), real("stretch", stretch), real("rate", rate)
    if stretch <= -length:
        raise TautError(f"parameter stretch is {stretch:g} m, more than the rods have; choose less.")
    scene = Scene(name="inconsistent_start")
    anchor = scene.particle((0, 0, 0), fixed=True, name="anchor")
    middle = scene.particle((length + stretch, 0, 0), velocity=(rate, 0, 0), name="middle")
    tip = scene.particle((2 * (length + stretch), 0, 0), velocity=(2 * rate, 0, 0), name="tip")
    scene.distance(anchor, middle, length=length, name="upper")
    scene.distance(middle, tip, length=length, name="lower")
    scene.suggest(dt=0.01, duration=20.0, start="as_given")
    return scene
