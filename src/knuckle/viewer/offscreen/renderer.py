"""A renderer in NumPy and one native loop: a sun with shadows, light from the sky, a ground with a grid.

It draws what the replays in the browser draw, with the same lights, where there is no browser.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from knuckle.viewer.scene.triangles import Array

from .camera import Camera, SunView
from .drawn_solids import Solid
from .raster_loops import draw_triangles

_SUN = np.array([0.42, -0.55, 0.95]) / np.linalg.norm([0.42, -0.55, 0.95])
_SHADOW = 1024
_FINER = 2
"""Pixels of the drawing to one of the picture, each way."""
THEMES: dict[str, dict[str, Any]] = {
    "light": {"top": (0.87, 0.90, 0.93), "bottom": (0.97, 0.975, 0.98), "ink": (0.42, 0.47, 0.53),
              "sky": (0.88, 0.93, 1.0), "earth": (0.46, 0.44, 0.42), "depth": 0.42},
    "dark": {"top": (0.07, 0.085, 0.105), "bottom": (0.15, 0.17, 0.20), "ink": (0.50, 0.56, 0.63),
             "sky": (0.62, 0.70, 0.82), "earth": (0.22, 0.21, 0.21), "depth": 0.7},
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Seen:
    """What is seen at pixels: which triangle (−1 for none), how near, and where within it."""

    face: Array
    nearness: Array
    weight: Array


@dataclass(frozen=True, eq=False)
class Backdrop:
    """What is behind the robots: a picture without shadows, and the pixels and places of ground that may have some."""

    picture: Array
    pixel: Array
    place: Array

    def shaded(self, sun: SunView, shadow: Array, depth: Array) -> Array:
        """A picture of it with shadows."""
        picture = self.picture.copy()
        dark = (depth * (1 - _lit(sun, shadow, self.place)))[:, None]
        flat = picture.reshape(-1, 3)
        flat[self.pixel] += dark * (np.array([0.03, 0.04, 0.06]) - flat[self.pixel])
        return picture


@dataclass(frozen=True, eq=False)
class Renderer:
    """Draws surfaces in a scene whose ground, size and camera stay."""

    eye: Array
    target: Array
    width: int
    height: int
    ground: float
    cell: float
    radius: float
    theme: Literal["light", "dark"] = "light"

    def draw(self, solids: Sequence[Solid], target: Array | None = None) -> Array:
        """(height, width, 3) in 255 parts. With a target the camera has moved along with it."""
        moved = np.zeros(3) if target is None else target - self.target
        eye, middle = self.eye + moved, self.target + moved
        camera = Camera(eye, middle, _FINER * self.width, _FINER * self.height)
        solids = [one for one in solids if len(one.faces)]
        sun = SunView(_SUN, camera.target, 1.6 * self.radius, _SHADOW)
        shadow = _seen(solids, sun, _SHADOW, _SHADOW).nearness.reshape(_SHADOW, _SHADOW)
        behind = self._backdrop(Camera(eye, middle, self.width, self.height)) if moved.any() else self._first_backdrop
        coarse = behind.shaded(sun, shadow, self._look["depth"]).astype(np.float32)
        picture = np.repeat(np.repeat(coarse, _FINER, 0), _FINER, 1)
        clear = [np.atleast_2d(one.color)[0, 3] >= 1 for one in solids]
        opaque = [one for one, is_opaque in zip(solids, clear, strict=True) if is_opaque]
        depth = self._over(picture, camera, sun, shadow, opaque, None)
        for one, is_opaque in zip(solids, clear, strict=True):
            if not is_opaque:
                self._over(picture, camera, sun, shadow, [one], depth)
        parts = [picture[i::_FINER, j::_FINER] for i in range(_FINER) for j in range(_FINER)]
        small = sum(parts[1:], parts[0]) / len(parts)
        return np.rint(255 * np.clip(small, 0, 1)).astype(np.uint8)

    @cached_property
    def _look(self) -> dict[str, Array]:
        return {name: np.array(x) for name, x in THEMES[self.theme].items()}

    @cached_property
    def _first_backdrop(self) -> Backdrop:
        return self._backdrop(Camera(self.eye, self.target, self.width, self.height))

    def _backdrop(self, camera: Camera) -> Backdrop:
        """The sky, and the ground with its grid."""
        look = self._look
        up = _smooth(0.0, 0.9, 1 - (np.arange(camera.height) + 0.5) / camera.height)
        picture = np.repeat((look["bottom"] + up[:, None] * (look["top"] - look["bottom"]))[:, None], camera.width, 1)
        rays = camera.rays()
        down = rays[..., 2] < -1e-6
        distance = (self.ground - camera.eye[2]) / np.where(down, rays[..., 2], -1.0)
        down &= distance > 0
        place = camera.eye + distance[down, None] * rays[down]
        far = np.linalg.norm(place[:, :2] - camera.target[:2], axis=1) / (14 * self.radius)
        pixel = 0.5 * distance[down] / camera.height
        lines = np.maximum(0.30 * _grid(place, self.cell, pixel, 0.6), 0.55 * _grid(place, 5 * self.cell, pixel, 1.0))
        cover = (lines * (1 - _smooth(0.25, 1.0, far)))[:, None]
        color = look["bottom"] + lines[:, None] * (look["ink"] - look["bottom"])
        picture[down] = cover * color + (1 - cover) * picture[down]
        near = np.linalg.norm(place - camera.target, axis=1) < 4 * self.radius
        return Backdrop(picture, np.flatnonzero(down)[near], place[near])

    def _over(
        self, picture: Array, camera: Camera, sun: SunView, shadow: Array, solids: Sequence[Solid], depth: Array | None
    ) -> Array:
        """Draws surfaces over the picture, where they are nearer than `depth`; returns how near it is now."""
        seen = _seen(solids, camera, camera.width, camera.height, depth)
        there = np.flatnonzero(seen.face >= 0)
        if len(there):
            point, normal, color = _surface(solids, seen, there)
            lit = self._shaded(camera, sun, shadow, point, normal, color[:, :3])
            flat = picture.reshape(-1, 3)
            flat[there] = color[:, 3:] * lit + (1 - color[:, 3:]) * flat[there]
        return seen.nearness

    def _shaded(self, camera: Camera, sun: SunView, shadow: Array, point: Array, n: Array, color: Array) -> Array:
        """The lights of the replay page: sun, sky and earth, a fill from the other side, a little gloss."""
        look, albedo = self._look, color**2.2
        view = camera.eye - point
        view /= np.linalg.norm(view, axis=1, keepdims=True)
        n = np.where(np.sum(n * view, axis=1, keepdims=True) < 0, -n, n)
        half = view + _SUN
        half /= np.linalg.norm(half, axis=1, keepdims=True)
        fill = np.array([-_SUN[0], -_SUN[1], 0.4])
        fill /= np.linalg.norm(fill)
        shade = _lit(sun, shadow, point + 0.012 * self.radius * n)
        key = np.maximum(n @ _SUN, 0) * shade
        rim = (1 - np.maximum(np.sum(n * view, axis=1), 0)) ** 4
        around = look["earth"] + (0.5 + 0.5 * n[:, 2:]) * (look["sky"] - look["earth"])
        light = 1.95 * key[:, None] * np.array([1.0, 0.97, 0.92]) + 0.62 * around
        light += 0.32 * np.maximum(n @ fill, 0)[:, None] * np.array([0.85, 0.92, 1.0])
        c = albedo * light + (0.28 * np.maximum(np.sum(n * half, axis=1), 0) ** 48 * shade)[:, None]
        c = 0.92 * (c + 0.16 * rim[:, None] * around)
        return np.clip((c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14), 0, 1) ** (1 / 2.2)


def _seen(solids: Sequence[Solid], view: Camera | SunView, width: int, height: int, depth: Array | None = None) -> Seen:
    """What a view sees of surfaces, where they are nearer than `depth`."""
    nearness = np.zeros(width * height) if depth is None else depth.copy()
    face, weight = np.full(width * height, -1, np.int64), np.zeros(2 * width * height)
    if solids:
        corners = np.concatenate([view.project(one.vertices)[one.faces] for one in solids])
        corners[~np.all(corners[..., 2] > 0, axis=1)] = 0.0  # behind the camera
        draw_triangles(len(corners), corners.reshape(-1).copy(), width, height, nearness, face, weight)
    return Seen(face, nearness, weight)


def _surface(solids: Sequence[Solid], seen: Seen, there: Array) -> tuple[Array, Array, Array]:
    """Places, normals and colours of what is seen at pixels."""
    starts = np.cumsum([0, *(len(one.vertices) for one in solids)])
    faces = np.concatenate([one.faces + start for one, start in zip(solids, starts, strict=False)])
    vertices, normals = (np.concatenate([getattr(one, name) for one in solids]) for name in ("vertices", "normals"))
    colors = np.concatenate([np.broadcast_to(one.color, (len(one.faces), 4)) for one in solids])
    own, (u, v) = faces[seen.face[there]], seen.weight.reshape(-1, 2)[there].T
    w = np.stack([u, v, 1 - u - v], axis=1)[..., None]
    unit = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    normal = np.sum(w * unit[own], axis=1)
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    return np.sum(w * vertices[own], axis=1), normal, colors[seen.face[there]]


def _lit(sun: SunView, shadow: Array, points: Array) -> Array:
    """How much of the sun reaches points, from 0 to 1: the mean of nine pixels of its view."""
    at = sun.project(points)
    inside = np.all((at[:, :2] >= 2) & (at[:, :2] < sun.size - 2), axis=1)
    lit = np.ones(len(points))
    x, y = at[inside, :2].astype(np.int64).T
    near = np.maximum(at[inside, 2] + 0.004, 0.0)
    total = sum(shadow[y + j, x + i] <= near for i in (-1, 0, 1) for j in (-1, 0, 1))
    lit[inside] = np.asarray(total) / 9
    return lit


def _grid(place: Array, size: float, pixel: Array, width: float) -> Array:
    """Lines of a grid, as wide as a pixel is there, fading where cells become as small as that."""
    thick = (pixel / size)[:, None]
    near = np.abs(np.mod(place[:, :2] / size - 0.5, 1.0) - 0.5)
    line = 1 - _smooth(width * thick * 0.5, width * thick * 0.5 + 1.5 * thick, near)
    return np.max(line * np.clip(1 - 3 * thick, 0, 1), axis=1)


def _smooth(low: Any, high: Any, x: Array) -> Array:
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)
