"""Random trees from URDF files move, and take the torques, that Pinocchio finds.

    M a + h = τ,   a = G a_r, τ_r = Gᵀ τ:   rates of mimic joints are G times those of the others               (1)

Of each body the acceleration of its centre of mass and its angular acceleration are compared, so that joints without
coordinates of their own (planar, floating) are, too.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from words_robots import accelerations, beside

import taut

ONE = ("revolute", "continuous", "prismatic")
ALL = (*ONE, "fixed", "planar", "floating", "mimic")


def words(values: Any) -> str:
    return " ".join(map(repr, np.asarray(values, float).tolist()))


@dataclass
class Tree:
    """A robot as text: its joints once as URDF has them, once as Pinocchio reads them, whose planes are normal to z."""

    links: list[str] = field(default_factory=list)
    joints: list[str] = field(default_factory=list)
    for_oracle: list[str] = field(default_factory=list)
    start: dict[str, tuple[float, float]] = field(default_factory=dict)  # q and q̇ of joints that lead
    follows: dict[str, tuple[str, float, float]] = field(default_factory=dict)
    damping: dict[str, float] = field(default_factory=dict)
    friction: dict[str, float] = field(default_factory=dict)

    def text(self, joints: list[str]) -> str:
        return "\n".join(('<robot name="tree"><link name="ground"/>', *self.links, *joints, "</robot>"))

    def state(self, joint: str) -> tuple[float, float]:
        if joint not in self.follows:
            return self.start[joint]
        leader, ratio, offset = self.follows[joint]
        q, v = self.state(leader)
        return ratio * q + offset, ratio * v


def random_tree(seed: int, kinds: tuple[str, ...]) -> Tree:
    """3 to 12 links, whose inertias stand in turned frames beside the links', with joints about any axes."""
    random, tree = np.random.default_rng(seed), Tree()
    for i in range(int(random.integers(3, 13))):
        turned = Rotation.random(random_state=seed + i).as_matrix()
        mass = float(random.uniform(0.5, 3.0))
        inertia = turned @ np.diag(random.uniform(0.05, 0.1, 3) * mass) @ turned.T
        numbers = dict(zip(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), inertia[np.triu_indices(3)].tolist()))
        tree.links.append(
            f'<link name="l{i}"><inertial><origin xyz="{words(random.uniform(-0.3, 0.3, 3))}" '
            f'rpy="{words(random.uniform(-3, 3, 3))}"/><mass value="{mass!r}"/>'
            f'<inertia {" ".join(f"{k}={str(v)!r}" for k, v in numbers.items())}/></inertial></link>')
        add_joint(tree, i, kinds[int(random.integers(len(kinds)))] if i else "revolute", random)
    return tree


def add_joint(tree: Tree, i: int, kind: str, random: np.random.Generator) -> None:
    name, parts = f"j{i}", ""
    if kind == "mimic":
        kind = ("revolute", "prismatic")[int(random.integers(2))]
        others = [*tree.start, *tree.follows]
        leader = others[int(random.integers(len(others)))]
        tree.follows[name] = leader, *random.uniform(-2, 2, 1).tolist(), *random.uniform(-0.5, 0.5, 1).tolist()
        parts = '<mimic joint="{}" multiplier="{!r}" offset="{!r}"/>'.format(*tree.follows[name])
    elif kind in ONE:
        q, v = random.uniform(-2, 2), random.uniform(1, 3) * random.choice((-1, 1))
        tree.start[name] = float(q), float(v)
        tree.friction[name] = float(random.uniform(0, 0.5))
    if kind in ONE:
        tree.damping[name] = float(random.uniform(0, 0.5))
        parts += f'<dynamics damping="{tree.damping[name]!r}" friction="{tree.friction.get(name, 0.0)!r}"/>'
    if kind in ("revolute", "prismatic"):
        parts += '<limit lower="-99" upper="99" effort="0" velocity="0"/>'
    axis = random.standard_normal(3)
    parent = "ground" if i == 0 else f"l{int(random.integers(max(0, i - 3), i))}"
    place, angles = words(random.uniform(-0.5, 0.5, 3)), random.uniform(-3, 3, 3)
    joint = (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="l{i}"/>'
             f'<origin xyz="{place}" rpy="{words(angles)}"/><axis xyz="{words(axis)}"/>{parts}</joint>')
    tree.joints.append(joint)
    if kind == "planar":
        before, upright = Rotation.from_euler("xyz", angles), Rotation.align_vectors([axis], [(0, 0, 1)])[0]
        joint = (f'<link name="p{i}"/><joint name="{name}" type="planar"><parent link="{parent}"/><child link="p{i}"/>'
                 f'<origin xyz="{place}" rpy="{words((before * upright).as_euler("xyz"))}"/></joint>'
                 f'<joint name="{name}_turn" type="fixed"><parent link="p{i}"/><child link="l{i}"/>'
                 f'<origin rpy="{words(upright.inv().as_euler("xyz"))}"/></joint>')  # fmt: skip
    tree.for_oracle.append(joint)


