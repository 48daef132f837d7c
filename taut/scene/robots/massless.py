"""Links without mass between two joints, which make one joint of the two.

A planar base or a shoulder is often written as three joints with empty links between them. Such joints are one joint of
taut (series.py). Links without mass that carry nothing are refused (build.py): how they move is not decided.
"""

from __future__ import annotations

from collections.abc import Collection

from .pose import Pose
from .series import Step, in_series
from .tree import Groups, Joint, Tree

ONE_COORDINATE = ("hinge", "slider")


def merge_massless(tree: Tree, held: Collection[str]) -> None:
    """Of a tree whose start is known. held: links that something beside the tree holds, which stay as they are."""
    groups = Groups(tree)
    for joint in list(tree.joints):
        root = groups.root(joint.child)
        if joint.kind not in ONE_COORDINATE or groups.is_massless(root):
            continue
        chain = [joint]
        while True:
            before = groups.root(chain[0].parent) if chain[0].parent is not None else ""
            above = groups.parent.get(before)
            if above is None or above.kind not in ONE_COORDINATE or not groups.is_massless(before):
                break
            if any(link.name in held for link in groups.members(before)):
                tree.empty[before] = "it is held by a joint of NAME.loops.yaml"
                break
            if groups.hanging(before) > 1:
                tree.empty[before] = "more than one joint hangs on it"
                break
            chain.insert(0, above)
        if len(chain) > 1:
            _merge(tree, groups, chain)


def _merge(tree: Tree, groups: Groups, chain: list[Joint]) -> None:
    """One joint for a chain of them, if there is one."""
    first, last = chain[0], chain[-1]
    frames = [first.origin]  # of each joint in the first one's parent, while all stand at zero
    for before, after in zip(chain, chain[1:]):
        inside = tree.start[before.child][0].inverse() @ tree.start[str(after.parent)][0]
        frames.append(frames[-1] @ inside @ after.origin)
    back = frames[-1].inverse()
    now = [(Pose() if joint.parent is None else tree.start[joint.parent][0]) @ joint.origin for joint in chain]
    steps = [Step(joint, (back @ frame).R @ joint.axis, (back @ frame).point(joint.anchor), at.R @ joint.axis)
             for joint, frame, at in zip(chain, frames, now)]  # fmt: skip
    found = Joint(first.name, first.where, "fixed", first.parent, last.child, frames[-1])
    names = [joint.name for joint in chain]
    if not in_series(found, steps) or found.kind == "free":
        tree.empty |= {joint.child: f"no joint of taut is {', '.join(names)} at once" for joint in chain[:-1]}
        return
    empty = [link for joint in chain[:-1] for link in groups.members(joint.child)]
    tree.dropped += [f"pictures of link '{link.name}', which has no mass" for link in empty if link.visuals]
    gone = {last.child, *(link.name for link in empty)}
    tree.joints = [joint for joint in tree.joints if joint.child not in gone] + [found]
    for link in empty:
        del tree.links[link.name]
    for joint in chain if first.coordinate != found.along[0].coordinate else chain[1:]:
        tree.dropped.append(f"name of joint '{joint.name}', which is {joint.coordinate} of '{first.name}'")
