"""From a scene to a model: bodies to slots (slots.py), constraints and forces to batches (batches.py)."""

from __future__ import annotations

import numpy as np

from ..arguments import checked
from ..constraints import ALL
from ..forces import KINDS as FORCES
from ..scene.bulk import uncollected
from ..scene.scene import Scene
from ..scene.specs import Constraint, Force
from .batches import (
    alignment_table,
    constraint_batches,
    force_batches,
    inequality_arrays,
    joint_infos,
    pack,
    places_under,
    turn_table,
)
from .deformables import pack_deformable, touching
from .inequalities import Conditions, conditions
from .massless import give_inertia
from .model import Model
from .node_contacts import NodeContacts, with_node_contacts
from .slots import Slots
from .switches import one_of_each, set_start, switch_arrays, switch_name, switched_rows


@checked
def build(scene: Scene) -> Model:
    """Lay a scene out as flat arrays. Every name is resolved and every formula compiled here."""
    with uncollected():
        return _build(scene)


def _build(scene: Scene) -> Model:
    slots = Slots(scene)
    give_inertia(slots)
    equalities = [spec for spec in scene.constraints.values() if spec.sense == "=="]
    unilateral = conditions(scene)
    packed_equalities = pack(slots, equalities, ALL)
    packed_inequalities = pack(slots, unilateral.specs, ALL)
    packed_forces = pack(slots, scene.forces.values(), FORCES)
    every = packed_equalities, packed_inequalities, packed_forces
    places = slots.add_points(point for packed in every for point in packed.points())
    # Functions of time are numbered as they are met: the order of these calls is that of the signals.
    batches, rows, infos = constraint_batches(slots, packed_equalities, places, "to_constraint")
    row_count = len(rows.ptr) - 1
    inequalities, listed, names, switched_inequalities = inequality_arrays(
        slots, unilateral, packed_inequalities, places, row_count)
    inequalities, node_contact_names = with_node_contacts(
        inequalities, _node_contacts(slots, unilateral), slots.signals.add)
    forces, force_info, of_force = force_batches(slots, packed_forces)
    used: list[Constraint | Force] = [*equalities, *unilateral.specs, *scene.forces.values()]
    widest = max([len(member.points) for packed in every for member in packed.members] + [1])
    functions = [spec.arguments.get("function") for spec in used]
    joints = joint_infos(slots, packed_equalities.layouts)
    rows_of = {info.name: info.rows for info in infos}
    switched_equalities = switched_rows(slots, equalities, rows_of, rows, {row: row for row in range(row_count)})
    switches = switch_arrays(slots, used, switched_equalities, switched_inequalities, of_force)
    x, v = np.array(slots.x, float).reshape(-1, 3), np.array(slots.v, float).reshape(-1, 3)
    quat = np.array(slots.quat, float).reshape(-1, 4)
    set_start(switches, places, x, quat, v)
    force_kinds = [(FORCES[force.kind], force.arguments) for force in scene.forces.values()]
    return Model(
        name=scene.name,
        body_info=tuple(slots.info.values()),
        constraint_info=infos,
        bodies=slots.body_arrays(any(kind.feels_velocity(arguments) for kind, arguments in force_kinds)),
        places=places_under(rows, places),
        constraints=batches,
        rows=rows,
        inequalities=inequalities,
        inequality_info=listed,
        inequality_names=names + node_contact_names,
        forces=forces, force_info=force_info,
        signals=slots.signal_arrays(),
        x=x,
        quat=quat,
        v=v,
        scratch_width=3 * widest,
        reduced_map=scene.reduced_map,
        gravity=scene.gravity,
        callbacks=tuple(function for function in functions if function is not None),
        deformables=tuple(pack_deformable(record, *slots.nodes(name)) for name, record in scene.deformables.items()),
        joints=joints,
        turns=turn_table(joints),
        alignments=alignment_table(slots, packed_equalities),
        directions=slots.directions(),
        touching=touching(scene, {name: info.slot for name, info in slots.info.items()}),
        switches=switches,
        switch_names=tuple(switch_name(spec) for spec in one_of_each(used)),
        forces_work=(any(kind.works(arguments) for kind, arguments in force_kinds)
                     or bool(slots.signals.table("to_force", 2).size)),
    )


def _node_contacts(slots: Slots, unilateral: Conditions) -> list[NodeContacts]:
    """Obstacles and the nodes of deformables that can be pushed by them."""
    contacts = []
    for group, obstacle, name in unilateral.node_contacts:
        record = slots.scene.deformables[name]
        places, fixed = slots.nodes(name)
        free = np.flatnonzero(~fixed)
        if len(free):
            names = [record.node(i) for i in free.tolist()]
            start = np.array(slots.x[places[free[0]]], float)
            contacts.append(NodeContacts(slots.scene.obstacles[obstacle], names, places[free], 0.5 * record.thickness,
                                         start, group.friction))  # fmt: skip
    return contacts
