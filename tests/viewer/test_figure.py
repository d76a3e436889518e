"""Figures: from visuals, from mesh files of several kinds, or from inertia and joint axes."""

from pathlib import Path

import numpy as np
import pytest
import trimesh

import knuckle as kn
from knuckle.joints import Prismatic, Revolute, Spherical
from knuckle.model import ROOT, Body, Cylinder, Geometry, HeightField, Material, Mesh, Model
from knuckle.testing import general_chain, random_tree
from knuckle.viewer.scene.figure import MISSING, Figure, figure
from knuckle.viewer.scene.mesh_file import read
from knuckle.viewer.scene.skeleton import joint_axes
from knuckle.viewer.scene.stage import stage
from knuckle.viewer.scene.triangles import box


def with_visuals(*visuals: Geometry) -> Model:
    """The arm with the visuals of its first body replaced, and no others."""
    arm = kn.robots.load("arm")
    bodies = [Body(body.name, body.inertia, visuals if i == 0 else ()) for i, body in enumerate(arm.bodies)]
    return arm.replace(bodies=tuple(bodies), base=Body(arm.base.name, arm.base.inertia))


def test_visuals_are_drawn_where_and_as_the_model_has_them():
    arm = kn.robots.load("arm")
    made = figure(arm)
    assert made.problems == ()
    visuals = [(i, v) for i, body in enumerate((arm.base, *arm.bodies), ROOT) for v in body.visuals]
    assert len(made.parts) == len(visuals)
    for part, (body, visual) in zip(made.parts, visuals, strict=True):
        assert part.body == body
        assert visual.material is not None
        assert part.color == visual.material.color
        assert np.allclose(part.surface.bounds.mean(axis=0), np.array(visual.X.r, float), atol=1e-9)
        if isinstance(visual.shape, Cylinder):
            axis = np.array(visual.X.E, float)[2]
            reach = (part.surface.vertices - np.array(visual.X.r, float)) @ axis
            assert np.ptp(reach) == pytest.approx(visual.shape.length)


@pytest.mark.parametrize("suffix", ["stl", "obj", "ply", "dae"])
def test_mesh_files(suffix: str, tmp_path: Path):
    file = tmp_path / f"solid.{suffix}"
    trimesh.creation.box((0.2, 0.4, 0.6)).export(file)
    model = with_visuals(
        Geometry(Mesh("solid", (2.0, 1.0, 1.0), str(file)), material=Material("", (0.1, 0.2, 0.3, 1.0)))
    )
    (part,) = figure(model).parts
    assert np.allclose(np.ptp(part.surface.vertices, axis=0), (0.4, 0.4, 0.6), atol=1e-6)
    assert part.body == 0


def test_a_mesh_file_in_millimetres_is_scaled_by_what_it_says(tmp_path: Path):
    file = tmp_path / "solid.dae"
    trimesh.creation.box((200.0, 400.0, 600.0)).export(file)
    text = file.read_text()
    start, end = text.index("<asset>"), text.index("</asset>")
    asset = '<unit name="millimeter" meter="0.001"/>'
    body = "".join(line for line in text[start:end].splitlines(keepends=True) if "<unit" not in line)
    file.write_text(text[:start] + body + asset + text[end:])
    ((surface, _),) = read(str(file))
    assert np.allclose(np.ptp(surface.vertices, axis=0), (0.2, 0.4, 0.6), atol=1e-6)


