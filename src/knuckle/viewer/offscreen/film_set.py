"""A scene of recorded motions, drawn at any moment of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from knuckle.functions import center_of_mass, pose
from knuckle.viewer.recording import Recording
from knuckle.viewer.scene.element_lines import ElementLines, rgb
from knuckle.viewer.scene.figure import Figure, figure
from knuckle.viewer.scene.force_arrows import SLIP_COLOR, STICK_COLOR, ForceArrows, moving_size
from knuckle.viewer.scene.poses import in_space
from knuckle.viewer.scene.slopes import with_slopes
from knuckle.viewer.scene.soft_skin import SoftSkin, reach, soft_skins
from knuckle.viewer.scene.stage import Stage, stage
from knuckle.viewer.scene.triangles import Array

from .drawn_solids import Solid, arrows, rods, solid
from .renderer import Renderer

_TRAIL = 0.004
"""Half the width of a trail, in parts of the scene's size."""
_TRAIL_COLORS = ("#d9661f", "#2b7fb8", "#2f9e6e", "#c2455c", "#7a5fb5")


@dataclass(frozen=True, eq=False)
class Actor:
    """One robot of a film: its surfaces in body coordinates, and where everything is at every moment."""

    motion: Recording
    placement: Array
    solids: tuple[tuple[int, Solid], ...]
    """(body + 1, surface)"""
    poses: Array
    skins: Sequence[SoftSkin]
    nodes: Array | None
    arrows: ForceArrows | None
    lines: ElementLines | None
    trails: tuple[Array, ...]
    """(n, 3) each, in the scene"""
    middle: Array
    """(n, 3): the centre of mass, in the scene"""

    def at(self, k: int, width: float) -> list[Solid]:
        """Everything of it at one moment, in the scene."""
        drawn = [one.moved(self.placement @ self.poses[k, body]) for body, one in self.solids]
        R, p = self.placement[:3, :3], self.placement[:3, 3]
        if self.nodes is not None:
            drawn += [solid(skin.vertices(self.nodes[k]) @ R.T + p, skin.faces, skin.color) for skin in self.skins]
        if self.lines is not None:
            ends, color, thick = self.lines.at(k)
            if len(ends):
                drawn.append(rods(ends @ R.T + p, np.full((len(ends), 2), 0.5 * thick), color))
        if self.arrows is not None:
            tail, way, slides = self.arrows.at(k)
            colors = np.where(slides[:, None], rgb(SLIP_COLOR), rgb(STICK_COLOR))
            drawn += arrows(tail @ R.T + p, way @ R.T, 0.036 * self.arrows.length, colors)
        for trail, color in zip(self.trails, _TRAIL_COLORS, strict=False):
            past = trail[: k + 1]
            if len(past) > 1:
                ends = np.stack([past[:-1], past[1:]], axis=1)
                drawn.append(rods(ends, np.full((len(ends), 2), width), np.tile(rgb(color), (len(ends), 1))))
        return drawn


@dataclass(frozen=True, eq=False)
class FilmSet:
    """Robots on one ground before a camera."""

    actors: tuple[Actor, ...]
    stage: Stage
    renderer: Renderer
    problems: tuple[str, ...]

    @property
    def span(self) -> tuple[float, float]:
        """The first and the last moment, in seconds."""
        times = [actor.motion.times for actor in self.actors]
        return min(float(t[0]) for t in times), max(float(t[-1]) for t in times)

    def picture(self, time: float, follow: bool = False) -> Array:
        """(height, width, 3): the scene at a moment. The camera goes along with the robots, if it is to `follow`."""
        drawn: list[Solid] = []
        middles: list[Array] = []
        for actor in self.actors:
            times = actor.motion.times
            k = int(np.clip(np.searchsorted(times, time + 1e-9, side="right") - 1, 0, len(times) - 1))
            drawn += actor.at(k, _TRAIL * self.stage.radius)
            middles.append(actor.middle[k] - actor.middle[0])
        away = np.mean(middles, axis=0) * [1.0, 1.0, 0.0] if follow else np.zeros(3)
        return self.renderer.draw(drawn, self.renderer.target + away)


def film_set(
    motions: Sequence[Recording],
    size: tuple[int, int],
    most_faces: int,
    spacing: float | None,
    theme: Literal["light", "dark"],
    contacts: bool,
    trails: Sequence[str],
    follow: bool = False,
) -> FilmSet:
    """The scene of motions, seen from where a replay sees it; with `follow`, from as near as a moment allows."""
    nodes = [one.node_places() for one in motions]
    drawn = [replace(figure(one.model, most_faces), reach=reach(x)) for one, x in zip(motions, nodes, strict=True)]
    samples = [one.q[:1] if follow else one.q[:: max(1, len(one.q) // 200)] for one in motions]
    figures = [with_slopes(one, motion.q) for one, motion in zip(drawn, motions, strict=True)]
    on = stage(figures, samples, spacing)
    width, height = size
    renderer = Renderer(on.eye(width / height), on.centre, width, height, on.ground, on.cell, on.radius, theme)
    parts = zip(motions, figures, on.placements, nodes, strict=True)
    actors = tuple(_actor(*each, contacts, trails) for each in parts)
    problems = dict.fromkeys(problem for one in figures for problem in one.problems)
    return FilmSet(actors, on, renderer, tuple(problems))


def _actor(
    motion: Recording, drawn: Figure, placement: Array, nodes: Array | None, contacts: bool, trails: Sequence[str]
) -> Actor:
    model, size = motion.model, moving_size(drawn, motion.q[0])
    solids = tuple(
        (part.body + 1, solid(part.surface.vertices, part.surface.faces, part.color))
        for part in drawn.parts
        if len(part.surface.faces)
    )
    R, p = placement[:3, :3], placement[:3, 3]
    paths = tuple(_path(motion, name) @ R.T + p for name in trails)
    c = np.asarray(center_of_mass(model, motion.q), float) if model.nb else np.zeros((len(motion.times), 3))
    c = np.column_stack([c, np.zeros(len(c))]) if c.shape[-1] == 2 else c
    middle = np.where(np.isfinite(c), c, 0.0) @ R.T + p
    pushes = motion.arrows(size) if contacts else None
    return Actor(
        motion, placement, solids, motion.poses(), soft_skins(model), nodes, pushes, motion.lines(size), paths, middle
    )


def _path(motion: Recording, name: str) -> Array:
    """(n, 3): where a frame is over time, in base coordinates."""
    motion.model.frame(name)  # says which there are
    return in_space(np.asarray(pose(motion.model, motion.q, name), float))[:, :3, 3]
