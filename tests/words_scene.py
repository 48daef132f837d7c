"""Words for tests of scenes: a small one, and all that a scene holds as text."""

from __future__ import annotations

from taut.scene import Scene

NAN = float("nan")


def three() -> tuple[Scene, list]:
    scene = Scene()
    bodies = [scene.particle((0, 0, 0), fixed=True, name="anchor"), scene.particle((3, 0, 0), name="b"),
              scene.particle((3, 4, 0), name="c")]
    return scene, bodies


def contents(scene: Scene) -> str:
    """All that a scene holds, to the last bit, without the places where it was written."""
    records = [*scene.bodies.values(), *scene.constraints.values(), *scene.forces.values(),
               *scene.obstacles.values(), *scene.groups.values()]
    shown = [{key: value for key, value in vars(record).items() if key != "where"} for record in records]
    return repr((scene.name, scene.gravity, scene.suggested, scene.reduced_map, shown))
