"""Pictures of scenes and runs, rendered without a display.

    x = p + R(q) S y                            parts.Part at a motion.Pose: a point y of a part in the world [m]
    (px, py) = (W/2 + f r·d/w, H/2 - f u·d/w)   camera.py: d = x - eye, w = a·d; axes a ahead, r right, u up
    depth, shadow, colour of each pixel         raster.py (compiled): nearest surface; ambient, diffuse and gloss

    meshes.py     triangles of what is drawn beside shapes; normals
    parts.py      Part: one visible thing, its shape and its motion;  motion.py  poses at the records of a run
    describe.py   what a scene looks like (view/drawing.py) as parts
    bounds.py     the bounding box of a motion, from which the camera is placed
    render.py     Renderer: parts at a moment as an image
    picture.py    one labelled picture: scene.draw, run pictures;  notebook.py  HTML for notebooks

Exports to other tools (taut/export) use parts and motion from here, nothing else.
"""

from .describe import describe
from .motion import Motion, initial_motion, motion_of
from .parts import Part, Pose
from .picture import draw, picture
from .render import Layer, Renderer

__all__ = ["Layer", "Motion", "Part", "Pose", "Renderer", "describe", "draw", "motion_of", "picture", "initial_motion"]
