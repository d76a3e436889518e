"""Deformable bodies as they are drawn, live and in replays."""

from __future__ import annotations

from typing import Any

import numpy as np

import knuckle as kn
from knuckle.viewer.live.live_mechanism import Live
from knuckle.viewer.recording import recordings
from knuckle.viewer.scene.soft_skin import node_places, soft_skins

E = kn.elements


def scene() -> kn.Model:
    b = kn.Builder("scene")
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.rod(1.0, 0.3, at=(0, 0, -0.15)))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.deformable(
        "block", mesh, material=E.NeoHookean(1e4), density=500.0, on="arm", at=(0, 0, -0.35),
        attach={"arm": mesh.where(lambda x, y, z: z > 0.049)},
    )  # fmt: skip
    b.deformable("rope", E.chain_mesh(0.2, 2), material=E.Hookean(10.0), density=0.1, attach={"base": (0,)})
    return b.build()


def test_skins_follow_nodes() -> None:
    model = scene()
    block, rope = soft_skins(model)
    places = node_places(model, np.array([[0.4]]), None)
    assert places is not None
    x = places[0]
    corners = block.vertices(x)
    assert {tuple(np.round(p, 9)) for p in corners} == {tuple(np.round(p, 9)) for p in x[:8]}
    faces = corners[block.faces]
    volume = np.einsum("ti,ti->", faces[:, 0], np.cross(faces[:, 1], faces[:, 2])) / 6
    assert abs(volume - 1e-3) < 1e-9
    around = rope.vertices(x).reshape(3, 6, 3)
    assert np.allclose(around.mean(axis=1), x[8:], atol=1e-12)


def test_replays_have_them_at_every_moment(tmp_path: Any) -> None:
    motion = kn.simulate(scene(), [0.5], None, 0.05, dt=0.01)
    page = kn.viewer.replay_html(motion, tmp_path / "soft.html").read_text("utf-8")
    assert '"moments":4' in page
    assert '"block","rope"' in page
    (recording,) = recordings(motion)
    assert np.allclose(recording.energies()["total"], motion.energy, rtol=1e-12)
    half = recording.at([0.0, 0.025])
    assert half.nodes is not None
    assert half.nodes.x.shape[0] == 2


def test_they_live() -> None:
    """The live simulation moves their nodes, and their energy is counted."""
    live = Live(scene(), [0.8])
    live.prepare()
    live.advance(0.02)
    assert live.nodes is not None
    assert live.nodes.shape == (11, 3)
    assert live.q[0] < 0.8
    live.gravity = False
    live.advance(0.01)
    live.reset()
    assert live.nodes is None
