"""Equalities of MJCF: loops that close where MuJoCo says, joints that follow others."""

import math
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.formats import adapters, from_mujoco, read_mjcf
from knuckle.joints import Fixed, Spherical
from knuckle.model import ROOT, Model

from .mjcf_worlds import body, compiled, mujoco, random_state, texts

LOOPS = """
<mujoco><compiler angle="radian"/><worldbody>
  <body name="a" pos="0 0 1"><joint name="ja" pos="0.1 0 0" axis="0 1 0"/>{mass}<site name="sa" pos="0 0.3 0.1"
    quat="1 2 3 4"/>
    <body name="b" pos="1 0 0" euler="0.1 0.2 0.3"><joint name="jb" pos="0 0.2 0" axis="1 0 0"/>{mass}<site name="sb"
      pos="0.2 0 0"/></body>
  </body>
  <body name="c"><freejoint/>{mass}</body>
</worldbody><equality>
  <connect name="point" body1="b" body2="c" anchor="0.1 0.2 0.3"/>
  <connect name="ground" body1="b" anchor="0.1 0.2 0.3"/>
  <weld name="frame" body1="b" body2="c" anchor="0.3 0.1 0.2" relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3"/>
  <weld name="site_frame" site1="sb" site2="sa"/>
  <connect name="site_point" site1="sa" site2="sb"/>
</equality></mujoco>
""".replace("{mass}", '<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/>')


def test_loops_close_where_mujoco_says():
    """The gap between the two frames of a loop joint is the residual of MuJoCo's constraint, at any q."""
    m = compiled(LOOPS)
    model, data, rng = from_mujoco(m), mujoco.MjData(m), np.random.default_rng(3)
    assert [loop.name for loop in model.loops] == ["point", "ground", "frame", "site_frame", "site_point"]
    assert [type(loop.type) for loop in model.loops] == [Spherical, Spherical, Fixed, Fixed, Spherical]
    there = adapters.mujoco(model, m)
    for _ in range(5):
        data.qpos[:], _, _ = random_state(m, rng)
        mujoco.mj_forward(m, data)
        q = there.q_from(data.qpos)
        poses = {ROOT: np.eye(4), **dict(enumerate(kn.body_poses(model, q)))}
        for e, loop in enumerate(model.loops):
            one, two = (
                poses[k] @ np.array(X.homogeneous.rows, dtype=float)
                for k, X in ((loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor))
            )
            residual = data.efc_pos[data.efc_id == e]
            np.testing.assert_allclose(one[:3, 3] - two[:3, 3], residual[:3], rtol=0, atol=1e-13)
            if isinstance(loop.type, Fixed):
                # MuJoCo's angular residual is the vector part of the quaternion between the frames, times a scale
                R = two[:3, :3].T @ one[:3, :3]
                sine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
                cosine = math.sqrt(max(0.0, 1 + np.trace(R))) / 2
                vector = sine / (4 * cosine)
                assert np.linalg.norm(np.cross(vector, residual[3:])) < 1e-12
                assert np.linalg.norm(vector) == pytest.approx(np.linalg.norm(residual[3:]), abs=1e-12)


def coupled(equality: str, **options: Any) -> Model:
    inside = body("a", '<joint name="ja" ref="10"/>' + body("b", '<joint name="jb" ref="-20"/>'))
    inside += body("c", '<joint name="jc" type="slide"/>')
    return read_mjcf(f"<mujoco><worldbody>{inside}</worldbody><equality>{equality}</equality></mujoco>", **options)


def test_joint_equalities_become_mimics():
    """q_b − ref_b = 0.1 + 2 (q_a − ref_a)."""
    model = coupled('<joint joint1="jb" joint2="ja" polycoef="0.1 2 0 0 0"/>')
    (follower,) = model.couplings
    ref_a, ref_b = math.radians(10), math.radians(-20)
    assert (follower.joint, follower.sources, follower.law.ratios) == (1, (0,), (2.0,))
    assert follower.law.offset == pytest.approx(ref_b + 0.1 - 2 * ref_a, abs=1e-15)
    assert model.nv == 2


def test_joint_equalities_of_higher_degree():
    """Chains of polynomials are polynomials: q_c = 1 + 2 (q_b − ref_b)², q_b − ref_b = x − 3 x³ for x = q_a − ref_a."""
    chain = '<joint joint1="jc" joint2="jb" polycoef="1 0 2 0 0"/>'
    chain += '<joint joint1="jb" joint2="ja" polycoef="0 1 0 -3 0"/>'
    model = coupled(chain)
    ref_a, ref_b = math.radians(10), math.radians(-20)
    for q in (-0.7, 0.2, 1.3):
        a, b, c = (part[0] for part in model.positions([q]))
        assert b - ref_b == pytest.approx((a - ref_a) - 3 * (a - ref_a) ** 3, abs=1e-13)
        assert c == pytest.approx(1 + 2 * (b - ref_b) ** 2, abs=1e-12)


def test_chains_of_joint_equalities():
    chain = '<joint joint1="jc" joint2="jb" polycoef="0 3 0 0 0"/><joint joint1="jb" joint2="ja" polycoef="0 2 0 0 0"/>'
    model = coupled(chain)
    assert {(c.joint, *c.sources, *c.law.ratios) for c in model.couplings} == {(2, 0, 6.0), (1, 0, 2.0)}


@pytest.mark.parametrize(
    ("equality", "words"),
    [
        ('<joint name="e" joint1="jb" polycoef="0.3 0 0 0 0"/>', "holds joint 'jb' still"),
        ('<joint name="e" joint1="jb" joint2="ja" active="false"/>', "not active"),
    ],
)
def test_equalities_that_do_not_map(equality: str, words: str):
    model = coupled(equality)
    assert model.couplings == ()
    assert words in texts(model, "e")[0]


def test_a_ring_of_joint_equalities_is_left_open():
    model = coupled('<joint joint1="jb" joint2="ja"/><joint joint1="ja" joint2="jb"/>')
    assert len(model.couplings) == 1
    assert any("follows itself" in text for text in texts(model))


def test_mimic_false():
    model = coupled('<joint name="e" joint1="jb" joint2="ja"/>', mimic=False)
    assert (model.couplings, model.nv) == ((), 3)
    assert texts(model, "e") == ["ignored as asked for: joint 'jb' moves by itself"]
