"""Accelerations and forces of rigid contacts (RBDA 11.1-11.44, and with friction): laws, closed forms, statuses."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.contact.rigid.contact_dynamics import Method
from knuckle.joints import Planar, Prismatic
from knuckle.model import Sphere, solid_box, solid_sphere
from knuckle.solvers.unilateral_forces import Way, pushes

from .linkages import parallelogram, seesaw
from .scenes import RADIUS, G, ball, box, on_plane, placed

BOOK: tuple[Way, ...] = ("lcp", "force", "acceleration")
ALL: tuple[Method, ...] = ("cone", *BOOK)


def laws(model, q, v, tau, motion, friction=True):
    """How far the equation of motion, Signorini's and Coulomb's law are from holding, relative to the weight."""
    J, frames = kn.contact.contact_jacobian(model, q), kn.contact.contact_frames(model, q)
    lam = np.einsum("kij,kj->ki", frames, motion.forces)
    total = np.einsum("kiv,ki->v", J, lam)
    off = [np.abs(kn.forward_dynamics(model, q, v, tau + total) - motion.a).max()]
    rates = (J @ motion.a + kn.contact.contact_bias(model, q, v))[np.isfinite(motion.separation[:, 0])]
    lam, zeta = lam[np.isfinite(motion.separation[:, 0])], motion.separation[np.isfinite(motion.separation[:, 0])]
    off += [np.abs(rates - zeta).max(), -zeta[:, 0].min(), -lam[:, 0].min(), np.abs(lam[:, 0] * zeta[:, 0]).max()]
    if not friction:
        off.append(np.abs(lam[:, 1:]).max())
    return max(off)


@pytest.mark.parametrize("method", BOOK)
def test_one_body_and_one_contact(method: Method):
    """11.9 and 11.10: λ = −d/M where d < 0, else nothing; d = n·I⁻¹(f − v ×* I v) + ṅ·v and M = n·I⁻¹n."""
    model = on_plane(ball())
    rng = np.random.default_rng(0)
    for k in range(6):
        q = placed(model, (0.3, -0.2, RADIUS))
        v, tau = rng.normal(size=6), 20 * rng.normal(size=6)
        v = (
            v
            - np.linalg.pinv(kn.contact.contact_jacobian(model, q)[:, 0])
            @ kn.contact.contact_velocity(model, q, v)[:, 0]
        )
        n = kn.contact.contact_jacobian(model, q)[0, 0]
        H = kn.mass_matrix(model, q)
        d = n @ np.linalg.solve(H, tau - kn.bias_force(model, q, v)) + kn.contact.contact_bias(model, q, v)[0, 0]
        M = n @ np.linalg.solve(H, n)
        motion = kn.contact.contact_dynamics(model, q, v, tau, method=method)
        assert motion.forces[0, 2] == pytest.approx(max(0.0, -d / M), abs=1e-11), k
        assert motion.separation[0, 0] == pytest.approx(max(0.0, d), abs=1e-11)
        assert motion.active[0] == (d < 0)


@pytest.mark.parametrize("method", ALL)
def test_feet_that_are_one_too_many(method: Method):
    """Of four feet the forces are not determined; T λ, the acceleration and ζ̇ are (contact.md, indeterminate feet)."""
    model = on_plane(box((0.6, 0.4, 0.2), mass=3.0))
    q = placed(model, (0, 0, 0.1))
    tau = np.array([0.4, -0.3, 0, 0, 0, -2.0])
    motion = kn.contact.contact_dynamics(model, q, np.zeros(6), tau, method=method)
    assert motion.solved
    np.testing.assert_allclose(motion.a, 0, atol=1e-12)
    np.testing.assert_allclose(motion.separation, 0, atol=1e-12)
    assert motion.forces[:, 2].sum() == pytest.approx(3 * G + 2, abs=1e-12 * 30)
    total = np.einsum("kv,k->v", kn.contact.contact_jacobian(model, q)[:, 0], motion.forces[:, 2])
    np.testing.assert_allclose(total, [-0.4, 0.3, 0, 0, 0, 3 * G + 2], atol=1e-11)
    if method != "cone":
        assert motion.active.sum() == 3
        assert np.linalg.matrix_rank(kn.contact.contact_jacobian(model, q)[motion.active, 0]) == 3


@pytest.mark.slow
def test_ways_agree_where_the_box_tips():
    model = on_plane(box((0.6, 0.4, 0.2), mass=3.0))
    q, rng = placed(model, (0, 0, 0.1)), np.random.default_rng(2)
    tipped = 0
    for _ in range(30):
        v = np.zeros(6)
        tau = np.array([8, 8, 2, 5, 5, 15]) * rng.normal(size=6)
        motions = [kn.contact.contact_dynamics(model, q, v, tau, method=method) for method in BOOK]
        for motion in motions:
            assert motion.solved
            assert laws(model, q, v, tau, motion, friction=False) < 1e-10
            np.testing.assert_allclose(motion.a, motions[0].a, atol=1e-11)
            np.testing.assert_allclose(motion.separation, motions[0].separation, atol=1e-11)
        tipped += np.any(motions[0].separation[:, 0] > 1e-6)
    assert 10 < tipped < 30


def test_random_problems_agree():
    """Redundant, degenerate and infeasible ones: three ways say the same, and what they say holds."""
    rng, infeasible = np.random.default_rng(0), 0
    for t in range(400):
        m, n = rng.integers(1, 10), rng.integers(1, 7)
        r = rng.integers(1, n + 1)
        B = rng.normal(size=(m, r)) @ rng.normal(size=(r, n))
        B[rng.integers(0, m)] = B[0]
        B = np.round(B) if t % 5 == 0 else B
        d = B @ rng.normal(size=n) if t % 2 else np.round(rng.normal(size=m), t % 3)
        found = [pushes(B, d, way) for way in BOOK]
        infeasible += found[0] is None
        assert len({x is None for x in found}) == 1
        for x in found:
            if x is not None:
                w = B @ (B.T @ x) + d
                assert min(w.min(), x.min()) > -1e-9 * (1 + x.max())
                assert abs(w @ x) < 1e-9 * (1 + x.max()) ** 2
                assert np.linalg.matrix_rank(B[x > 0]) == (x > 0).sum()
    assert 20 < infeasible < 200


def test_friction_sticks_and_slides():
    for slope in (0.2, 0.46, 0.47, 0.8):
        model = on_plane(box(), friction=0.5, slope=slope)
        motion = kn.contact.contact_dynamics(model, placed(model, (0, 0, 0.1)), np.zeros(6), np.zeros(6))
        a = max(0.0, G * (math.sin(slope) - 0.5 * math.cos(slope)))
        np.testing.assert_allclose(motion.a, [0, 0, 0, a, 0, 0], atol=1e-12)
        assert motion.solved
        assert motion.sliding.all() == (a > 0)


@pytest.mark.parametrize("mu", [0.15, 0.3])
def test_a_ball_rolls_where_friction_is_enough(mu: float):
    slope = math.atan(0.8)
    model = on_plane(ball(), friction=mu, slope=slope)
    motion = kn.contact.contact_dynamics(model, placed(model, (0, 0, RADIUS)), np.zeros(6), np.zeros(6))
    rolls = 3.5 * mu >= 0.8
    a = 5 / 7 * G * math.sin(slope) if rolls else G * (math.sin(slope) - mu * math.cos(slope))
    assert motion.a[3] == pytest.approx(a, rel=1e-12)
    assert (abs(motion.a[1] * RADIUS - a) < 1e-12) == rolls


@pytest.mark.parametrize("height", [0.39, 0.41])
def test_a_push_tips_what_it_meets_high_enough(height: float):
    """A box of half width b is tipped by a push F > μ m g at the height z if z > b/μ, else it slides."""
    b, mu, mass = 0.2, 0.5, 2.0
    model = on_plane(box((2 * b, 2 * b, 1.0), mass), friction=mu)
    q, F = placed(model, (0, 0, 0.5)), 1.001 * mu * mass * G
    tau = np.array([0, F * (height - 0.5), 0, F, 0, 0])
    motion = kn.contact.contact_dynamics(model, q, np.zeros(6), tau)
    assert motion.solved
    assert (motion.a[1] > 1e-6) == (height > b / mu)
    assert (motion.active.sum() == 2) == (height > b / mu)


def test_a_block_on_a_wedge_that_is_free():
    """a_M = m g sin θ cos θ/(M + m sin² θ), towards where the slope rises."""
    theta, m, M = 0.5, 1.0, 3.0
    b = kn.Builder("wedge", gravity=(0, 0, -G))
    b.surface("ice", friction=0.0)
    tilt = dict(rpy=(0, theta, 0))
    b.body("wedge", joint=Prismatic("x"), inertia=solid_box(M, (1, 1, 1)))
    b.body(
        "face",
        on="wedge",
        joint=kn.joints.Fixed(),
        at=tilt,
        collisions=kn.model.Geometry(kn.model.Plane((0.0, 0.0)), surface="ice"),
    )
    b.body("block", joint=Planar(), at=dict(rpy=(math.pi / 2, 0, 0)), inertia=solid_box(m, (0.2, 0.2, 0.2)),
           collisions=kn.model.Geometry(Sphere(0.1), surface="ice"))  # fmt: skip
    model = b.build()
    assert np.abs(kn.contact.gaps(model, kn.neutral(model)) + 0.1).max() < 1e-12
    q = kn.neutral(model)
    q = kn.integrate(model, q, np.array([0, 0, 0.1 * math.sin(theta), 0.1 * math.cos(theta)]))
    assert np.abs(kn.contact.gaps(model, q)).max() < 1e-12
    for method in ALL:
        motion = kn.contact.contact_dynamics(model, q, np.zeros(4), np.zeros(4), method=method)
        a = m * G * math.sin(theta) * math.cos(theta) / (M + m * math.sin(theta) ** 2)
        assert motion.a[0] == pytest.approx(-a, rel=1e-10)


@pytest.mark.parametrize("method", ALL)
def test_closed_loops(method: Method):
    """A parallelogram that hangs and lies on the floor: 11.33 with its one freedom."""
    model, q, v = parallelogram()
    tau = np.array([-1.0, 0, 0])
    motion = kn.contact.contact_dynamics(model, q, 0 * v, tau, method=method)
    n = kn.contact.contact_jacobian(model, q)[0, 0]
    H, C = kn.mass_matrix(model.without_loops(), q), kn.bias_force(model.without_loops(), q, 0 * v)
    d = n @ v * (v @ (tau - C)) / (v @ H @ v)
    expected = max(0.0, -d * (v @ H @ v) / (n @ v) ** 2)
    assert motion.solved
    assert expected > 1
    if method != "cone":
        assert motion.forces[0, 2] == pytest.approx(expected, rel=1e-10)
    np.testing.assert_allclose(motion.a, 0, atol=1e-10)
    np.testing.assert_allclose(kn.loops.jacobian(model, q) @ motion.a, 0, atol=1e-10)


def test_what_contradicts_has_a_status():
    """Two feet that follow one motor on the floor: φ̈ = ±a − 2v², and no a keeps both from going down."""
    model, q = seesaw()
    for method in BOOK:
        motion = kn.contact.contact_dynamics(model, q, np.array([1.0]), [0.0], method=method, speed=10.0)
        assert motion.status == "infeasible"
        assert "contradict" in str(motion.message)
        assert np.isfinite(motion.a).all()
        assert np.isfinite(motion.forces).all()


def test_impacts_and_broken_states_have_a_status():
    model = on_plane(ball())
    q = np.stack([placed(model, (0, 0, z)) for z in (RADIUS, RADIUS, 1.0, RADIUS)])
    v = np.zeros((4, 6))
    v[0, 5], v[3, 0] = -1.0, np.nan
    motion = kn.contact.contact_dynamics(model, q, v, np.zeros(6))
    assert motion.status.tolist() == ["impact", "solved", "solved", "undefined"]
    assert "impact" in motion.message[0]
    assert not motion.message[1]
    np.testing.assert_allclose(motion.a[1:3, 5], [0, -G], atol=1e-12)


def test_arguments_are_checked():
    model = on_plane(ball())
    q = kn.neutral(model)
    with pytest.raises(ValueError, match="method"):
        kn.contact.contact_dynamics(model, q, np.zeros(6), np.zeros(6), method="guess")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="tau"):
        kn.contact.contact_dynamics(model, q, np.zeros(6), np.zeros(5))
    with pytest.raises(TypeError, match="complex"):
        kn.contact.contact_dynamics(model, q, np.zeros(6), 1j * np.zeros(6))


def test_two_bodies_push_each_other():
    """Momentum: the forces on two free balls that touch are equal and opposite."""
    b = kn.Builder("balls", gravity=(0, 0, 0))
    for name, mass in (("one", 1.0), ("two", 3.0)):
        b.body(name, joint=kn.joints.Free(), inertia=solid_sphere(mass, 0.1), collisions=Sphere(0.1))
    model = b.build()
    q = placed(model, (0, 0, 0), (0.12, 0, 0.16))
    tau = np.zeros(12)
    tau[3:6] = 3.0, 1.0, 2.0
    motion = kn.contact.contact_dynamics(model, q, np.zeros(12), tau)
    assert motion.solved
    assert motion.active.all()
    total = kn.momentum(model, q, motion.a)
    np.testing.assert_allclose(total[3:], tau[3:6], atol=1e-13)
