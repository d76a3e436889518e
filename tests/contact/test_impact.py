"""Impact (RBDA 11.52-11.72): closed forms, several contacts, loops, couplings, energy."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model import Capsule, Geometry, Sphere, solid_box, solid_sphere
from knuckle.model.contact import ImpactLaw, Order
from knuckle.spatial import Transform

from .linkages import parallelogram, seesaw
from .scenes import RADIUS, ball, box, on_plane, placed

SMOOTH: tuple[ImpactLaw, ...] = ("newton", "poisson", "energetic")
LAWS: tuple[ImpactLaw, ...] = (*SMOOTH, "sticking")


def balls_on_a_rail(n: int):
    b = kn.Builder("cradle", gravity=(0, 0, 0))
    for k in range(n):
        b.body(
            f"ball{k}", joint=Prismatic("x"), at=(0.2 * k, 0, 0), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1)
        )
    return b.build()


@pytest.mark.parametrize("law", LAWS)
def test_three_balls_in_a_row(law: ImpactLaw):
    """Moreau's law at once is (−1/3, 2/3, 2/3), one after the other (0, 0, 1)."""
    model = balls_on_a_rail(3)
    once = kn.contact.impact(model, np.zeros(3), [1.0, 0, 0], law=law, restitution=1.0)
    np.testing.assert_allclose(once.v, [-1 / 3, 2 / 3, 2 / 3], atol=1e-12)
    turns = kn.contact.impact(model, np.zeros(3), [1.0, 0, 0], law=law, restitution=1.0, order="sequential")
    np.testing.assert_allclose(turns.v, [0, 0, 1], atol=1e-12)
    assert once.solved
    assert turns.solved
    np.testing.assert_allclose([once.energy, turns.energy], 0, atol=1e-12)


def test_a_ball_between_two_that_close():
    """Two at rest and one that comes from each side; what is closed by another is struck in turn."""
    model = balls_on_a_rail(4)
    orders: tuple[Order, ...] = ("simultaneous", "sequential")
    for order in orders:
        found = kn.contact.impact(model, np.zeros(4), [1.0, 0, 0, -1.0], restitution=1.0, order=order)
        np.testing.assert_allclose(found.v, -found.v[::-1], atol=1e-12)
        assert found.energy == pytest.approx(0, abs=1e-12)
        assert np.all(np.diff(found.v) > -1e-12)


def two_bodies():
    """Free bodies of any shape of inertia whose balls touch off their centres, and a state in which they close."""
    b = kn.Builder("two", gravity=(0, 0, 0))
    at = Transform.translation((0.1, 0.05, -0.02))
    for name, mass in (("one", 1.0), ("two", 2.5)):
        b.body(name, joint=Free(), inertia=solid_box(mass, (0.3, 0.2, 0.4)), collisions=Geometry(Sphere(0.1), at))
    model = b.build()
    rng = np.random.default_rng(4)
    q = kn.integrate(model, kn.neutral(model), 0.5 * rng.normal(size=12))
    gap, n = kn.contact.gaps(model, q)[0], kn.contact.normals(model, q)[0]
    q = q.copy()
    is_first = kn.contact.contact_pairs(model)[0].names(model)[0] == "one"
    q[4:7] -= gap * n if is_first else -gap * n
    assert abs(kn.contact.gaps(model, q)[0]) < 1e-12
    v = rng.normal(size=12)
    u = kn.contact.contact_velocity(model, q, v)[0, 0]
    return model, q, v if u < 0 else -v