class Oracle:
    """Pinocchio's model of a tree, at its start."""

    def __init__(self, tree: Tree) -> None:
        self.pin = pytest.importorskip("pinocchio", reason="the oracle is not installed (Linux only)")
        self.model = self.pin.buildModelFromXML(tree.text(tree.for_oracle))
        self.data = self.model.createData()
        self.q, self.v = self.pin.neutral(self.model), np.zeros(self.model.nv)
        self.passive, G = np.zeros(self.model.nv), np.eye(self.model.nv)
        self.columns = {name: self.model.joints[self.model.getJointId(name)].idx_v for name in tree.damping}
        for name, k in self.columns.items():
            joint = self.model.joints[self.model.getJointId(name)]
            q, self.v[k] = tree.state(name)
            self.q[joint.idx_q : joint.idx_q + joint.nq] = (np.cos(q), np.sin(q)) if joint.nq == 2 else q
            self.passive[k] = -tree.damping[name] * self.v[k] - tree.friction.get(name, 0.0) * np.sign(self.v[k])
            if name in tree.follows:
                leader, ratio, _ = tree.follows[name]
                G[k] = ratio * G[self.columns[leader]]
        following = {self.columns[name] for name in tree.follows}
        self.leading = [k for k in range(self.model.nv) if k not in following]
        self.G = G[:, self.leading]

    def acceleration(self) -> np.ndarray:
        """(1) with the passive torques alone."""
        M = self.pin.crba(self.model, self.data, self.q)
        M = np.triu(M) + np.triu(M, 1).T
        h = self.pin.nle(self.model, self.data, self.q, self.v)
        return self.G @ np.linalg.solve(self.G.T @ M @ self.G, self.G.T @ (self.passive - h))

    def torques(self, a: np.ndarray) -> np.ndarray:
        """(1) of drivers on the joints that lead."""
        return self.G.T @ (self.pin.rnea(self.model, self.data, self.q, self.v, self.G @ a) - self.passive)

    def of_body(self, link: str, centre: np.ndarray) -> np.ndarray:
        """Angular acceleration, and acceleration of the centre of mass of the body to which the link belongs."""
        frame, axes = self.model.getFrameId(link), self.pin.LOCAL_WORLD_ALIGNED
        at_frame = self.pin.getFrameClassicalAcceleration(self.model, self.data, frame, axes)
        omega = self.pin.getFrameVelocity(self.model, self.data, frame, axes).angular
        r = centre - self.data.oMf[frame].translation
        along = at_frame.linear + np.cross(at_frame.angular, r) + np.cross(omega, np.cross(omega, r))
        return np.concatenate([at_frame.angular, along])


def opened(folder: Any, tree: Tree) -> taut.Scene:
    loops = "".join(f"{what}: {{{', '.join(f'{name}: {both[k]!r}' for name, both in tree.start.items())}}}\n"
                    for k, what in enumerate(("positions", "velocities")))  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error", taut.TautWarning)  # all of it is taken over
        return taut.open_scene(beside(folder, tree.text(tree.joints), loops=loops), limits=False)


def test_random_trees_accelerate_as_pinocchio_says(tmp_path):
    for seed in range(25):
        tree = random_tree(seed, ALL)
        oracle, scene = Oracle(tree), opened(tmp_path, tree)
        oracle.pin.forwardKinematics(oracle.model, oracle.data, oracle.q, oracle.v, oracle.acceleration())
        oracle.pin.updateFramePlacements(oracle.model, oracle.data)
        worst, size = 0.0, 1.0
        for name, found in accelerations(scene).items():
            x, y, z = scene.bodies[name].position
            expected = oracle.of_body(name, np.array((x, -z, y)))
            worst = max(worst, np.abs(np.concatenate(found) - expected).max())
            size = max(size, np.abs(expected).max())
        assert worst < 1e-11 * size, f"tree {seed}: accelerations of up to {size:.3g} differ by {worst:.2g}"


def test_drivers_of_random_trees_take_the_torques_that_pinocchio_says(tmp_path):
    for seed in range(12):
        tree = random_tree(100 + seed, (*ONE, "fixed", "mimic"))
        oracle, scene = Oracle(tree), opened(tmp_path, tree)
        wanted = np.random.default_rng(seed).uniform(-5, 5, len(oracle.leading))
        names = {k: name for name, k in oracle.columns.items()}
        for k, a in zip(oracle.leading, wanted.tolist()):
            q, v = tree.start[names[k]]
            scene.drive(names[k], value=f"{q!r} + ({v!r})*t + ({a / 2!r})*t**2", name=f"{names[k]}_drive")
        run = taut.kinematics(scene, [0.0])
        found = np.array([float(run[f"{names[k]}_drive"].multiplier[0]) for k in oracle.leading])
        expected = oracle.torques(wanted)
        error = np.abs(found - expected).max() / np.abs(expected).max()
        assert error < 1e-9, f"tree {seed}: torques of drivers differ by {error:.2g}: {found}, not {expected}"
