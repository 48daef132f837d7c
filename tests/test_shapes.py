"""Every shape: volume, inertia, signed distance, support, triangles and kernels describe the same solid."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from words_constraints import Probe

import taut
from taut.shapes import OBSTACLES, SHAPES, SOLIDS, Shape

RANDOM = np.random.default_rng(5)
DIRECTIONS = RANDOM.standard_normal((60, 3))
POINTS = 2.0 * RANDOM.uniform(-1.0, 1.0, (200, 3))


@pytest.fixture(params=SHAPES.values(), ids=SHAPES)
def shape(request) -> Shape:
    return request.param


@pytest.fixture(params=SOLIDS.values(), ids=SOLIDS)
def solid(request) -> Shape:
    return request.param


def test_triangles_are_closed_and_turned_outwards(solid):
    vertices, triangles = solid.triangles(*solid.example)
    same = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)[1].ravel()
    edges = same[triangles][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    there = {tuple(edge) for edge in edges.tolist()}
    assert len(there) == len(edges) and all((b, a) in there for a, b in there)  # each once, and once the other way
    assert signed_volume(vertices, triangles) > 0.0


def signed_volume(vertices, triangles) -> float:
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return float(np.sum(a * np.cross(b, c)) / 6.0)


def test_vertices_lie_on_the_surface(solid):
    gap, _ = solid.distance(solid.triangles(*solid.example)[0], *solid.example)
    assert np.abs(gap).max() < 1e-12, f"{np.abs(gap).max():.3g} m off"


def test_volume_and_moments_are_integrals_over_the_solid(solid):
    """Over the cells of a grid whose middle is inside: ∫ dV and ∫ (|y|² - y_i²) dV."""
    reach = np.array([abs(solid.support(np.eye(3)[[i]], *solid.example)[0, i]) for i in range(3)])
    n = 60
    axes = [r * (np.arange(n) + 0.5) / n for r in reach]  # one octant: a shape is symmetric
    y = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = y[solid.distance(y, *solid.example)[0] < 0.0]
    cell = 8.0 * np.prod(reach) / n**3
    volume = solid.volume(*solid.example)
    squares = (inside**2).sum(axis=0) * cell / volume
    found = np.array([cell * len(inside) / volume, *(squares.sum() - squares)])
    wanted = np.array([1.0, *solid.moments(1.0, *solid.example)])
    worst = np.abs(found / wanted - 1.0).max()
    assert worst < 0.02, f"{found} instead of {wanted}"  # a rod counts as thin: (r/l)² · 3 = 0.018


def test_the_normal_is_the_gradient_of_the_distance_and_of_length_one(shape):
    h = 1e-6
    gap, normal = shape.distance(POINTS, *shape.example)
    slopes = [(shape.distance(POINTS + h * e, *shape.example)[0] - gap) / h for e in np.eye(3)]
    bend = np.abs(np.stack(slopes, 1) - normal).max(axis=1)
    assert np.abs(np.linalg.norm(normal, axis=1) - 1.0).max() < 1e-12
    assert np.quantile(bend, 0.95) < 1e-4, f"{bend.max():.3g}"  # some points lie where two faces are equally near


def test_walking_down_the_distance_leads_to_the_surface(shape):
    gap, normal = shape.distance(POINTS, *shape.example)
    rest = shape.distance(POINTS - gap[:, None] * normal, *shape.example)[0]
    assert np.abs(rest).max() < 1e-12, f"{np.abs(rest).max():.3g} m off"


def test_support_is_on_the_surface_and_no_place_is_farther(solid):
    found = solid.support(DIRECTIONS, *solid.example)
    assert np.abs(solid.distance(found, *solid.example)[0]).max() < 1e-12
    vertices = solid.triangles(*solid.example)[0]
    farthest = (vertices @ DIRECTIONS.T).max(axis=0)
    assert (np.sum(found * DIRECTIONS, axis=1) - farthest).min() > -1e-12


@pytest.mark.parametrize("kind", OBSTACLES)
def test_the_compiled_distance_is_that_of_the_shape(kind):
    """Φ = ± d - r, of one wall or of the nearest of several, at 40 places."""
    shape, side = OBSTACLES[kind]
    places = 0.6 * POINTS[:40] + [0.03, 0.02, 0.01]
    scene = taut.Scene()
    for i, place in enumerate(places):
        getattr(scene, kind)(scene.particle(place, radius=0.01, name=f"p{i}"), **shape.still, name=f"c{i}")
    for name, constraint in scene.constraints.items():  # evaluated like equalities
        scene._constraints[name] = replace(constraint, sense="==")
    probe = Probe(scene, seed=0)
    probe.x = probe.model.x.copy()
    found = probe.at().phi.reshape(len(places), side.rows).min(axis=1)
    given = {a.name: a.default for a in shape.arguments} | shape.still
    at = {name: np.array(value, float) for name, value in given.items()}
    wanted = side.sign * shape.distance_in_world(at, places)[0] - 0.01
    if side.rows > 1:  # walls: outside of the solid the nearest one counts, not the nearest place on it
        inside = wanted > 0.0
        found, wanted = found[inside], wanted[inside]
    assert len(found) > 3
    assert np.abs(found - wanted).max() < 1e-12, f"{np.abs(found - wanted).max():.3g} m"
