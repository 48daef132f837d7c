"""Scenes that come with taut: written once, used by tests, experiments, benchmarks and the viewer.

A scene is a function with parameters that have defaults; it is listed in SCENES below. Its docstring
says in the first line what it is, and then what each parameter means. SI units; y is up; gravity (0, -9.81, 0).

    single.py      one body: pendulum l θ̈ = -g sin θ, bead on a hoop, slider, driven anchor
    chains.py      n particles with |x_i - x_{i+1}| = l: two_link, five_link, chain
    mechanisms.py  angles, parallels and loops of particles;  linkages.py  the same of rigid bodies
    spatial.py     M v̇ + ω × I ω = f in space: tops, gyroscopes, platforms;  squeezer.py  seven bodies in a plane
    rolling.py     A(q) v = 0: sleigh, disc, coin, car, bicycle;  robots.py  from URDF
    contacts.py    Φ ≥ 0, λ ≥ 0, Φ λ = 0: corners, piles, ropes, inclines
    cloth.py       nodes (n × n), springs, limits on elongation, hard edges, obstacles
    common.py      what scenes share
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ...arguments import checked
from ...errors import chosen
from ..parameters import called_with
from ..scene import Scene
from . import chains, cloth, contacts, linkages, mechanisms, robots, rolling, single, spatial, squeezer, switched


@dataclass(frozen=True)
class Entry:
    """A scene of the gallery."""

    name: str
    doc: str  # one sentence
    function: Callable[..., Scene]


SCENES: dict[str, Entry] = {
    function.__name__: Entry(function.__name__, (function.__doc__ or "").splitlines()[0], function)
    for function in (
        single.pendulum,
        single.spherical_pendulum,
        chains.two_link,
        chains.five_link,
        chains.goal_keyframes,
        chains.ten_link_sawtooth,
        chains.chain,
        single.bead_on_hoop,
        single.bead_on_curve,
        single.slider_on_line,
        single.driven_anchor,
        mechanisms.angle_hold,
        mechanisms.parallel_edges,
        mechanisms.car_axis,
        mechanisms.four_bar,
        mechanisms.bricard,
        linkages.double_pendulum_rigid,
        linkages.slider_crank,
        linkages.four_bar_rigid,
        linkages.strandbeest_leg,
        linkages.rigid_chain,
        squeezer.andrews_squeezer,
        spatial.heavy_top,
        spatial.spinning_t_handle,
        spatial.gyroscope,
        spatial.door_on_two_hinges,
        spatial.universal_shaft,
        spatial.stewart_platform,
        spatial.flyball_governor,
        robots.robot_arm_6dof,
        switched.catch_and_throw,
        rolling.chaplygin_sleigh,
        rolling.rolling_disc,
        rolling.rolling_coin,
        rolling.car_turning,
        rolling.bicycle,
        single.spring_to_rod,
        chains.inconsistent_start,
        contacts.acute_corner,
        contacts.billiard,
        contacts.newton_cradle,
        contacts.bouncing_ball,
        contacts.ball_pile,
        contacts.slack_rope,
        contacts.block_on_incline,
        cloth.cloth_hang,
        cloth.cloth_ball,
        cloth.cloth_posts,
        cloth.cloth_drape,
        cloth.cloth_fold,
        cloth.flag_wind,
        cloth.jelly_block,
    )
}


@checked
def gallery(name: str, **parameters: Any) -> Scene:
    """A scene of the gallery by name, such as gallery("chain", n=100)."""
    function = checked(chosen("scene", name, SCENES).function, "parameter ")
    return called_with(function, parameters, f"scene '{name}'")
