"""Triangles into pixels.

`fill` keeps the nearest surface of each pixel; run from the light it makes a map of what the light sees. `shade` then
gives each pixel its colour, once:

    c = paint (ambient (1 + n·up)/2 + light visible max(0, n·l)) + gloss visible max(0, n·h)ᵏ      (1)

n is turned towards the eye, h is halfway between eye and light, and `visible` is the part of a few rays that the map
of the light lets through.
"""

from __future__ import annotations

from math import floor, sqrt

from ..compiled import entry, inline

EMPTY = -1
FLAT = 1000  # paints from here on are lines, which no light falls on


@entry
def fill(points, normals, triangles, paints, culled, depth, paint, normal):
    """Draw triangles with points (px, py, s), nearest (largest s) first; back sides have the next paint.

    culled  whether a triangle is left out where it is seen from behind
    """
    height, width = depth.shape
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xi, yi, si = points[i, 0], points[i, 1], points[i, 2]
        xj, yj, sj = points[j, 0], points[j, 1], points[j, 2]
        xk, yk, sk = points[k, 0], points[k, 1], points[k, 2]
        if not (si > 0.0 and sj > 0.0 and sk > 0.0):
            continue  # behind the eye, or no number
        # Pixels count downwards, so what turns counter-clockwise for the eye has a negative area here.
        area = (xj - xi) * (yk - yi) - (xk - xi) * (yj - yi)
        if area == 0.0 or (culled[t] and area > 0.0):
            continue
        face_paint = paints[t] if (area < 0.0 or paints[t] >= FLAT) else paints[t] + 1
        left = max(0, int(floor(max(min(xi, xj, xk), 0.0))))
        right = min(width - 1, int(floor(min(max(xi, xj, xk), width))))
        top = max(0, int(floor(max(min(yi, yj, yk), 0.0))))
        bottom = min(height - 1, int(floor(min(max(yi, yj, yk), height))))
        for y in range(top, bottom + 1):
            for x in range(left, right + 1):
                px, py = x + 0.5, y + 0.5
                a = ((xj - px) * (yk - py) - (xk - px) * (yj - py)) / area
                b = ((xk - px) * (yi - py) - (xi - px) * (yk - py)) / area
                c = 1.0 - a - b
                if a < 0.0 or b < 0.0 or c < 0.0:
                    continue
                s = a * si + b * sj + c * sk
                if s <= depth[y, x]:
                    continue
                depth[y, x] = s
                paint[y, x] = face_paint
                for e in range(3):
                    normal[y, x, e] = (a * si * normals[i, e] + b * sj * normals[j, e] + c * sk * normals[k, e]) / s


@inline
def facing(normal, rx, ry, rz):
    """The unit normal on the side from which the ray r comes; without one, against the ray."""
    nx, ny, nz = normal[0], normal[1], normal[2]
    size = sqrt(nx * nx + ny * ny + nz * nz)
    if size == 0.0:
        nx, ny, nz, size = -rx, -ry, -rz, sqrt(rx * rx + ry * ry + rz * rz)
    if nx * rx + ny * ry + nz * rz > 0.0:
        size = -size
    return nx / size, ny / size, nz / size


@inline
def along_half(nx, ny, nz, rx, ry, rz, light):
    """The cosine between the normal and the direction half-way between the light and the eye."""
    far = sqrt(rx * rx + ry * ry + rz * rz)
    hx, hy, hz = light[0] - rx / far, light[1] - ry / far, light[2] - rz / far
    return (nx * hx + ny * hy + nz * hz) / sqrt(hx * hx + hy * hy + hz * hz)


@inline
def seen_by_sun(px, py, pz, nx, ny, nz, sun_axes, sun_lens, sun_depth):
    """Which part of the light reaches a point with the normal n, 0 to 1, softened over 5 × 5 places of its map."""
    map_height, map_width = sun_depth.shape
    # The point is moved off its surface a little, so that it does not shade itself.
    qx, qy, qz = px + sun_lens[4] * nx, py + sun_lens[4] * ny, pz + sun_lens[4] * nz
    mx = sun_lens[0] * (sun_axes[0, 0] * qx + sun_axes[0, 1] * qy + sun_axes[0, 2] * qz - sun_lens[1])
    my = sun_lens[0] * (sun_axes[1, 0] * qx + sun_axes[1, 1] * qy + sun_axes[1, 2] * qz - sun_lens[2])
    mz = sun_axes[2, 0] * qx + sun_axes[2, 1] * qy + sun_axes[2, 2] * qz
    cx, cy = int(floor(mx + 0.5 * map_width)), int(floor(0.5 * map_height - my))
    seen = 0.0
    for dy in range(-2, 3):
        for dx in range(-2, 3):
            ax, ay = cx + dx, cy + dy
            free = ax < 0 or ay < 0 or ax >= map_width or ay >= map_height
            if free or sun_depth[ay, ax] - sun_lens[3] <= mz:
                seen += 0.04
    return seen