@pytest.mark.parametrize("law", SMOOTH)
@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_bodies_without_friction(law: ImpactLaw, e: float):
    """λ = −(1 + e) n·(v₂ − v₁)/(n·(Φ₁ + Φ₂) n) and Δv = ±Φ n λ (11.63-11.65)."""
    model, q, v = two_bodies()
    found = kn.contact.impact(model, q, v, law=law, restitution=e, friction=0)
    n = kn.contact.contact_jacobian(model, q)[0, 0]
    H = kn.mass_matrix(model, q)
    lam = -(1 + e) * (n @ v) / (n @ np.linalg.solve(H, n))
    np.testing.assert_allclose(found.v, v + np.linalg.solve(H, n * lam), atol=1e-12)
    assert found.impulses[0] @ kn.contact.normals(model, q)[0] == pytest.approx(lam, rel=1e-12)
    assert found.energy == pytest.approx(-(1 - e**2) * (n @ v) ** 2 / (n @ np.linalg.solve(H, n)) / 2, abs=1e-12)


@pytest.mark.parametrize("e", [0.0, 0.4, 1.0])
def test_two_bodies_that_stick(e: float):
    """λ = −(Nᵀ(Φ₁ + Φ₂)N)⁻¹(1 + E)Nᵀ(v₂ − v₁), E = diag(e, 0, 0) here (11.72)."""
    model, q, v = two_bodies()
    found = kn.contact.impact(model, q, v, law="sticking", restitution=e)
    N, H = kn.contact.contact_jacobian(model, q)[0], kn.mass_matrix(model, q)
    lam = -np.linalg.solve(N @ np.linalg.solve(H, N.T), np.diag([1 + e, 1, 1]) @ N @ v)
    np.testing.assert_allclose(found.v, v + np.linalg.solve(H, N.T @ lam), atol=1e-12)


@pytest.mark.parametrize("law", LAWS)
def test_momentum_is_kept(law: ImpactLaw):
    model, q, v = two_bodies()
    found = kn.contact.impact(model, q, v, law=law, restitution=0.7, friction=0.6)
    np.testing.assert_allclose(kn.momentum(model, q, found.v), kn.momentum(model, q, v), atol=1e-13)


def falling_rod():
    """A rod at 45° whose end touches the floor, with the tip's velocity (0.6, −1) and no spin."""
    model = on_plane((solid_box(1.0, (0.02, 0.02, 1.0)), Capsule(0.01, 1.0)))
    q = kn.integrate(model, kn.neutral(model), np.array([0, math.pi / 4, 0, 0, 0, 0]))
    q = q.copy()
    q[6] -= kn.contact.gaps(model, q).min()
    frame = kn.pose(model, q, "body0")[:3, :3]
    return model, q, np.concatenate([np.zeros(3), frame.T @ [0.6, 0, -1.0]])


def test_sticking_can_give_energy_and_says_so():
    """Newton's restitution with sticking friction gains energy; the energetic law never does."""
    model, q, v = falling_rod()
    gained = [kn.contact.impact(model, q, s * v, law="sticking", restitution=1.0) for s in (1.0,)]
    v[3:] = kn.pose(model, q, "body0")[:3, :3].T @ [-0.6, 0, -1.0]
    gained.append(kn.contact.impact(model, q, v, law="sticking", restitution=1.0))
    assert "gained" in [str(x.status) for x in gained]
    best = max(gained, key=lambda x: float(x.energy))
    assert best.energy == pytest.approx(0.1163, abs=1e-4)
    assert "gave" in str(best.message)
    before, after = (kn.kinetic_energy(model, q, x) for x in (v, gained[1].v))
    assert after - before == pytest.approx(float(gained[1].energy), abs=1e-12)
    for mu in (0.1, 0.5, 2.0, 50.0):
        found = kn.contact.impact(model, q, v, friction=mu, restitution=1.0)
        assert found.status == "solved"
        assert found.energy <= 1e-12


