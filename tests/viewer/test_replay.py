"""The replay file: alone in the world, small, and with the right numbers in it."""

import base64
import html
import json
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.testing import auto_tree
from knuckle.viewer import replay_html
from knuckle.viewer.scene.poses import poses


def swing(model: kn.Model, n: int = 61) -> tuple[kn.Model, np.ndarray, np.ndarray]:
    times = np.linspace(0.0, 1.0, n)
    dv = 0.5 * np.sin(3 * times[:, None] + np.arange(model.nv))
    return model, times, np.asarray(kn.integrate(model, np.broadcast_to(kn.neutral(model), (n, model.nq)), dv))


class Page:
    """A replay file taken apart again."""

    def __init__(self, file: Path) -> None:
        self.text = file.read_text("utf-8")
        self.header: Any = json.loads(self.part("header"))
        self.bytes = zlib.decompress(base64.b64decode(self.part("data")))

    def part(self, name: str) -> str:
        found = re.search(rf'<script type="[^"]*" id="{name}">(.*?)</script>', self.text, re.DOTALL)
        assert found is not None
        return found[1]

    def array(self, place: dict[str, Any]) -> np.ndarray:
        return np.frombuffer(self.bytes, f"<{place['kind']}", place["count"], place["start"]).astype(float)


def rotation(p: np.ndarray) -> np.ndarray:
    w, x, y, z = np.moveaxis(p, -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def test_the_file_needs_nothing_else(tmp_path: Path):
    file = replay_html(swing(kn.robots.load("arm")), tmp_path / "arm.html")
    assert file == tmp_path / "arm.html"
    text = Page(file).text
    assert not re.search(
        r"(?:src|href)\s*=|https?://|import\s*\(|fetch\s*\(|XMLHttpRequest|WebSocket|@import|url\(", text
    )
    assert "default-src 'none'" in text
    assert len(text) < 200_000
    assert not re.search(r"@[A-Z]+@", text)


@pytest.mark.parametrize("name", ["arm", "quadruped"])
def test_poses_in_the_file_are_those_of_the_library(name: str, tmp_path: Path):
    model, times, q = swing(kn.robots.load(name))
    page = Page(replay_html((model, times, q), tmp_path / "x.html"))
    (robot,) = page.header["robots"]
    assert robot["bodies"] == [model.base.name, *model.body_names]
    rows = page.array(robot["poses"]).reshape(len(times), -1, 7)
    T = poses(model, q)
    assert np.allclose(rows[..., 4:], T[..., :3, 3], atol=1e-6)
    assert np.allclose(rotation(rows[..., :4]), T[..., :3, :3], atol=1e-6)
    assert np.all(np.sum(rows[1:, :, :4] * rows[:-1, :, :4], axis=-1) > 0), "quaternions do not jump"
    assert np.allclose(page.array(robot["times"]), times, atol=1e-6)
    values = [page.array(line["values"]) for line in robot["joints"]]
    assert np.allclose(np.stack(values, -1), q, atol=1e-6)


def test_meshes_in_the_file_are_those_of_the_figure(tmp_path: Path):
    from knuckle.viewer.scene.figure import figure

    model = kn.robots.load("arm")
    page = Page(replay_html(swing(model), tmp_path / "x.html"))
    for part, saved in zip(figure(model).parts, page.header["robots"][0]["parts"], strict=True):
        vertices = page.array(saved["vertices"]).reshape(-1, 3) * saved["step"] + saved["low"]
        size = np.ptp(part.surface.vertices, axis=0).max()
        assert np.allclose(vertices, part.surface.vertices, atol=size / 65535)
        assert np.array_equal(page.array(saved["faces"]).reshape(-1, 3), part.surface.faces)
        assert saved["body"] == part.body + 1


def test_long_motions_are_thinned(tmp_path: Path):
    model = kn.robots.load("pendulum")
    page = Page(replay_html(swing(model, 5001), tmp_path / "x.html", rate=30.0))
    assert page.header["robots"][0]["times"]["count"] == 31


def test_energies(tmp_path: Path):
    model, times, q = swing(kn.robots.load("arm"))
    v = np.zeros((len(times), 7))
    (robot,) = Page(replay_html((model, times, q, v), tmp_path / "x.html")).header["robots"]
    assert [line["name"] for line in robot["energies"]] == ["kinetic", "potential", "total"]
    (robot,) = Page(replay_html((model, times, q), tmp_path / "x.html")).header["robots"]
    assert [line["name"] for line in robot["energies"]] == ["potential"]


def test_names_cannot_break_out(tmp_path: Path):
    arm = kn.robots.load("arm")
    evil = "</script><script>alert(1)</script> @DATA@ @"
    model = arm.replace(name=evil)
    page = Page(replay_html(swing(model), tmp_path / "x.html"))
    assert page.header["title"] == evil
    assert f"<title>{html.escape(evil)}</title>" in page.text
    assert page.text.count("<script") == 3


def test_the_ground_is_under_everything(tmp_path: Path):
    standing = Page(replay_html(swing(kn.robots.load("arm")), tmp_path / "a.html")).header
    assert standing["ground"] == 0.0
    hanging = Page(replay_html(swing(kn.robots.load("double_pendulum")), tmp_path / "b.html")).header
    assert hanging["ground"] < -0.5


def test_robots_stand_side_by_side_or_in_one_place(tmp_path: Path):
    two = [swing(kn.robots.load("arm")), swing(kn.robots.load("arm"))]

    def between(**options: Any) -> float:
        page = Page(replay_html(two, tmp_path / "x.html", **options))
        a, b = (page.array(robot["poses"])[5] for robot in page.header["robots"])  # y of the base
        return b - a

    assert between() > 0.3
    assert between(spacing=2.5) == pytest.approx(2.5)
    assert between(spacing=0.0) == 0.0


def test_gravity_is_down_on_the_page(tmp_path: Path):
    """A model whose gravity is along −y stands upright all the same."""
    model, times, q = swing(auto_tree(2).with_gravity((0.0, -9.81, 0.0)))
    page = Page(replay_html((model, times, q), tmp_path / "x.html"))
    base = page.array(page.header["robots"][0]["poses"])[:4]
    assert np.allclose(rotation(base) @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], atol=1e-6)


def test_a_missing_mesh_is_a_warning(tmp_path: Path):
    from knuckle.model import Body, Geometry, Mesh

    arm, times, q = swing(kn.robots.load("arm"))
    lost = Body(arm.base.name, arm.base.inertia, (Geometry(Mesh("lost.stl")),))
    with pytest.warns(UserWarning, match=r"box of its inertia: the mesh lost\.stl was not found"):
        replay_html((arm.replace(base=lost), times, q), tmp_path / "x.html")


def test_what_is_refused(tmp_path: Path):
    motion = swing(kn.robots.load("pendulum"))
    with pytest.raises(ValueError, match="rate is a number of moments per second above zero, not 0"):
        replay_html(motion, tmp_path / "x.html", rate=0)
    with pytest.raises(ValueError, match='theme is "light", "dark" or None'):
        replay_html(motion, tmp_path / "x.html", theme="blue")  # type: ignore[arg-type]
    with pytest.raises(FileNotFoundError):
        replay_html(motion, tmp_path / "no" / "x.html")
    with pytest.raises(TypeError, match="a trajectory or a tuple"):
        replay_html("motion", tmp_path / "x.html")
    assert not (tmp_path / "x.html").exists()
