"""Robots of the gallery, from their files."""

from __future__ import annotations

from pathlib import Path

from ..robots.urdf import read_urdf
from ..scene import Scene


def robot_arm_6dof(limits: bool = False) -> Scene:
    """An industrial arm with six axes, from a URDF file, that falls from its upright pose and swings.

    limits  whether its joints keep their limits
    """
    scene = read_urdf(Path(__file__).with_name("robot_arm_6dof.urdf"), limits=limits).scene
    # A little torque starts what would stand upright for ever.
    scene.motor("shoulder", torque="20*exp(-4*t)", name="shoulder_motor")
    scene.motor("waist", torque="3*sin(2*t)", name="waist_motor")
    scene.suggest(dt=0.002, duration=5.0, method="implicit_first" if limits else "rattle")
    return scene