@pytest.mark.parametrize("law", SMOOTH)
def test_a_ball_that_slides_throughout_and_one_that_stops(law: ImpactLaw):
    """A ball has no coupling of normal and friction: u_t falls by 7/2 μ (1 + e) u_n, to rolling at most."""
    model = on_plane(ball())
    q = placed(model, (0, 0, RADIUS))
    for mu, e in ((0.1, 0.5), (0.2, 1.0), (0.9, 0.5)):
        found = kn.contact.impact(model, q, [0, 0, 0, 1.5, 2.0, -1.0], law=law, friction=mu, restitution=e)
        u = kn.contact.contact_velocity(model, q, found.v)[0]
        assert u[0] == pytest.approx(e, abs=1e-12)
        assert np.linalg.norm(u[1:]) == pytest.approx(max(0.0, 2.5 - 3.5 * mu * (1 + e)), abs=1e-11)
        linear = found.v[3:5]
        assert np.linalg.norm(linear) == pytest.approx(max(2.5 - mu * (1 + e), 5 / 7 * 2.5), abs=1e-11)
        assert linear[1] / linear[0] == pytest.approx(2.0 / 1.5, rel=1e-11)


def test_slip_that_turns_back():
    """In the plane the process is made of straight pieces: slip stops, and friction holds or lets it turn back.

    The rod of 45° on a rough floor: Stronge's work by sums over the pieces, done here with the 2 × 2 response.
    """
    model, q, v = falling_rod()
    mu, e = 0.4, 0.6
    touching = np.argmin(kn.contact.gaps(model, q))
    J = kn.contact.contact_jacobian(model, q)[touching]
    J = J[np.abs(J @ v) > 1e-9] if (np.abs(J @ v) > 1e-9).sum() == 2 else J[[0, 1]]
    A, u = J @ np.linalg.solve(kn.mass_matrix(model, q), J.T), J @ v
    closing, opening, closed = 0.0, 0.0, u[0]
    h = 2e-5
    while u[0] < 0 or opening < -(e**2) * closing:  # small steps of the normal impulse
        stick = -A[0, 1] / A[1, 1]
        rate = -mu * np.sign(u[1]) if abs(u[1]) > 1e-6 else float(np.clip(stick, -mu, mu))
        new = u + A @ [h, h * rate]
        work = h * (u[0] + new[0]) / 2
        closing, opening = (closing + work, opening) if u[0] < 0 else (closing, opening + work)
        u = new
        assert abs(closed) < 2
    found = kn.contact.impact(model, q, v, friction=mu, restitution=e)
    np.testing.assert_allclose(J @ found.v, u, atol=2e-4)


def test_energy_never_rises_under_the_default_law():
    """Boxes that strike with a corner, an edge or a face, spinning, with any friction and restitution."""
    model = on_plane(box((0.4, 0.2, 0.1)))
    rng = np.random.default_rng(0)
    turns = [rng.normal(size=3) for _ in range(2)] + [np.array([0, 0.3, 0]), np.zeros(3)]
    struck = 0
    for turn in turns:
        q = kn.integrate(model, kn.neutral(model), np.concatenate([turn, np.zeros(3)])).copy()
        q[6] -= kn.contact.gaps(model, q).min()
        v = rng.normal(size=6)
        v[3:] += kn.pose(model, q, "body0")[2, :3] * -1.5
        mu, e = rng.uniform(0, 1.5), rng.uniform(0, 1)
        found = kn.contact.impact(model, q, v, friction=mu, restitution=e)
        assert found.solved, found.message
        assert found.energy <= 1e-12
        after = kn.contact.contact_velocity(model, q, found.v)[kn.contact.gaps(model, q) < 1e-9]
        assert after[:, 0].min() > -1e-9
        frames = kn.contact.contact_frames(model, q)
        local = np.einsum("kij,kj->ki", frames, found.impulses)
        assert np.all(np.linalg.norm(local[:, 1:], axis=1) <= mu * local[:, 0] + 1e-6 * (1 + local[:, 0]))
        change = kn.kinetic_energy(model, q, found.v) - kn.kinetic_energy(model, q, v)
        assert change == pytest.approx(float(found.energy), abs=1e-11)
        struck += bool(np.any(found.impulses))
    assert struck > 2


