"""Loops in files: our element in URDF, JSON, and MuJoCo's equality constraints, in and out."""

from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Continuous, Cylindrical, Fixed, Joint, Planar, Prismatic, Revolute, Spherical, Universal
from knuckle.testing.loops.linkages import LINKAGES, Linkage
from knuckle.testing.mechanisms import random_inertia, random_transform

from .oracle import allowed

KINDS = [
    Revolute((0.6, 0.0, 0.8)), Continuous("y"), Prismatic("x"), Cylindrical("z"), Planar((0.0, 0.8, 0.6)), Fixed(),
    Spherical(), Universal("xz"),
]  # fmt: skip

BODY = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
URDF = """
<robot name="four-bar">
  <link name="base"/>
  <link name="crank">BODY</link>
  <link name="rocker">BODY</link>
  <link name="tip"/>
  <joint name="a" type="continuous"><parent link="base"/><child link="crank"/><axis xyz="0 1 0"/></joint>
  <joint name="b" type="continuous">
    <origin xyz="0.6 0 0"/><parent link="base"/><child link="rocker"/><axis xyz="0 1 0"/>
  </joint>
  <joint name="c" type="fixed"><origin xyz="0 0 0.1"/><parent link="rocker"/><child link="tip"/></joint>
  <knuckle>
    <loop name="rod" type="{type}">
      <predecessor link="{link}"><origin xyz="0.6 0 0.2"/></predecessor>
      <successor link="tip"><origin xyz="0 0 0.1"/></successor>
      <axis xyz="0 2 0"/>
    </loop>
  </knuckle>
</robot>
""".replace("BODY", BODY)


def same_motion(one: kn.Model, two: kn.Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> None:
    a, b = (kn.forward_dynamics(m, q, v, tau) for m in (one, two))
    np.testing.assert_allclose(b, a, rtol=0, atol=1e-10 * (1 + np.abs(a).max()))


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_urdf_out_and_in(kind: Joint, tmp_path: Path):
    """Loop joints of every kind that the element knows, in any place, closed or not."""
    rng = np.random.default_rng(5)
    b = kn.Builder("loop", base="stand")
    for side in ("left", "right"):
        b.body(side, joint=Revolute("z"), at=random_transform(rng), inertia=random_inertia(rng))
        b.body(f"{side} hand", on=side, joint=Prismatic("x"), at=random_transform(rng), inertia=random_inertia(rng))
    b.close_loop("closing", kind, "left hand", "right hand", random_transform(rng), random_transform(rng))
    model = b.build()
    kn.save(model, tmp_path / "model.urdf")
    back = kn.load(tmp_path / "model.urdf")
    (ours,), (theirs,) = model.loops, back.loops
    assert (theirs.name, theirs.type, theirs.predecessor) == (ours.name, ours.type, ours.predecessor)
    q, v = rng.standard_normal((2, model.nv))
    for f in (kn.loops.error, kn.loops.jacobian):
        np.testing.assert_allclose(f(back, q), f(model, q), atol=1e-13)
    np.testing.assert_allclose(kn.loops.bias(back, q, v), kn.loops.bias(model, q, v), atol=1e-12)


@pytest.mark.sampled
@pytest.mark.parametrize("suffix", [".urdf", ".json", ".xml"])
@pytest.mark.parametrize("name", ["four-bar", "crank-slider", "five-bar"])
def test_linkages_move_alike(name: str, suffix: str, tmp_path: Path):
    """A pin of ours comes back from MJCF as one pin, not as two pairs of points."""
    made: Linkage = LINKAGES[name]()
    path = tmp_path / f"model{suffix}"
    kn.save(made.model, path, **({"lossy": True} if suffix == ".xml" else {}))
    back = kn.load(path)
    assert [type(loop.type) for loop in back.loops] == [type(loop.type) for loop in made.model.loops]
    assert back.joint_names == made.model.joint_names
    rng = np.random.default_rng(0)
    same_motion(made.model, back, made.q, allowed(made.model, made.q, rng), rng.standard_normal(made.model.nv))


def test_other_programs_pass_over_the_element(tmp_path: Path):
    mujoco, pin = pytest.importorskip("mujoco"), pytest.importorskip("pinocchio")
    path = tmp_path / "four_bar.urdf"
    kn.save(LINKAGES["four-bar"]().model, path)
    assert pin.buildModelFromUrdf(str(path)).nv == 3
    assert mujoco.MjModel.from_xml_path(str(path)).nv == 3


def test_links_that_are_merged_carry_their_loops():
    """The tip is part of the rocker, so the loop ends 0.2 m up on it."""
    model = kn.formats.loads(URDF.format(type="revolute", link="crank"))
    (rod,) = model.loops
    assert (rod.predecessor, rod.successor) == (0, 1)
    np.testing.assert_allclose([float(x) for x in rod.X_successor.r], [0, 0, 0.2], atol=1e-15)
    assert rod.type == Revolute("y")
    assert any("axis of length 2" in note.text for note in model.provenance.notes)
    floating = kn.formats.loads(URDF.format(type="spherical", link="crank"), base="floating")
    assert (floating.loops[0].predecessor, floating.loops[0].successor) == (1, 2)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "helical", "link": "crank"}, r"13: loop 'rod'.*type=\"helical\"; a loop has: revolute"),
        ({"type": "revolute", "link": "cranc"}, r"14: loop 'rod', <predecessor>.*no link 'cranc'.*'crank'"),
    ],
)
def test_errors_point_to_the_line(change: dict[str, str], message: str):
    with pytest.raises(kn.ModelError, match=message):
        kn.formats.loads(URDF.format(**change))


def test_a_loop_needs_a_name_of_its_own():
    with pytest.raises(kn.ModelError, match="a second loop with this name"):
        kn.formats.loads(URDF.format(type="fixed", link="crank").replace('name="rod"', 'name="a"'))
