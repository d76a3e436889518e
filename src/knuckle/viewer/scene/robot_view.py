"""A robot in a viser scene: its surfaces on its bodies, and what can be shown besides."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from knuckle.elements.deformables.soft_bodies import SoftBodies
from knuckle.functions import center_of_mass, total_mass

from .element_lines import element_lines
from .ellipsoids import principal
from .figure import Figure, collision_parts
from .force_arrows import SLIP_COLOR, STICK_COLOR
from .poses import frames, poses, quaternions
from .skeleton import joint_axes
from .soft_skin import SoftSkin, soft_skins
from .triangles import Array, ellipsoid, strut

_COM_COLOR, _INERTIA_COLOR, _AXIS_COLOR = (245, 190, 40), (60, 140, 210), (225, 95, 30)
_COLLISION_COLOR, _TRAIL_COLOR = (70, 170, 110), (217, 102, 31)
_TRAIL = 600
"""Points of a trail; older ones are forgotten."""
_ROOM = 64
"""Pieces of lines for which there is room at a time."""
_FAINT = 0.35
"""Opacity of surfaces that are to be seen through."""


class RobotView:
    """The nodes of one robot: one per body, moved by `show`; under them surfaces, frames, ellipsoids, axes and names.

    What is shown besides the surfaces is made when it is first asked for.
    """

    def __init__(self, server: Any, figure: Figure, placement: Array, name: str, size: float) -> None:
        self.server, self.figure, self.placement, self.name, self.size = server, figure, placement, name, size
        self.model = figure.model
        scene = server.scene
        count = self.model.nb + 1
        self.bodies = [scene.add_frame(f"{name}/body{i}", show_axes=False) for i in range(count)]
        self.meshes: list[tuple[int, Any]] = []
        for k, part in enumerate(figure.parts):
            *color, opacity = part.color
            mesh = scene.add_mesh_simple(
                f"{name}/body{part.body + 1}/part{k}",
                part.surface.vertices.astype(np.float32),
                part.surface.faces.astype(np.uint32),
                color=tuple(color),
                opacity=None if opacity >= 1 else opacity,
                side="double",
            )
            self.meshes.append((part.body, mesh))
        self.skins = soft_skins(self.model)
        self.soft = [self._soft_mesh(k, skin) for k, skin in enumerate(self.skins)]
        self.bodies_at_rest = SoftBodies(self.model) if self.skins else None
        self.extras: dict[str, list[Any]] = {}
        self.com: Any = None
        self.pushes: dict[str, Any] = {}
        self.shows_pushes = True
        self.lines: Any = None
        self.shows_lines, self.tautest = True, 0.0
        self.poses = np.broadcast_to(np.eye(4), (count, 4, 4))
        self.trail: deque[Array] = deque(maxlen=_TRAIL)
        self.trail_frame: tuple[int, Array] | None = None
        self.trail_node: Any = None

    def show(self, q: Array, v: Array | None = None) -> None:
        """Puts every body where positions `q` have it, and lines with them.

        These have the colours of their tensions while it moves with `v`, by the largest that was seen.
        """
        T = poses(self.model, q)
        self.show_poses(T, q)
        moving = None if v is None else np.asarray(v, float)[None]
        drawn = element_lines(self.model, np.asarray(q, float)[None], moving, T[None], self.size, most=self.tautest)
        if drawn is not None:
            self.tautest = drawn.most
            self.show_lines(*drawn.at(0))
        if self.bodies_at_rest is not None:
            self.show_nodes(self.bodies_at_rest.start(q, np.zeros(self.model.nv))[0])

    def show_poses(self, T: Array, q: Array) -> None:
        """Puts the bodies at poses (1 + nb, 4, 4) that belong to positions `q`."""
        self.poses = self.placement @ T
        W = quaternions(self.poses[:, :3, :3])
        with self.server.atomic():
            for node, w, pose in zip(self.bodies, W, self.poses, strict=True):
                node.wxyz, node.position = w, pose[:3, 3]
            if self.com is not None and self.com.visible:
                self.com.position = self.to_world(self._center(q))
        self._extend_trail()

    def start_trail(self, name: str | None) -> None:
        """Draws where a frame goes from now on; None takes the trail away."""
        chosen = None if name is None else next((body, T[:3, 3]) for n, body, T in frames(self.model) if n == name)
        self.trail_frame = chosen
        self.clear_trail()

    def clear_trail(self) -> None:
        """Begins the trail anew."""
        self.trail.clear()
        if self.trail_node is not None:
            self.trail_node.visible = False

    def _extend_trail(self) -> None:
        """A piece more, where the frame has moved."""
        if self.trail_frame is None:
            return
        body, place = self.trail_frame
        T = self.poses[body + 1]
        here = T[:3, :3] @ place + T[:3, 3]
        if self.trail and np.linalg.norm(here - self.trail[-1]) < 2e-3 * self.size:
            return
        self.trail.append(here)
        if len(self.trail) > 1:
            points = np.array(self.trail, np.float32)
            ends = np.stack([points[:-1], points[1:]], axis=1)
            if self.trail_node is not None:
                self.trail_node.remove()
            self.trail_node = self.server.scene.add_line_segments(
                f"{self.name}/trail", ends, _TRAIL_COLOR, thickness=0.008 * self.size
            )

    def show_nodes(self, x: Array) -> None:
        """Draws the deformable bodies with their nodes (n, 3) at places in base coordinates."""
        there = x @ self.placement[:3, :3].T + self.placement[:3, 3]
        with self.server.atomic():
            for skin, mesh in zip(self.skins, self.soft, strict=True):
                mesh.vertices = skin.vertices(there).astype(np.float32)

    def _soft_mesh(self, k: int, skin: SoftSkin) -> Any:
        vertices, faces = np.zeros((len(skin.node), 3), np.float32), skin.faces.astype(np.uint32)
        color: Any = skin.color[:3]
        return self.server.scene.add_mesh_simple(f"{self.name}/soft{k}", vertices, faces, color=color, side="double")

    def show_forces(self, tail: Array, way: Array, slides: Array) -> None:
        """Draws forces of contacts as arrows from their points; those that slide in another colour."""
        R = self.placement[:3, :3]
        ends = np.stack([tail, tail + way], axis=1) @ R.T + self.placement[:3, 3]
        for color, chosen in ((STICK_COLOR, ~slides), (SLIP_COLOR, slides)):
            points = ends[chosen].astype(np.float32)
            visible = self.shows_pushes and bool(len(points))
            if color not in self.pushes:
                if not visible:
                    continue
                rgb = tuple((int(color[k : k + 2], 16) / 255) ** 2.2 for k in (1, 3, 5))  # arrows take linear colours
                r = 0.009 * self.size
                self.pushes[color] = self.server.scene.add_arrows(
                    f"{self.name}/forces{color}", points, rgb, shaft_radius=r, head_radius=2.4 * r, head_length=4.5 * r
                )
            elif visible:
                self.pushes[color].points = points
            if self.pushes[color].visible != visible:
                self.pushes[color].visible = visible

    def show_lines(self, ends: Array, color: Array, width: float) -> None:
        """Draws springs, cables and muscles: pieces (m, 2, 3) with their colours (m, 3).

        A node has room for some more, which are points: where arcs grow, it is not made anew at every moment.
        """
        room = 0 if self.lines is None else len(self.lines.points)
        more = room - len(ends) if room >= len(ends) else -len(ends) % _ROOM
        ends = np.concatenate([ends, ends[:1, [0, 0]].repeat(more, 0)])
        color = np.concatenate([color, color[:1].repeat(more, 0)])
        points = (ends @ self.placement[:3, :3].T + self.placement[:3, 3]).astype(np.float32)
        colors = np.rint(255 * np.repeat(color[:, None], 2, axis=1)).astype(np.uint8)
        if self.lines is not None and self.lines.points.shape == points.shape:
            with self.server.atomic():
                self.lines.points = points
                if not np.array_equal(self.lines.colors, colors):
                    self.lines.colors = colors
        else:
            self.lines = self.server.scene.add_line_segments(
                f"{self.name}/lines", points, colors, thickness=width, visible=self.shows_lines
            )
        if self.lines.visible != self.shows_lines:
            self.lines.visible = self.shows_lines

    def to_world(self, p: Array) -> Array:
        """A point of the robot's base in the scene."""
        return self.placement[:3, :3] @ p + self.placement[:3, 3]

    def to_base(self, p: Array) -> Array:
        """A point of the scene in the robot's base."""
        return self.placement[:3, :3].T @ (np.asarray(p, float) - self.placement[:3, 3])

    def _center(self, q: Array) -> Array:
        c = np.asarray(center_of_mass(self.model, q), float)
        return np.append(c, 0.0) if len(c) == 2 else c

    # what can be shown besides

    def toggle(self, what: str, on: bool, q: Array) -> None:
        """Shows or hides "surfaces", "lines", "frames", "names", "centre of mass", "inertia", "joint axes",
        "collision shapes".

        Or makes surfaces "see-through".
        """
        if what == "surfaces":
            for mesh in (*(mesh for _, mesh in self.meshes), *self.soft):
                mesh.visible = on
            return
        if what == "lines":
            self.shows_lines = on
            if self.lines is not None:
                self.lines.visible = on
            return
        if what == "see-through":
            for part, (_, mesh) in zip(self.figure.parts, self.meshes, strict=True):
                opacity = _FAINT if on else part.color[3]
                mesh.opacity = None if opacity >= 1 else opacity
            return
        if what not in self.extras and on:
            made = {
                "frames": self._frames, "names": self._names, "centre of mass": self._com, "inertia": self._inertia,
                "joint axes": self._axes, "collision shapes": self._collisions,
            }  # fmt: skip
            self.extras[what] = made[what]()
        for node in self.extras.get(what, ()):
            node.visible = on
        if what == "centre of mass" and self.com is not None:
            self.com.position = self.to_world(self._center(q))

    def _frames(self) -> list[Any]:
        made = []
        for k, (_, body, T) in enumerate(frames(self.model)):
            length = (0.10 if k <= self.model.nb else 0.06) * self.size
            node = self.server.scene.add_frame(
                f"{self.name}/body{body + 1}/frame{k}",
                axes_length=length, axes_radius=0.035 * length, origin_radius=0.07 * length,
                wxyz=quaternions(T[:3, :3]), position=T[:3, 3],
            )  # fmt: skip
            made.append(node)
        return made

    def _names(self) -> list[Any]:
        scene, bodies = self.server.scene, (self.model.base, *self.model.bodies)
        return [
            scene.add_label(f"{self.name}/body{i}/name", body.name, anchor="bottom-center")
            for i, body in enumerate(bodies)
        ]

    def _com(self) -> list[Any]:
        if not total_mass(self.model) > 0:
            return []
        radius = 0.035 * self.size
        self.com = self.server.scene.add_icosphere(
            f"{self.name}/com", radius=radius, color=_COM_COLOR, cast_shadow=False
        )
        return [self.com]

    def _collisions(self) -> list[Any]:
        parts, _ = collision_parts(self.model)
        return [
            self._mesh(f"{self.name}/body{part.body + 1}/collision{k}", part.surface, _COLLISION_COLOR, 0.45)
            for k, part in enumerate(parts)
        ]

    def _inertia(self) -> list[Any]:
        made = []
        for i, body in enumerate((self.model.base, *self.model.bodies)):
            solid = principal(body.inertia)
            if solid is not None and i > 0:
                shape = ellipsoid(np.maximum(solid.radii, 0.01 * self.size)).moved(solid.pose)
                made.append(self._mesh(f"{self.name}/body{i}/inertia", shape, _INERTIA_COLOR, 0.45))
        return made

    def _axes(self) -> list[Any]:
        made = []
        for i, joint in enumerate(self.model.joints):
            for n, (turning, sliding) in enumerate(joint_axes(joint.type)):
                axis = turning if np.linalg.norm(turning) > 0 else sliding
                half = 0.16 * self.size * axis / np.linalg.norm(axis)
                line = strut(-half, half, 0.008 * self.size)
                made.append(self._mesh(f"{self.name}/body{i + 1}/axis{n}", line, _AXIS_COLOR, None))
        return made

    def _mesh(self, name: str, surface: Any, color: tuple[int, int, int], opacity: float | None) -> Any:
        vertices, faces = surface.vertices.astype(np.float32), surface.faces.astype(np.uint32)
        return self.server.scene.add_mesh_simple(name, vertices, faces, color=color, opacity=opacity, cast_shadow=False)