@pytest.mark.parametrize("law", SMOOTH)
def test_closed_loops_stay_closed(law: ImpactLaw):
    """One freedom: ΔT = −½ (1 − e²) ζ²/(J H⁻¹ Jᵀ), and what the loop pushes changes nothing (11.52-11.59)."""
    model, q, v = parallelogram(friction=0.0)
    found = kn.contact.impact(
        model, q, -2 * v if (kn.contact.contact_velocity(model, q, v)[0, 0] > 0) else 2 * v, law=law
    )
    H = kn.mass_matrix(model.without_loops(), q)
    np.testing.assert_allclose(np.abs(found.v), np.abs(v), atol=1e-12)
    assert found.energy == pytest.approx(-0.5 * (1 - 0.25) * 4 * (v @ H @ v), rel=1e-12)
    np.testing.assert_allclose(kn.loops.jacobian(model, q) @ found.v, 0, atol=1e-13)


def test_joints_that_follow_others_follow():
    """A see-saw of two feet that follow one motor: it stops, since one of them strikes."""
    model, q = seesaw()
    found = kn.contact.impact(model, q, [1.0], restitution=0.0)
    np.testing.assert_allclose(found.v, 0, atol=1e-13)


def double_pendulum():
    b = kn.Builder("double", gravity=(0, 0, -9.81))
    b.ground(normal=(-1, 0, 0), height=-0.9)
    b.body("upper", joint=Revolute("y"), inertia=solid_box(1.0, (0.1, 0.1, 0.5)))
    b.body("lower", on="upper", joint=Revolute("y"), at=(0, 0, -0.5), inertia=solid_box(1.0, (0.1, 0.1, 0.5)),
           collisions=Geometry(Sphere(0.1), Transform.translation((0, 0, -0.5))))  # fmt: skip
    return b.build()


@pytest.mark.parametrize("e", [0.0, 0.3, 1.0])
def test_a_double_pendulum_on_a_wall(e: float):
    """ΔT = −½ (1 − e²) ζ²/(J H⁻¹ Jᵀ)."""
    model = double_pendulum()
    q = np.array([-1.0, -math.asin(0.6 * 0 + (0.8 - 0.5 * math.sin(1.0)) / 0.5) + 1.0])
    assert abs(kn.contact.gaps(model, q)[0]) < 1e-12
    v = np.array([-1.3, -0.4])
    J, H = kn.contact.contact_jacobian(model, q)[0, 0], kn.mass_matrix(model, q)
    assert J @ v < 0
    found = kn.contact.impact(model, q, v, restitution=e, friction=0)
    expected = -0.5 * (1 - e**2) * (J @ v) ** 2 / (J @ np.linalg.solve(H, J))
    assert found.energy == pytest.approx(expected, abs=1e-12)
    assert kn.kinetic_energy(model, q, found.v) - kn.kinetic_energy(model, q, v) == pytest.approx(expected, abs=1e-12)


def test_states_without_an_impact_stay():
    model = on_plane(ball())
    q = np.stack([placed(model, (0, 0, z)) for z in (RADIUS, 1.0, RADIUS)])
    v = np.array([[0, 0, 0, 1, 0, 0.5], [0, 0, 0, 0, 0, -1], [0, 0, 0, 0, 0, -1.0]])
    found = kn.contact.impact(model, q, v, restitution=0.5)
    np.testing.assert_array_equal(found.v[:2], v[:2])
    assert found.v[2, 5] == pytest.approx(0.5)
    assert found.impulses.shape == (3, 1, 3)


def test_arguments_are_checked():
    model = on_plane(ball())
    q, v = kn.neutral(model), np.zeros(6)
    for name, value in (("law", "hertz"), ("order", "random"), ("restitution", 1.5), ("friction", -1.0)):
        with pytest.raises(ValueError, match=name):
            kn.contact.impact(model, q, v, **{name: value})  # type: ignore[arg-type]
