"""The scene as users write it: bodies, constraints and forces, checked as they are added.

Besides the methods below, Scene has one method per registered kind of constraint and force
(`verbs.py` makes them from the registries): scene.distance(a, b, length=2.0, name="link"), and the methods
cloth and solid (deformables.py): scene.cloth(grid=(30, 30), pins=[0, 29]). What is added becomes a record
(scene_records.py).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..arguments import checked_methods
from ..errors import no_attribute
from . import checks, groups
from .bodies import check_planar, read_mass, read_motion, read_radius, read_turning
from .deformables import ClothRef, SolidRef, add_makers
from .planes import keep_in_planes
from .reduction import read_reduced
from .scene_records import SceneRecords
from .shapes import read_shape
from .solids import mesh_of
from .specs import Body, BodyRef, ReducedMap, Ref, Vector
from .synonyms import meant
from .verbs import add_verbs
from .visuals import Visual, read_visuals

if TYPE_CHECKING:
    from pathlib import Path

_ZERO = (0.0, 0.0, 0.0)


@add_makers
@add_verbs
@checked_methods
class Scene(SceneRecords):
    """What is to be simulated. Lengths [m], masses [kg], times [s], angles [rad]; y is up.

    gravity    acceleration [m/s²]
    suggested  step, duration, method and start to use where the caller names none
    visual     what stands in the world and is only seen, as the visual of a rigid body
    """

    _is_scene = True  # what arguments.py knows it by, which stands before it

    def __init__(self, gravity: Any = (0.0, -9.81, 0.0), name: str = "scene"):
        super().__init__()
        self.name = checks.one_line(name, "the scene's name")
        self.gravity = gravity
        self._visual: tuple[Visual, ...] = ()
        self.suggested: dict[str, Any] = {}
        self.reduced_map: ReducedMap | None = None

    @property
    def gravity(self) -> Vector:
        return self._gravity

    @gravity.setter
    def gravity(self, value: Any) -> None:
        self._gravity = checks.vector(value, "gravity")

    @property
    def visual(self) -> tuple[Visual, ...]:
        return self._visual

    @visual.setter
    def visual(self, value: Any) -> None:
        self._visual = read_visuals(value, "visual")

    def __getattr__(self, kind: str) -> Callable[..., Ref]:
        """Only what does not exist comes here; the methods of kinds are made by verbs.py."""
        name = meant(kind)
        if name is not None and name != kind and hasattr(type(self), name):
            raise AttributeError(f"a scene has no '{kind}'; here it is called '{name}'")
        words = [word for word in dir(type(self)) if not word.startswith("_")]
        raise no_attribute("a scene", kind, words)

    if TYPE_CHECKING:  # the methods that deformables.py adds

        def cloth(self, **arguments: Any) -> ClothRef: ...

        def solid(self, **arguments: Any) -> SolidRef: ...

    # Bodies

    def particle(
        self,
        position: Any = None,
        mass: float = 1.0,
        velocity: Any = _ZERO,
        fixed: bool = False,
        path: Any = None,
        radius: float = 0.0,
        name: str | None = None,
    ) -> BodyRef:
        """Add a point mass; with a radius it is a ball that does not turn.

        path drives it: three formulas of t, keyframes, or a function t -> (x, y, z); it needs no position.
        """
        name = self._new_name(name, "particle", self._bodies, self._obstacles, self._deformables)
        what = f"particle '{name}'"
        mass = checks.positive(mass, f"{what}: mass")
        motion = read_motion(what, position, velocity, fixed, path)
        return self._add(Body("particle", name, motion.position, motion.velocity, mass, motion=motion.kind,
                              path=motion.path, radius=read_radius(what, radius), where=self._where))

    def rigid(
        self,
        position: Any = None,
        mass: float | None = None,
        inertia: Any = None,
        shape: Any = None,
        density: float | None = None,
        orientation: Any = (1.0, 0.0, 0.0, 0.0),
        velocity: Any = _ZERO,
        angular_velocity: Any = _ZERO,
        fixed: bool = False,
        path: Any = None,
        rotation: Any = None,
        radius: float | None = None,
        planar: bool = False,
        visual: Any = (),
        name: str | None = None,
    ) -> BodyRef:
        """Add a rigid body by its centre of mass.

        inertia      three principal moments or 3×3 [kg m²], in the body's frame; one number: the moment about every
                     axis, which is all that a planar body needs; or instead
        shape        {"box": (x, y, z)}, {"sphere": r}, {"cylinder": (r, length)}, {"capsule": (r, length)} or
                     {"rod": length}, with a mass or a density [kg/m³]
                     or {"mesh": file}: a closed surface, with the axes of the file about its centre of mass
        orientation  quaternion (w, x, y, z) or (axis, angle)
        path         drives the centre, as for a particle
        rotation     drives the turning: (axis, angle as a function of time), on top of orientation
        radius       of the ball about its centre that touches others [m]; default: of a sphere its own, else 0
        planar       it moves in the plane z = constant and turns about z: three unknowns, and its inertia may be one
                     number, the moment about z [kg m²]. Joints between planar bodies do not see z
        visual       what is seen of it: a list of {"mesh": file, "scale": 1} or of shapes, each with offset [m] and
                     orientation in the body's frame and a color ("#rrggbb"); default: the shape
        """
        name = self._new_name(name, "rigid", self._bodies, self._obstacles, self._deformables)
        what = f"rigid '{name}'"
        held = bool(fixed) or path is not None or rotation is not None
        if planar and isinstance(inertia, int | float) and not isinstance(inertia, bool):
            inertia = (inertia,) * 3
        mass, matrix = read_mass(what, mass, inertia, shape, density, held)
        orientation = checks.quaternion(orientation, f"{what}: orientation")
        spin, driver = read_turning(what, angular_velocity, rotation, held)
        if driver is not None and path is None:  # what a driver turns it carries too: it stays where it is
            path = checks.vector(position, f"{what}: position")
        motion = read_motion(what, position, velocity, fixed, path)
        drawn = None if shape is None or mesh_of(shape) is not None else read_shape(shape, what)
        if planar:
            check_planar(what, motion, spin)
        return self._add(Body("rigid", name, motion.position, motion.velocity, mass, matrix, orientation,
                              spin, motion.kind, motion.path, driver, read_radius(what, radius, shape), self._where,
                              shape=drawn, planar=planar, visual=read_visuals(visual, f"{what}: visual")))

    def coordinate(
        self,
        value: float | None = None,
        inertia: float = 1.0,
        rate: float = 0.0,
        fixed: bool = False,
        path: Any = None,
        name: str | None = None,
    ) -> BodyRef:
        """Add a scalar coordinate: a curve's parameter, a wheel's angle.

        inertia  its own; 0: that of the bodies which on_curve places by it, and nothing more
        """
        name = self._new_name(name, "coordinate", self._bodies, self._obstacles, self._deformables)
        what = f"coordinate '{name}'"
        inertia = checks.not_negative(inertia, f"{what}: inertia")
        # A coordinate's one number travels in the first of three places.
        value = 0.0 if value is None and path is None else value
        start = None if value is None else (value, 0.0, 0.0)
        motion = read_motion(what, start, (rate, 0.0, 0.0), fixed, None if path is None else (path, 0.0, 0.0))
        return self._add(Body("coordinate", name, motion.position, motion.velocity, inertia,
                              motion=motion.kind, path=motion.path, where=self._where))

    # Contacts

    def obstacle(self, kind: str, name: str | None = None, **arguments: Any) -> Ref:
        """Add a thing in the world that groups run into: obstacle("half_space", point=..., normal=...).

        kind  an inequality of one point; its arguments are those of the constraint of that name, and what switches it
        """
        name = self._new_name(name, kind, self._obstacles, self._bodies, self._deformables)
        return self._add(groups.read_obstacle(self, kind, name, arguments))

    def contacts(
        self, first: Any, second: Any = None, restitution: float = 0.0, friction: float = 0.0, name: str | None = None,
        **switch: Any,
    ) -> Ref:
        """Let bodies touch: all pairs inside `first`, or each of `first` with each of `second`.

        first        bodies, cloths and solids; of a cloth alone: it runs into itself
        second       bodies, cloths, solids and obstacles
        restitution  speed after an impact over speed before, 0 to 1
        friction     Coulomb's coefficient
        switch       when they can touch: from_, until, active, when, ease
        """
        name = self._new_name(name, "contacts", self._groups)
        return self._add(groups.read_group(self, name, first, second, (restitution, friction), switch))

    # Planes and hints

    def planar(self, *bodies: Any, normal: Any = (0.0, 0.0, 1.0)) -> list[Ref]:
        """Keep bodies in the planes across `normal` in which they start.

        A particle needs one condition; a rigid body three, on places that are not in a line.
        """
        return keep_in_planes(self, bodies, normal)

    def reduced(
        self,
        coordinates: Any,
        positions: Mapping[str, Any] | None = None,
        turns: Mapping[str, Any] | None = None,
        kinetic: str = "",
    ) -> None:
        """Give positions as formulas of a few generalized coordinates q, for the method `reduced`.

        coordinates  name -> value at t = 0, or (value, rate); or a list of the scene's own coordinates, which then have
                     q and its rate in the result
        positions    body -> three formulas in the coordinates' names and t
        turns        rigid body -> a list of (axis, angle), each angle a formula: its orientation is these rotations,
                     one after the other, each about axes that those before it have turned
        kinetic      T(q, q̇, t) of what no body stands for, quadratic in the rates, which it names theta.v

        Generalized forces Q are forces on the scene's coordinates (`force`, `custom_force`, `spring`).
        """
        self.reduced_map = read_reduced(self._bodies, coordinates, positions or {}, turns or {}, kinetic)

    def suggest(
        self,
        dt: float | None = None,
        duration: float | None = None,
        method: str | None = None,
        start: str | None = None,
        **options: Any,
    ) -> None:
        """Say what suits this scene; simulate and the command line use it where nothing else is given."""
        for name, value, read in (("dt", dt, checks.positive), ("duration", duration, checks.positive),
                                  ("method", method, checks.text), ("start", start, checks.text)):
            if value is not None:
                self.suggested[name] = read(value, f"suggested {name}")
        for name, value in options.items():
            self.suggested[name] = checks.suggestion(value, f"suggested {name}")

    def save(self, path: str | Path, arrays: bool | str = "auto", overwrite: bool = False) -> Path:
        """Write the scene as YAML, with bulk data in an .npz file beside it (see save.py)."""
        from .save import save  # keeps the YAML library out of `import taut`

        return save(self, path, arrays=arrays, overwrite=overwrite)

    # What later packages do with a scene; they are imported when they are asked for

    def build(self) -> Any:
        """The frozen model of this scene."""
        return import_module("taut").build(self)

    def draw(self, path: str | Path, **options: Any) -> Path:
        """Write a picture (.png) of the start; options size, azimuth, elevation [degrees], overwrite."""
        return import_module("taut.picture").draw(self, path, **options)

    def _repr_html_(self) -> str:
        return import_module("taut.picture.notebook").scene_html(self)

    def show(self, **options: Any) -> Any:
        """Show the scene live, in a browser or in the cell of a notebook: start it, pull at it, change its method.

        options  method, dt, port, browser, wait: taut/view/viewer.py
        """
        return import_module("taut.view").view(self, **options)

    # Comparisons

    def _contents(self) -> tuple:
        return (self.name, self.gravity, self.suggested, self.reduced_map, self.visual, *self._records())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scene) and self._contents() == other._contents()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        pairs = sum(groups.pair_count(self, group) for group in self._groups.values())
        return (f"<Scene '{self.name}': {len(self._bodies)} bodies, {len(self._constraints)} constraints, "
                f"{len(self._forces)} forces{f', {pairs} pairs in contact groups' if pairs else ''}>")
