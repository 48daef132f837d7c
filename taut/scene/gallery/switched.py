"""Scenes in which constraints are switched on the way."""

from __future__ import annotations

from ...errors import TautError
from ..scene import Scene
from .common import real, size

LENGTH = 1.0  # of the arm [m]
REACH = 0.05  # distance at which the hand closes [m]
GRAVITY = 9.81
PASSES = (1.0, 0.02)  # where the ball comes by, a little above the hand [m]


def catch_and_throw(catch: float = 0.4, throw: float = 1.1, speed: float = 3.0, swing: float = 1.8) -> Scene:
    """An arm catches a ball where its hand closes, and throws it: a joint that is switched on and off.

    catch  when the ball comes by the hand [s]
    throw  when the hand opens [s]
    speed  of the ball towards the hand [m/s]
    swing  of the arm for the throw [rad]
    """
    catch, throw, speed, swing = size("catch", catch), size("throw", throw), size("speed", speed), real("swing", swing)
    if throw <= catch:
        raise TautError(f"parameter throw is {throw:g} s, but the ball is caught at {catch:g} s; throw it later.")
    scene = Scene(name="catch_and_throw")
    arm = scene.rigid((0.5 * LENGTH, 0, 0), shape={"box": (LENGTH, 0.06, 0.06)}, density=500, name="arm")
    shoulder = scene.hinge(arm.at((-0.5 * LENGTH, 0, 0)), (0, 0, 0), axis=(0, 0, 1), name="shoulder")
    held = throw - catch
    times = [catch + 0.4 * held, throw, throw + 0.6 * held]
    scene.drive(shoulder, angle={"times": times, "values": [0.0, 0.5 * swing, swing]}, name="drive")
    rise = 0.5 * GRAVITY * catch - 0.5 * speed
    start = PASSES[0] + speed * catch, PASSES[1] - rise * catch + 0.5 * GRAVITY * catch**2, 0.0
    ball = scene.particle(start, velocity=(-speed, rise, 0), mass=0.5, radius=0.04, name="ball")
    scene.ball(
        arm.at((0.5 * LENGTH, 0, 0)), ball, when=f"(ball.x - {LENGTH})**2 + ball.y**2 < {REACH**2}", until=throw,
        ease=0.2 * held, name="hand",
    )  # fmt: skip
    scene.suggest(dt=0.005, duration=throw + 0.9)
    return scene