@inline
def tone_of_ground(px, py, pz, lit, light, ground, weights):
    """How bright the ground is against the background: it fades into it, and has a grid that tells lengths."""
    _, upright, extent, middle = ground
    gx, gy, gz = px - middle[0], py - middle[1], pz - middle[2]
    away = sqrt(gx * gx + gy * gy + gz * gz) / extent[0]
    fade = min(1.0, max(0.0, (1.0 - away) / 0.6))
    fade = fade * fade * (3.0 - 2.0 * fade)
    full = weights[0] + weights[1] * max(0.0, upright[0] * light[0] + upright[1] * light[1] + upright[2] * light[2])
    tone = 1.0 + 0.8 * fade * (min(1.0, lit / full) - 1.0)
    line = 0.0
    for e in range(3):
        if abs(upright[e]) < 0.5 and extent[3] > 0.0:
            at = (px if e == 0 else py if e == 1 else pz) / extent[1]
            off = abs(at - floor(at + 0.5)) * extent[1]
            if off < extent[2]:
                line = extent[3]
    return tone * (1.0 - fade * line)


@entry
def shade(buffers, view, sun, sun_depth, ground, look, palette, out):
    """Colours (linear, 0 to 1) of all pixels, (1).

    buffers  depth, paint and normal from fill
    view     eye, axes, (focal, -)
    sun      direction to the light, axes of its map, (scale, its middle x and y, offset of depth, bias)
    ground   a place, its normal, (radius, spacing of its grid, width of a line, strength of the grid), center
    look     background above, background below, (ambient, light, gloss, power), up
    """
    depth, paint, normal = buffers
    eye, axes, lens = view
    light, sun_axes, sun_lens = sun
    place, upright = ground[0], ground[1]
    above, below, weights, up = look
    height, width = depth.shape
    for y in range(height):
        for x in range(width):
            u, v = (x + 0.5 - 0.5 * width) / lens[0], (0.5 * height - y - 0.5) / lens[0]
            rx = axes[2, 0] + u * axes[0, 0] + v * axes[1, 0]
            ry = axes[2, 1] + u * axes[0, 1] + v * axes[1, 1]
            rz = axes[2, 2] + u * axes[0, 2] + v * axes[1, 2]
            s = depth[y, x]
            kind = paint[y, x]
            toward = rx * upright[0] + ry * upright[1] + rz * upright[2]
            gap = ((place[0] - eye[0]) * upright[0] + (place[1] - eye[1]) * upright[1]
                   + (place[2] - eye[2]) * upright[2])
            on_ground = False
            if toward * gap > 0.0 and toward / gap > s and gap < 0.0:
                s = toward / gap
                on_ground = True
            mix = (y + 0.5) / height
            if s <= 0.0:
                for e in range(3):
                    out[y, x, e] = above[e] + mix * (below[e] - above[e])
                continue
            if not on_ground and kind >= FLAT:
                for e in range(3):
                    out[y, x, e] = palette[kind - FLAT, e]
                continue
            px, py, pz = eye[0] + rx / s, eye[1] + ry / s, eye[2] + rz / s
            nx, ny, nz = upright[0], upright[1], upright[2]
            if not on_ground:
                nx, ny, nz = facing(normal[y, x], rx, ry, rz)
            bright = nx * light[0] + ny * light[1] + nz * light[2]
            seen = 0.0
            if bright > 0.0:
                seen = seen_by_sun(px, py, pz, nx, ny, nz, sun_axes, sun_lens, sun_depth)
            bright = max(0.0, bright)
            glow = 1.0 if on_ground else 0.5 * (1.0 + nx * up[0] + ny * up[1] + nz * up[2])
            lit = weights[0] * (0.45 + 0.55 * glow) + weights[1] * seen * bright
            shine = 0.0
            if not on_ground and seen > 0.0:
                shine = weights[2] * seen * max(0.0, along_half(nx, ny, nz, rx, ry, rz, light)) ** weights[3]
            if not on_ground:
                for e in range(3):
                    out[y, x, e] = min(1.0, palette[kind, e] * lit + shine)
                continue
            tone = tone_of_ground(px, py, pz, lit, light, ground, weights)
            for e in range(3):
                out[y, x, e] = (above[e] + mix * (below[e] - above[e])) * tone
