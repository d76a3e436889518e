"""Gaps, points and normals of pairs of shapes, against MuJoCo's collider and by hand."""

import mujoco
import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere

SHAPES = {
    "sphere": (Sphere(0.3), "0.3"),
    "capsule": (Capsule(0.2, 0.8), "0.2 0.4"),
    "box": (Box((0.4, 0.6, 0.8)), "0.2 0.3 0.4"),
    "cylinder": (Cylinder(0.3, 0.8), "0.3 0.4"),
    "ellipsoid": (Ellipsoid((0.2, 0.3, 0.5)), "0.2 0.3 0.5"),
    "plane": (Plane((0.0, 0.0)), "0 0 1"),
}
PAIRS = [
    *((name, "plane") for name in ("sphere", "capsule", "box", "cylinder", "ellipsoid")),
    ("sphere", "sphere"), ("sphere", "capsule"), ("sphere", "box"), ("capsule", "capsule"),
]  # fmt: skip


def ours(first: str, second: str) -> kn.Model:
    b = kn.Builder("pair")
    if second == "plane":
        b.ground()
    else:
        b.body("second", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=SHAPES[second][0])
    b.body("first", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=SHAPES[first][0])
    return b.build()


def theirs(first: str, second: str) -> mujoco.MjModel:
    body = '<body name="{0}"><freejoint/><geom type="{1}" size="{2}" margin="5"/></body>'
    other = (
        '<geom type="plane" size="0 0 1" margin="5"/>'
        if second == "plane"
        else body.format("b", second, SHAPES[second][1])
    )
    text = f"<mujoco><worldbody>{other}{body.format('a', first, SHAPES[first][1])}</worldbody></mujoco>"
    return mujoco.MjModel.from_xml_string(text)


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_the_nearest_place_is_mujoco_s(first: str, second: str):
    """Apart and overlapping a little: the smallest gap, with its normal and its point."""
    model, other = ours(first, second), theirs(first, second)
    data, rng = mujoco.MjData(other), np.random.default_rng(0)
    near = 0
    for _ in range(60):
        q = kn.random_configuration(model, rng)
        mine = kn.contact.gaps(model, q)
        k = int(mine.argmin())
        data.qpos[:] = np.concatenate([np.r_[x[4:], x[:4]] for x in q.reshape(-1, 7)])
        mujoco.mj_forward(other, data)
        contacts = sorted(data.contact, key=lambda c: c.dist)
        if not contacts or mine[k] < -0.05:
            continue
        near += 1
        best = contacts[0]
        assert mine[k] == pytest.approx(best.dist, abs=2e-6)
        normal = kn.contact.normals(model, q)[k]
        assert abs(normal @ best.frame[:3]) == pytest.approx(1, abs=2e-5)
        if len(contacts) == 1:
            np.testing.assert_allclose(kn.contact.points(model, q)[k], best.pos, atol=1e-4)
    assert near >= 15


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_gaps_close_with_the_velocity_along_the_normal(first: str, second: str):
    """d(gap)/dt = n · (v₁ − v₂) at the point (RBDA 11.37): what time stepping takes for granted."""
    model, rng = ours(first, second), np.random.default_rng(1)
    for _ in range(10):
        q, v = kn.random_configuration(model, rng), rng.normal(size=model.nv)
        h = 1e-6
        rate = (
            kn.contact.gaps(model, kn.integrate(model, q, h * v))
            - kn.contact.gaps(model, kn.integrate(model, q, -h * v))
        ) / (2 * h)
        point, normal = kn.contact.points(model, q), kn.contact.normals(model, q)
        expected = []
        for p, n in zip(point, normal, strict=True):
            both = []
            for name in ("first", "second") if second != "plane" else ("first",):
                twist = kn.velocity(model, q, v, name, "world")
                both.append(twist[3:] + np.cross(twist[:3], p))
            expected.append(n @ (both[0] - (both[1] if len(both) > 1 else 0)))
        lowest = [0, 3] if first == "cylinder" else slice(None)  # two points of its rim go round with the lowest
        np.testing.assert_allclose(rate[lowest], np.array(expected)[lowest], atol=2e-4)


def test_in_a_batch_and_one_by_one():
    model, rng = ours("capsule", "plane"), np.random.default_rng(2)
    q = np.stack([kn.random_configuration(model, rng) for _ in range(300)])
    gaps = kn.contact.gaps(model, q)
    assert gaps.shape == (300, 2)
    np.testing.assert_allclose([kn.contact.gaps(model, x) for x in q[:20]], gaps[:20], atol=1e-15)


def test_pairs_are_listed_in_the_order_of_the_gaps():
    model = ours("box", "plane")
    (pair,) = kn.contact.contact_pairs(model)
    assert pair.names(model) == ("first", model.base.name)
    assert len(kn.contact.gaps(model, kn.neutral(model))) == 4


def test_a_mechanism_without_shapes_has_no_contacts():
    b = kn.Builder("bare")
    b.body("body", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    model = b.build()
    assert kn.contact.contact_pairs(model) == ()
    assert kn.contact.gaps(model, kn.neutral(model)).shape == (0,)
