"""Words for tests of joints: an example of every joint, driver and relation, between bodies and the world."""

from __future__ import annotations


def weld(scene, p, q, r, s, box, rod, turn):
    scene.weld(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)))
    scene.weld(rod, (1, -1, 2), orientation=((0, 1, 1), 0.3))


def hinge(scene, p, q, r, s, box, rod, turn):
    scene.hinge(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2))
    scene.hinge(rod, (1, -1, 2), axis_a=(0, 0, 1), axis_b=(0, 1, 0))


def slider(scene, p, q, r, s, box, rod, turn):
    scene.slider(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2))
    scene.slider((0, 1, 0), rod, axis=(0, 0, 1))


def cylindrical(scene, p, q, r, s, box, rod, turn):
    scene.cylindrical(box, rod.at((0.5, 0, 0)), axis=(1, 2, 2))


def universal(scene, p, q, r, s, box, rod, turn):
    scene.universal(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2), axis_2=(2, 1, -2))


def planar_joint(scene, p, q, r, s, box, rod, turn):
    scene.planar_joint(box, rod.at((0.5, 0, 0)), axis=(1, 2, 2))


def point_on_line(scene, p, q, r, s, box, rod, turn):
    scene.point_on_line(p, rod.at((0.5, 0, 0)), axis=(1, 2, 2))
    scene.point_on_line(box.at((0.1, 0.2, 0.3)), (0, 1, 0), axis=(0, 0, 1))


def point_on_plane(scene, p, q, r, s, box, rod, turn):
    scene.point_on_plane(p, rod.at((0.5, 0, 0)), normal=(1, 2, 2))


def constant_angle(scene, p, q, r, s, box, rod, turn):
    scene.constant_angle(box, rod, direction=(1, 0, 0), direction_2=(0, 1, 0))
    scene.constant_angle(box, (0, 0, 0), direction=(1, 0, 0), direction_2=(1, 1, 0), angle=0.7)


def constant_velocity(scene, p, q, r, s, box, rod, turn):
    scene.constant_velocity(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis_a=(1, 0, 0), axis_b=(0, 1, 0))


def screw(scene, p, q, r, s, box, rod, turn):
    scene.screw(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2), pitch=0.3)


def drive(scene, p, q, r, s, box, rod, turn):
    pin = scene.cylindrical(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2))
    scene.drive(pin, angle="3*t + sin(2*t)")
    scene.drive(pin, displacement="0.3*t**2")


def couple(scene, p, q, r, s, box, rod, turn):
    first = scene.hinge(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2))
    second = scene.slider((0, 1, 0), rod, axis=(0, 0, 1))
    scene.couple(first, second, ratio=-2.0, offset=0.3)


def gear(scene, p, q, r, s, box, rod, turn):
    first = scene.hinge(box.at((0.1, 0.2, 0.3)), (0, 0, 0), axis=(1, 2, 2))
    second = scene.hinge(rod, (0, 1, 0), axis=(0, 0, 1))
    scene.gear(first, second, teeth=(17, 53))


def rack_and_pinion(scene, p, q, r, s, box, rod, turn):
    first = scene.hinge(box.at((0.1, 0.2, 0.3)), (0, 0, 0), axis=(1, 2, 2))
    second = scene.slider(rod, (0, 1, 0), axis=(0, 0, 1))
    scene.rack_and_pinion(first, second, radius=0.2)


def joint_limit(scene, p, q, r, s, box, rod, turn):
    pin = scene.hinge(box.at((0.1, 0.2, 0.3)), rod.at((0.5, 0, 0)), axis=(1, 2, 2), angle=0.2)
    scene.joint_limit(pin, lower=-0.5, upper=1.0)
    scene.joint_limit(pin, upper=1.0)


def skate(scene, p, q, r, s, box, rod, turn):
    scene.skate(box.at((0.1, 0.2, 0.3)), direction=(1, 0, 2))
    scene.skate(rod, direction=(1, 1, 0), normal=(0, 0, 1))


def rolling(scene, p, q, r, s, box, rod, turn):
    scene.rolling(box, rod.at((0.5, 0, 0)), normal=(1, 2, 2), radius=0.6, axis=(2, -1, 0.3))
    scene.rolling(box.at((0.1, 0.2, 0.3)), (0, 0, 1), radius=0.6, axis=(1, 0.5, 1), tube=0.2)
    scene.rolling(rod, box, normal=(1, 2, 2), radius=0.3)


JOINTS = [
    weld, hinge, slider, cylindrical, universal, planar_joint, point_on_line, point_on_plane, constant_angle,
    constant_velocity, screw, drive, couple, gear, rack_and_pinion, joint_limit, skate, rolling,
]  # fmt: skip
