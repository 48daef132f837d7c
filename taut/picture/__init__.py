"""Pictures of scenes and runs, rendered without a display.

    meshes.py     triangles of what is drawn beside shapes; normals
    parts.py      Part: one thing to see, how it is shaped and how it moves
    describe.py   what a scene looks like (view/drawing.py) as parts
    motion.py     poses of all bodies at the records of a run
    bounds.py     the space that a motion takes up; camera.py: where one looks from so that all of it is seen
    raster.py     triangles into pixels: depth, shadows, light (compiled)
    render.py     Renderer: parts at a moment as an image
    picture.py    one labelled picture: scene.draw, run pictures, HTML for notebooks

Exports to other tools (taut/export) take parts and motion from here and leave the rest.
"""

from .describe import describe
from .motion import Motion, initial_motion, motion_of
from .parts import Part, Pose
from .picture import draw, picture
from .render import Layer, Renderer

__all__ = ["Layer", "Motion", "Part", "Pose", "Renderer", "describe", "draw", "motion_of", "picture", "initial_motion"]
