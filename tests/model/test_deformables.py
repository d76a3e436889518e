"""Deformable bodies as parts of models: meshes, builders, edits, files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import edit

E = kn.elements


def arm(name: str = "pad") -> kn.Model:
    b = kn.Builder("arm")
    b.body("upper", joint=kn.joints.Revolute("y"), inertia=kn.model.rod(1.0, 0.5, at=(0, 0, -0.25)), start=[0.4])
    b.body("tool", on="upper", at=dict(xyz=(0, 0, -0.5), rpy=(0.1, 0.2, 0.3)), inertia=kn.model.point_mass(0.2))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.deformable(
        name, mesh, material=E.NeoHookean(1e4, 0.3), density=800.0, on="tool", at=(0, 0, -0.05), damping=0.01,
        attach={"tool": mesh.where(lambda x, y, z: z > 0.049), "base": (0,)},
    )  # fmt: skip
    return b.build()


def test_json_holds_them(tmp_path: Any) -> None:
    model = arm()
    kn.save(model, tmp_path / "arm.json")
    again = kn.load(tmp_path / "arm.json")
    assert again == model
    assert again.content_hash == model.content_hash != model.without_deformables().content_hash
    cloth = kn.Builder("cloth")
    cloth.deformable("cloth", E.grid_mesh((1, 1), (2, 2)), material=E.StVenantKirchhoff(1e3), density=0.1, bending=1e-3)
    kn.save(cloth.build(), tmp_path / "cloth.json")
    assert kn.load(tmp_path / "cloth.json") == cloth.build()


def test_other_files_refuse_them(tmp_path: Any) -> None:
    for suffix in ("urdf", "xml"):
        with pytest.raises(kn.ModelError, match="pad"):
            kn.save(arm(), tmp_path / f"arm.{suffix}")


def test_attached_points_are_where_the_mesh_was() -> None:
    """In the start of the mechanism the nodes that frames carry are where the mesh has them."""
    model = arm()
    bodies = E.SoftBodies(model)
    x, u = bodies.start(kn.neutral(model), np.zeros(1))
    T = kn.pose(model, kn.neutral(model), "tool")
    rest = np.array(model.deformables[0].mesh.nodes) @ T[:3, :3].T + T[:3, 3]
    assert np.allclose(x, rest, atol=1e-14)
    assert not u.any()
    x, u = bodies.start([0.9], [2.0])
    free = bodies.is_free == 1
    T = kn.pose(model, [0.9], "tool")
    assert np.allclose(x[free], (np.array(model.deformables[0].mesh.nodes) @ T[:3, :3].T + T[:3, 3])[free], atol=1e-14)
    V = kn.velocity(model, [0.9], [2.0], "tool", expressed_in="aligned")
    assert np.allclose(u[free], (V[3:] + np.cross(V[:3], x - T[:3, 3]))[free], atol=1e-13)


@pytest.mark.slow
def test_they_go_along_with_edits() -> None:
    model = arm()
    renamed = edit.rename(model, bodies={"tool": "hand"}, elements={"pad": "tip"})
    assert renamed.deformables[0].name == "tip"
    assert renamed.deformables[0].frames == ("hand", "base")
    both = edit.merge(model, arm(), "upper", (1, 0, 0), prefix="second_")
    assert [x.name for x in both.deformables] == ["pad", "second_pad"]
    assert both.deformables[1].on == "second_tool"
    part = edit.submodel(model, "upper")
    assert not part.deformables  # it holds on to the base
    assert any(note.subject == "pad" for note in part.provenance.notes)
    motion = kn.simulate(model, None, None, 0.02, dt=0.005)
    again = kn.simulate(renamed, None, None, 0.02, dt=0.005)
    assert np.allclose(motion.nodes("pad"), again.nodes("tip"), atol=1e-12)


def test_meshes_say_what_is_wrong() -> None:
    with pytest.raises(kn.ModelError, match="three finite"):
        E.NodeMesh([(0, 0)], [(0, 1)])
    with pytest.raises(kn.ModelError, match=r"cells\[0\]"):
        E.NodeMesh([(0, 0, 0), (1, 0, 0)], [(0, 2)])
    with pytest.raises(kn.ModelError, match="same number"):
        E.NodeMesh([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 1), (0, 1, 2)])
    with pytest.raises(kn.ModelError, match="whole numbers"):
        E.box_mesh((1, 1, 1), (1, 0, 1))
    with pytest.raises(kn.ModelError, match="lengths"):
        E.grid_mesh((1, -1), (1, 1))
    flat = E.NodeMesh([(0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 1, 0)], [(0, 1, 2, 3)])
    b = kn.Builder("flat")
    b.deformable("flat", flat, material=E.NeoHookean(1.0), density=1.0)
    with pytest.raises(kn.ModelError, match="no volume"):
        E.SoftBodies(b.build())
    loose = E.NodeMesh([(0, 0, 0), (1, 0, 0), (2, 0, 0)], [(0, 1)])
    b = kn.Builder("loose")
    b.deformable("loose", loose, material=E.Hookean(1.0), density=1.0)
    with pytest.raises(kn.ModelError, match="node 2 belongs to no cell"):
        E.SoftBodies(b.build())


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"density": 0.0}, "density"),
        ({"damping": -1.0}, "damping"),
        ({"attach": {"nobody": (0,)}}, "nobody"),
        ({"attach": {"base": (99,)}}, "node 99"),
        ({"attach": {"base": (1, 1)}}, "attached twice"),
        ({"on": "nobody"}, "nobody"),
        ({"bending": 1.0}, "bending"),
        ({"material": E.Hookean(1.0)}, "Hookean"),
        ({"material": 3.0}, "material"),
        ({"mesh": 3.0}, "mesh"),
    ],
)
def test_builders_say_what_is_wrong(options: dict[str, Any], what: str) -> None:
    b = kn.Builder("wrong")
    given: dict[str, Any] = {"material": E.NeoHookean(1.0), "density": 1.0, "mesh": E.box_mesh((1, 1, 1), (1, 1, 1))}
    given |= options
    with pytest.raises(kn.ModelError, match=what):
        _build(b, **given)


def _build(b: kn.Builder, mesh: Any, **options: Any) -> kn.Model:
    b.deformable("block", mesh, **options)
    return b.build()


def test_materials_say_what_is_wrong() -> None:
    for wrong in ((0.0, 0.3), (1.0, 0.5), (1.0, -0.1)):
        with pytest.raises(ValueError, match=r"Young|Poisson"):
            E.NeoHookean(*wrong)
    with pytest.raises(ValueError, match="E="):
        E.Hookean(-1.0)


def test_nets_and_surfaces() -> None:
    mesh = E.box_mesh((1, 1, 1), (1, 1, 1))
    assert len(mesh.net.cells) == 18  # 12 edges and 6 diagonals
    assert len(mesh.surface) == 12
    assert E.chain_mesh(1.0, 3).surface == ()
    assert len(E.grid_mesh((1, 1), (2, 3)).surface) == 12
    quadratic = E.box_mesh((1, 1, 1), (1, 1, 1), quadratic=True)
    assert len(quadratic.nodes) == 8 + 18
    assert len(quadratic.surface) == 48