def test_the_colours_of_a_mesh_file_count_first(tmp_path: Path):
    (tmp_path / "m.mtl").write_text("newmtl red\nKd 0.9 0.1 0.2\nnewmtl blue\nKd 0.1 0.2 0.9\n")
    lines = [f"v {x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1)]
    faces = ["usemtl red", "f 1 2 4", "f 1 4 3", "usemtl blue", "f 5 7 8", "f 5 8 6"]
    file = tmp_path / "two.obj"
    file.write_text("\n".join(["mtllib m.mtl", *lines, *faces, ""]))
    own = Geometry(Mesh("two", path=str(file)), material=Material("", (0.0, 1.0, 0.0, 1.0)))
    colors = {tuple(round(x, 1) for x in part.color) for part in figure(with_visuals(own)).parts}
    assert colors == {(0.9, 0.1, 0.2, 1.0), (0.1, 0.2, 0.9, 1.0)}


def test_a_missing_mesh_is_a_box_of_the_inertia_and_is_reported_once():
    lost = Geometry(Mesh("package://robot/lost.stl"))
    model = with_visuals(lost, lost)
    made = figure(model)
    (part,) = made.parts
    (problem,) = made.problems
    assert "'turret'" in problem
    assert "package://robot/lost.stl was not found" in problem
    assert part.color == MISSING
    com = np.array([float(x) for x in model.bodies[0].inertia.com])
    assert np.allclose(part.surface.vertices.mean(axis=0), com, atol=1e-9)


def test_a_body_with_other_visuals_gets_no_box():
    made = figure(with_visuals(Geometry(Mesh("lost.stl")), Geometry(Cylinder(0.1, 0.2))))
    (part,) = made.parts
    (problem,) = made.problems
    assert np.allclose(np.ptp(part.surface.vertices, axis=0), (0.2, 0.2, 0.2))
    assert "drawn without a part of it" in problem


@pytest.mark.parametrize("content", [b"", b"not a mesh", b"solid x\nendsolid x\n"])
def test_a_broken_mesh_file_is_a_problem_and_no_end(content: bytes, tmp_path: Path):
    file = tmp_path / "broken.stl"
    file.write_bytes(content)
    (problem,) = figure(with_visuals(Geometry(Mesh("broken", path=str(file))))).problems
    assert "broken.stl" in problem


@pytest.mark.parametrize("seed", range(3))
def test_a_model_without_visuals_gets_a_skeleton(seed: int):
    model = random_tree(seed, 7)
    made = figure(model)
    assert {part.body for part in made.parts} == set(range(model.nb))
    assert all(np.all(np.isfinite(part.surface.vertices)) for part in made.parts)


def test_a_model_without_visuals_keeps_its_skeleton_on_terrain():
    chain = general_chain(3)
    hills = Body(chain.base.name, chain.base.inertia, (Geometry(HeightField(((0.0, 1.0), (1.0, 0.0)), (1.0, 1.0))),))
    bare, drawn = figure(chain), figure(chain.replace(base=hills))
    assert len(drawn.parts) == len(bare.parts) + 1
    assert [len(part.surface.faces) for part in drawn.parts if part.body == ROOT] == [2]


def test_the_skeleton_reaches_from_joint_to_joint():
    model = general_chain(3)
    made = figure(model)
    struts = [part for part in made.parts if part.name.endswith("/strut")]
    for part in struts:
        for child in model.children(part.body):
            end = np.array([float(x) for x in model.X_tree[child].r])
            assert np.linalg.norm(part.surface.vertices - end, axis=-1).min() < 0.2 * np.linalg.norm(end) + 1e-9


def test_joint_axes():
    ((turning, sliding),) = joint_axes(Revolute((0.0, 3.0, 4.0)))
    assert np.allclose(turning, (0, 0.6, 0.8))
    assert np.allclose(sliding, 0)
    ((turning, sliding),) = joint_axes(Prismatic("x"))
    assert np.allclose(turning, 0)
    assert np.allclose(sliding, (1, 0, 0))
    assert len(joint_axes(Spherical())) == 3


def test_bounds_follow_the_motion():
    arm = kn.robots.load("arm")
    made = figure(arm)
    q = kn.neutral(arm)
    low, high = made.bounds(q)
    bent = q.copy()
    bent[1] = np.pi / 2
    assert high[2] > 1.2
    assert np.abs(made.bounds(bent)[:, :2]).max() > 0.9
    both = made.bounds(np.stack([q, bent]))
    assert np.allclose(both[0], np.minimum(low, made.bounds(bent)[0]))


def test_too_many_triangles_are_made_fewer(tmp_path: Path):
    file = tmp_path / "ball.stl"
    trimesh.creation.icosphere(subdivisions=5, radius=0.1).export(file)
    model = with_visuals(Geometry(Mesh("ball", path=str(file))))
    assert len(figure(model).parts[0].surface.faces) == 20480
    (part,) = figure(model, 2000).parts
    assert len(part.surface.faces) <= 2000
    assert np.allclose(part.surface.bounds, [[-0.1] * 3, [0.1] * 3], atol=2e-3)


def test_an_empty_figure_has_a_box():
    empty = Figure(general_chain(1), ())
    assert np.allclose(empty.bounds(np.zeros(1)), [[-0.5] * 3, [0.5] * 3])
    assert len(box((1, 1, 1)).faces) == 12


@pytest.mark.parametrize(
    ("normal", "height", "expected"), [((0, 0, 1), -0.3, -0.3), ((0, 0, 1), 0.2, 0.2), ((1, 0, 1), 0.2, 0.0)]
)
def test_the_grid_is_where_level_ground_is(normal: tuple[float, float, float], height: float, expected: float):
    arm = kn.robots.load("arm")
    drawn = figure(kn.model.edit.with_ground(arm, height, normal))
    assert len(drawn.parts) == len(figure(arm).parts)
    assert stage([drawn], [kn.neutral(arm)]).ground == pytest.approx(expected)


def four_bar() -> Model:
    """Of bars without visuals."""
    b = kn.Builder("four bar")
    for name, on, at, length, way in (
        ("crank", None, (0, 0, 0), 0.1, (0, 0, 1)),
        ("coupler", "crank", (0, 0, 0.1), 0.3, (1, 0, 0)),
        ("rocker", None, (0.3, 0, 0), 0.2, (0, 0, 1)),
    ):
        com = tuple(0.5 * length * x for x in way)
        b.body(name, on=on, at=at, joint=Revolute("y"), mass=1.0, com=com, inertia=(0.003, 0.003, 0.003))
    b.close_loop("pin", Revolute("y"), "coupler", "rocker", (0.3, 0, 0), (0, 0, 0.2))
    return b.build()


def test_links_of_a_loop_go_from_pin_to_pin():
    """A bar for each link and for the ground, as long as the link, and a pin where the loop is closed."""
    model = four_bar()
    parts = figure(model).parts
    bars = {part.name: part for part in parts if part.name.endswith(("/strut", "/link"))}
    lengths = {name: float(np.ptp(part.surface.vertices, axis=0).max()) for name, part in bars.items()}
    assert lengths == pytest.approx(
        {"crank/strut": 0.1, "coupler/strut": 0.3, "rocker/strut": 0.2, "base/link": 0.3}, abs=0.02
    )
    (pin,) = [part for part in parts if part.name == "pin"]
    assert pin.body == model.body_index("coupler")
    assert np.allclose(pin.surface.bounds.mean(axis=0), (0.3, 0, 0), atol=1e-9)
    assert not [part for part in parts if part.name.endswith("/inertia")]
