"""Robots from the formats that people have: URDF (urdf.py) and MuJoCo's MJCF (mjcf.py).

    xml.py    elements with the lines they stand on
    tree.py   links and joints as both formats have them, and how they become a scene

Both formats have z up. A scene has y up, so that all is turned by a quarter about x: (x, y, z) becomes (x, z, -y).
"""
