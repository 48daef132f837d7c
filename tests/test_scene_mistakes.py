"""What a scene refuses, told with name, value and remedy."""

from __future__ import annotations

import numpy as np
import pytest
from words_scene import NAN, three

from taut.errors import TautError
from taut.scene import Scene


def pin(scene):
    return scene.hinge(scene.rigid((0, 0, 0), mass=1, inertia=(1, 1, 1)), (0, 0, 0), axis=(0, 0, 1), name="pin")


@pytest.mark.parametrize("words, mistake", [
    ("mass is 0; it must be greater", lambda s, a, b, c: s.particle((0, 0, 0), mass=0)),
    ("mass is nan", lambda s, a, b, c: s.particle((0, 0, 0), mass=NAN)),
    ("mass is 'heavy'; give a number", lambda s, a, b, c: s.particle((0, 0, 0), mass="heavy")),
    ("has 2 entries", lambda s, a, b, c: s.particle((0, 0))),
    ("has no position", lambda s, a, b, c: s.particle()),
    ("velocity is inf", lambda s, a, b, c: s.particle((0, 0, 0), velocity=(0, 0, float("inf")))),
    ("'b': the name is taken", lambda s, a, b, c: s.particle((0, 0, 0), name="b")),
    ("is fixed and has a path", lambda s, a, b, c: s.particle(path=(0, 0, 0), fixed=True)),
    ("its path starts with", lambda s, a, b, c: s.particle((1, 0, 0), path=("t", 0, 0))),
    ("but it is fixed", lambda s, a, b, c: s.particle((0, 0, 0), velocity=(1, 0, 0), fixed=True)),
    ("unknown symbol 'q'", lambda s, a, b, c: s.particle(path=("q", 0, 0))),
    ("no body has one above the sum", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=(1, 1, 3))),
    ("all must be positive", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=(1, 1, 0))),
    ("not symmetric", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, inertia=np.triu(np.ones((3, 3))))),
    ("has no inertia", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1)),
    ("Known: box, capsule, cylinder, mesh, rod, sphere", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, shape={"q": 1})),
    ("motor 'm': joint is 'b', a body; give a joint",
     lambda s, a, b, c: s.motor(b, torque=1, name="m")),
    ("gear 'g': it ties a coordinate to itself", lambda s, a, b, c: s.gear(*2 * [pin(s)], ratio=2, name="g")),
    ("Known: e, pi, pin.angle, pin.angle_rate, pin.rate, t.",
     lambda s, a, b, c: s.motor(pin(s), torque=1, when="pin.angel > 1")),
    ("Did you mean 'sphere'", lambda s, a, b, c: s.rigid((0, 0, 0), mass=1, shape={"spere": 1})),
    ("either a mass", lambda s, a, b, c: s.rigid((0, 0, 0), shape={"sphere": 1})),
    ("quaternion of length 0", lambda s, a, b, c: s.rigid((0, 0, 0), fixed=True, orientation=(0, 0, 0, 0))),
    ("Did you mean 'anchor'", lambda s, a, b, c: s.distance("ancor", b)),
    ("names 'b' twice", lambda s, a, b, c: s.distance(b, b)),
    ("names 'b' twice", lambda s, a, b, c: s.angle(b, c, b)),
    ("distance 'd' on 'b', the place (3.0, 0.0, 0.0): its two points coincide",
     lambda s, a, b, c: s.distance(b, (3, 0, 0), name="d")),
    ("length is -1", lambda s, a, b, c: s.distance(a, b, length=-1)),
    ("fixed 1 m apart and can not be 2 m", lambda s, a, b, c: s.distance(a, (0, 0, 1), length=2)),
    ("can not be 0 m apart", lambda s, a, b, c: s.ball(a, (0, 0, 1))),
    ("Did you mean 'length'", lambda s, a, b, c: s.distance(a, b, lenght=1)),
    ("has 3 points; it needs 2 (a, b)", lambda s, a, b, c: s.distance(a, b, c)),
    ("start parallel", lambda s, a, b, c: s.angle(a, b, (9, 0, 0))),
    ("has no center", lambda s, a, b, c: s.on_sphere(b)),
    ("has no places on it", lambda s, a, b, c: s.ball(b.at((1, 0, 0)), a)),
    ("it must be a scalar coordinate", lambda s, a, b, c: s.on_curve(b, c, curve=("s", "0", "0"))),
    ("it must be a particle", lambda s, a, b, c: s.distance(a, s.coordinate())),
    ("use force, whose first component", lambda s, a, b, c: s.torque(s.coordinate(), value=(0, 0, 1))),
    ("only a rigid body", lambda s, a, b, c: s.torque(b, value=(0, 0, 1))),
    ("Did you mean 'b.x'", lambda s, a, b, c: s.custom(b, formula="bb.x")),
    ("names no point", lambda s, a, b, c: s.linear(coefficients=(1,))),
    ("is not a point", lambda s, a, b, c: s.distance(a, 3)),
    ("unknown body in reduced", lambda s, a, b, c: s.reduced({"q": 0}, {"d": ("q", "0", "0")})),
    ("unknown symbol 'w'", lambda s, a, b, c: s.reduced({"q": 0}, {"b": ("w", "0", "0")})),
    ("dt is -1", lambda s, a, b, c: s.suggest(dt=-1)),
    ("sense is '>'; choose", lambda s, a, b, c: s.distance(a, b, sense=">")),
    ("restitution is 1.5; it must lie between 0 and 1",
     lambda s, a, b, c: s.distance(a, b, sense="<=", restitution=1.5)),
    ("friction is -1; it can not be negative", lambda s, a, b, c: s.distance(a, b, sense="<=", friction=-1)),
    ("restitution is 0.5, but it is an equality", lambda s, a, b, c: s.distance(a, b, restitution=0.5)),
    ("friction is 0.5, but it is an equality", lambda s, a, b, c: s.on_plane(b, normal=(0, 1, 0), friction=0.5)),
    ("half_space always means '>='",
     lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 1, 0), sense="<=")),
    ("use angle instead", lambda s, a, b, c: s.parallel(a, b, c, (0, 1, 1), sense=">=")),
    ("leave it out, or use one of", lambda s, a, b, c: s.linear(b, coefficients=(1, 0, 0), sense=">=", friction=1)),
    ("radius is -1; it can not be negative", lambda s, a, b, c: s.particle((0, 0, 0), radius=-1)),
    ("has no normal; give it", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0))),
    ("its normal has no direction", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 0, 0))),
    ("ball has the radius -1", lambda s, a, b, c: s.half_space(b, point=(0, 0, 0), normal=(0, 1, 0), ball=-1)),
    ("starts in the very middle", lambda s, a, b, c: s.outside_sphere(b, center=(3, 0, 0), radius=1)),
    ("starts in the very middle",
     lambda s, a, b, c: s.outside_cylinder(b, point=(3, 9, 0), direction=(0, 2, 0), radius=1)),
    ("starts in the very middle", lambda s, a, b, c: s.outside_capsule(b, start=(0, 0, 0), end=(4, 0, 0), radius=1)),
    ("give two different ends", lambda s, a, b, c: s.inside_capsule(b, start=(1, 0, 0), end=(1, 0, 0), radius=1)),
    ("its direction has no length",
     lambda s, a, b, c: s.inside_cylinder(b, point=(1, 0, 0), direction=(0, 0, 0), radius=1)),
    ("a radius must be positive", lambda s, a, b, c: s.inside_sphere(b, center=(0, 0, 0), radius=-2)),
    ("too small for a ball", lambda s, a, b, c: s.inside_sphere(b, center=(0, 0, 0), radius=1, ball=2)),
    ("too small for a ball", lambda s, a, b, c: s.inside_box(b, center=(0, 0, 0), half=(1, 3, 3), ball=2)),
    ("all must be positive", lambda s, a, b, c: s.outside_box(b, center=(0, 0, 0), half=(1, 0, 3))),
    ("both its points have no radius", lambda s, a, b, c: s.ball_contact(b, c)),
    ("its two balls have the same centre",
     lambda s, a, b, c: s.ball_contact(b, s.particle((3, 0, 0), radius=1))),
    ("it has no limit", lambda s, a, b, c: s.limit(b, component="x")),
    ("choose 'x', 'y' or 'z'", lambda s, a, b, c: s.limit(b, minimum=1)),
    ("a coordinate is one number", lambda s, a, b, c: s.limit(s.coordinate(), component="x", minimum=1)),
    ("minimum 2 is above its maximum 1", lambda s, a, b, c: s.limit(b, component="x", minimum=2, maximum=1)),
    ("the sign | stands between", lambda s, a, b, c: s.distance(a, b, name="a|b")),
    ("Did you mean 'half_space'", lambda s, a, b, c: s.obstacle("halfspace", point=(0, 0, 0))),
    ("obstacle 'w': its normal has no direction",
     lambda s, a, b, c: s.obstacle("half_space", point=(0, 0, 0), normal=(0, 0, 0), name="w")),
    ("the name is taken", lambda s, a, b, c: s.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="b")),
    ("'b' and 'c' have no radius, and two points never touch", lambda s, a, b, c: s.contacts([b, c])),
    ("first names 'b' twice", lambda s, a, b, c: s.contacts([b, "b"])),
    ("unknown body or obstacle 'flor'", lambda s, a, b, c: s.contacts(b, "flor")),
    ("is a coordinate, which touches nothing", lambda s, a, b, c: s.contacts(b, s.coordinate())),
    ("is an obstacle; name bodies first", lambda s, a, b, c: s.contacts(_floor(s), b)),
    ("first holds 3", lambda s, a, b, c: s.contacts(3)),
    ("the pair of 'b' and 'floor' is in contacts 'contacts_0' already",
     lambda s, a, b, c: s.contacts([b, c], [_floor(s)]) and s.contacts(b, "floor")),
    ("restitution is 2; it must", lambda s, a, b, c: s.contacts(b, _floor(s), restitution=2)),
    ("limit is not the contact of a surface",
     lambda s, a, b, c: s.contacts(b, s.obstacle("limit", component="y", minimum=-1), friction=1)),
    ("'b' with 'outside_sphere_0': its point starts in the very middle",
     lambda s, a, b, c: s.contacts([c, b], s.obstacle("outside_sphere", center=(3, 0, 0), radius=1))),
    ("gravity is nan", lambda s, a, b, c: Scene(gravity=(0, NAN, 0))),
])  # fmt: skip
def test_mistakes_are_told_with_name_value_and_remedy(words, mistake):
    scene, bodies = three()
    with pytest.raises(TautError) as told:
        mistake(scene, *bodies)
    assert words in str(told.value), f"said: {told.value}"


def _floor(scene: Scene):
    return scene.obstacle("half_space", point=(0, 0, 0), normal=(0, 1, 0), name="floor")
