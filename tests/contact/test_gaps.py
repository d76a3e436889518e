"""Gaps, points and normals of pairs of shapes, against MuJoCo's collider and by hand."""

import mujoco
import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Revolute
from knuckle.model import Body, Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere, solid_box
from knuckle.spatial import Inertia

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


def test_boxes_and_capsules_in_code_and_in_numbers():
    """Many pairs share the code of one text; it gives what the text gives."""
    b = kn.Builder("heap")
    for k in range(3):
        b.body(f"box{k}", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=Box((0.4, 0.6, 0.8)))
        b.body(f"rod{k}", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=Capsule(0.2, 0.8))
    model, rng = b.build(), np.random.default_rng(3)
    q = np.stack([kn.random_configuration(model, rng) for _ in range(200)])
    assert len(kn.contact.contact_pairs(model)) == 15
    for function in (kn.contact.gaps, kn.contact.points, kn.contact.normals):
        found = function(model, q)
        for x, row in zip(q[:4], found, strict=False):
            np.testing.assert_allclose(np.array(function(model, x.astype(object)), float), row, atol=1e-12)


@pytest.mark.slow
def test_a_box_stands_still_on_a_table():
    """Turned and shifted, so that the places are corners of both, and crossings of their edges."""
    table = Body("table", Inertia.zero(), collisions=(Geometry(Box((0.3, 0.3, 0.2))),))
    b = kn.Builder("table", base=table)
    b.body("box", joint=Free(), inertia=solid_box(2.0, (0.2, 0.3, 0.2)), collisions=Box((0.2, 0.3, 0.2)))
    model = b.build()
    q = np.array([np.cos(0.35), 0, 0, np.sin(0.35), 0.04, -0.03, 0.2])
    motion = kn.simulate(model, q, None, 0.3, dt=5e-3, integrator=kn.integrators.ContactSteps())
    np.testing.assert_allclose(motion.q[-1], q, atol=1e-12)
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)


@pytest.mark.slow
def test_a_crooked_stack_of_boxes_stands_still():
    b = kn.Builder("stack")
    b.surface("wood", friction=0.5)
    b.ground(surface="wood")
    for k in range(2):
        size = (0.3 - 0.1 * (k % 2), 0.3, 0.2)
        b.body(f"box{k}", joint=Free(), inertia=solid_box(2.0, size), collisions=Box(size), surface="wood")
    model = b.build()
    places = [(0.0, 0.0, 0.0, 0.1), (0.7, 0.04, -0.03, 0.3)]
    q = np.concatenate([[np.cos(turn / 2), 0, 0, np.sin(turn / 2), *at] for turn, *at in places])
    motion = kn.simulate(model, q, None, 0.5, dt=5e-3, integrator=kn.integrators.ContactSteps())
    np.testing.assert_allclose(motion.q[-1], q, atol=1e-12)
    np.testing.assert_allclose(motion.v[-1], 0, atol=1e-12)


def arm_and_boxes() -> kn.Model:
    """An arm of capsules over the ground, a box on its hand and one that lies about."""
    b = kn.Builder("arm")
    b.ground(height=-1.0)
    b.body("upper", joint=Revolute("y"), mass=1.0, inertia=(1, 1, 1), collisions=Capsule(0.05, 0.5))
    b.body("lower", on="upper", at=(0, 0, -0.5), joint=Revolute("x"), mass=1.0, inertia=(1, 1, 1))
    b.body(
        "hand",
        on="lower",
        at=(0, 0, -0.4),
        joint=Revolute("z"),
        mass=1.0,
        inertia=(1, 1, 1),
        collisions=Box((0.2, 0.3, 0.1)),
    )
    b.body("box", joint=Free(), mass=1.0, inertia=(1, 1, 1), collisions=Box((0.4, 0.6, 0.8)))
    return b.build()


@pytest.mark.slow
def test_rates_are_those_of_the_least_gaps():
    model, rng, h = arm_and_boxes(), np.random.default_rng(4), 1e-6
    pairs = kn.contact.contact_pairs(model)
    assert len(pairs) == 6
    for _ in range(10):
        q, v = kn.random_configuration(model, rng), rng.normal(size=model.nv)
        ahead, behind = (kn.contact.gaps(model, kn.integrate(model, q, s * v)) for s in (h, -h))
        gaps, rates = kn.contact.gaps(model, q), kn.contact.gap_rates(model, q, v)
        k = int(gaps.argmin())
        assert rates[k] == pytest.approx((ahead.min() - behind.min()) / (2 * h), abs=1e-5)
    q = np.stack([kn.random_configuration(model, rng) for _ in range(50)])
    v = rng.normal(size=(50, model.nv))
    np.testing.assert_allclose(
        kn.contact.gap_rates(model, q, v)[3], kn.contact.gap_rates(model, q[3], v[3]), atol=1e-13
    )
