"""Joint limits as stops: the impact law, bounces at analytic times, rest and release, springs beyond the limits."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.special import ellipk

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Limits, point_mass
from knuckle.simulation.stops.joint_ranges import RangeEnds, bounds_of
from knuckle.simulation.stops.stop_spec import complementary, impact

from ..seeds import seeds

G = 9.81
PRECISE = kn.integrators.DormandPrince(rtol=1e-11, atol_q=1e-11, atol_v=1e-11)


def ball(lower=0.0, upper=math.inf):
    builder = kn.Builder("ball")
    builder.body("ball", joint=Prismatic("z"), mass=2.0, limits=(lower, upper), joint_name="height")
    return builder.build()


def pendulum(lower=0.0, upper=math.inf, length=0.7):
    builder = kn.Builder("pendulum")
    builder.body(
        "bob", joint=Revolute("y"), inertia=point_mass(1.3, (0, 0, -length)), limits=(lower, upper), joint_name="pivot"
    )
    return builder.build()


def limited(model, lower, upper):
    """The same mechanism with these limits on all of its joints."""
    limits = [Limits((lower,) * j.type.nq, (upper,) * j.type.nq) for j in model.joints]
    return model.replace(joints=tuple(map(lambda j, l: dataclasses.replace(j, limits=l), model.joints, limits)))


def impacts(motion):
    return [o for o in motion.events if o.kind == "impact"]


# the impact law


@pytest.mark.parametrize("seed", range(8))
def test_one_stop_reverses_its_speed_and_gives_one_impulse(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    A = rng.standard_normal((n, n))
    H, S, v, e = A @ A.T + np.eye(n), rng.standard_normal((1, n)), rng.standard_normal(n), rng.uniform(0, 1, 1)
    S = S if S @ v < 0 else -S
    new, (impulse,) = impact(np.linalg.solve(H, S.T), S, v, e)
    size = np.linalg.cond(H) * 1e-15 * np.linalg.norm(v)
    direct = v - (1 + e) * np.linalg.solve(H, S.T)[:, 0] / (S @ np.linalg.solve(H, S.T))[0, 0] * (S @ v)
    assert np.allclose(new, direct, rtol=0, atol=20 * size)
    assert S @ new == pytest.approx(-e * (S @ v), abs=50 * size * np.linalg.norm(S))
    assert np.allclose(H @ (new - v), S[0] * impulse, atol=50 * size * np.linalg.norm(H))
    lost = 0.5 * (v @ H @ v - new @ H @ new)
    exact = 0.5 * (1 - e**2) * (S @ v) ** 2 / (S @ np.linalg.solve(H, S.T))[0, 0]
    assert lost == pytest.approx(exact[0], rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_several_stops_push_only_where_they_have_to(seed):
    rng = np.random.default_rng(seed)
    n, k = 6, int(rng.integers(2, 6))
    A = rng.standard_normal((n, n))
    H, S, v = A @ A.T + np.eye(n), rng.standard_normal((k, n)), rng.standard_normal(n)
    S = np.where((S @ v < 0)[:, None], S, -S)  # all approach
    e = np.full(k, rng.uniform(0, 1))
    new, impulses = impact(np.linalg.solve(H, S.T), S, v, e)
    wanted, after = -e * (S @ v), S @ new
    small = 1e-11 * np.abs(S @ v).max()
    assert np.all(impulses >= 0)
    assert np.all(after >= wanted - small)
    assert np.all((impulses == 0) | (np.abs(after - wanted) < small))
    lost = 0.5 * (v @ H @ v - new @ H @ new)
    assert lost == pytest.approx(0.5 * (1 - e[0]) * impulses @ -(S @ v), rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("seed", range(30))
def test_stops_that_others_close_are_hit_in_turn(seed):
    rng = np.random.default_rng(seed)
    n, k = 6, int(rng.integers(2, 6))
    A = rng.standard_normal((n, n))
    H, S, v = A @ A.T + np.eye(n), rng.standard_normal((k, n)), rng.standard_normal(n)
    new, impulses = impact(np.linalg.solve(H, S.T), S, v, np.full(k, rng.uniform(0, 1)))
    assert np.all(impulses >= 0)
    assert np.all(S @ new >= -1e-12 * np.linalg.norm(S) * np.linalg.norm(v))
    assert np.allclose(H @ (new - v), S.T @ impulses, atol=1e-11 * np.linalg.norm(H) * np.linalg.norm(v))
    assert new @ H @ new <= v @ H @ v * (1 + 1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_complementary_solves_its_problem(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 9))
    B = rng.standard_normal((n, n + 2))
    A, b = B @ B.T, rng.standard_normal(n)
    x = complementary(A, b)
    w = A @ x + b
    small = 1e-10 * np.linalg.cond(A) ** 0.5
    assert np.all(x >= 0)
    assert np.all(w >= -small)
    assert np.all(np.abs(x * w) <= small)


def test_complementary_with_stops_that_say_the_same():
    A = np.ones((2, 2))
    x = complementary(A, np.array([-1.0, -1.0]))
    assert np.all(x >= 0)
    assert A @ x == pytest.approx([1.0, 1.0], abs=1e-12)


@pytest.mark.parametrize("seed", seeds(4, quick=2))
def test_impacts_of_a_mechanism_obey_the_law(seed):
    model = limited(kn.testing.random_tree(seed, 4, types=["revolute", "prismatic"], resistance=False), -0.6, 0.5)
    rng = np.random.default_rng(seed)
    e = 0.7
    v0 = 3 * rng.standard_normal(model.nv)
    motion = kn.simulate(model, np.zeros(model.nq), v0, 1.0, joint_limits=kn.simulation.RigidStops(e), dt=2e-3)
    bounds = RangeEnds(model, bounds_of(model, None))
    found = impacts(motion)
    assert len(found) >= 3
    for o in found:
        H, touched = kn.mass_matrix(model, o.q), np.flatnonzero(np.abs(bounds.gaps(o.q)) < 1e-9)
        S = bounds.rows(o.q, touched)
        assert np.all(S @ o.v >= -1e-9)
        if len(touched) == 1 and S @ o.v_before < -1e-3:
            assert S @ o.v == pytest.approx(-e * (S @ o.v_before), rel=1e-9)
            outside = np.delete(H @ (o.v - o.v_before), np.flatnonzero(S[0]))
            assert np.abs(outside).max() <= 1e-10 * np.abs(H @ o.v).max()
    assert bounds.gaps(motion.q).min() >= -1e-9


# bounces


@pytest.mark.parametrize("integrator", ["rk4", "heun", "adaptive", "variational"])
def test_ball_bounces_at_the_analytic_times_and_comes_to_rest(integrator):
    e = 0.5
    motion = kn.simulate(
        ball(), [1.0], None, 2.0, dt=1e-2, integrator=integrator, joint_limits=kn.simulation.RigidStops(e)
    )
    times, speed = [math.sqrt(2 / G)], math.sqrt(2 * G)
    while speed > 1e-3:
        speed *= e
        times.append(times[-1] + 2 * speed / G)
    assert [o.time for o in impacts(motion)] == pytest.approx(times, abs=1e-12)
    (rest,) = (o for o in motion.events if o.kind == "rest")
    assert rest.time == impacts(motion)[-1].time
    assert motion.q[-1, 0] == 0.0
    assert motion.v[-1, 0] == pytest.approx(0.0, abs=1e-15)
    assert motion.reason == "finished"


def test_bounces_are_rows_of_one_time():
    motion = kn.simulate(ball(), [1.0], None, 0.6, dt=1e-2, joint_limits=kn.simulation.RigidStops(0.5))
    (k,) = np.flatnonzero(np.diff(motion.times) == 0)
    assert motion.times[k] == impacts(motion)[0].time
    assert motion.v[k + 1] == pytest.approx(-0.5 * motion.v[k])
    assert motion.v[k, 0] == pytest.approx(-math.sqrt(2 * G), rel=1e-13)


def test_many_bounces_in_one_step_end():
    motion = kn.simulate(ball(), [0.1], None, 4.0, dt=1.0, joint_limits=kn.simulation.RigidStops(0.9))
    speed, count = math.sqrt(2 * G * 0.1), 1
    while speed > 1e-3:
        speed, count = 0.9 * speed, count + 1
    assert len(impacts(motion)) == count
    assert motion.events[-1].kind == "rest"


@pytest.mark.parametrize("amplitude", [0.3, 1.5, 2.8])
def test_pendulum_bounces_at_the_bottom_with_half_its_period(amplitude):
    length = 0.7
    motion = kn.simulate(
        pendulum(length=length), [amplitude], None, 6.0, dt=1e-3, joint_limits=kn.simulation.RigidStops(1.0)
    )
    quarter = ellipk(math.sin(amplitude / 2) ** 2) * math.sqrt(length / G)
    times = [o.time for o in impacts(motion)]
    assert times == pytest.approx([quarter * (1 + 2 * k) for k in range(len(times))], abs=1e-8)
    assert len(times) == int((6.0 / quarter + 1) / 2)
    assert np.ptp(motion.energy) < 1e-8 * np.ptp(motion.kinetic_energy)


def test_energy_is_lost_in_impacts_only():
    e = 0.4
    motion = kn.simulate(pendulum(), [2.0], None, 4.0, dt=1e-3, joint_limits=kn.simulation.RigidStops(e))
    H = kn.mass_matrix(motion.model, [0.0])[0, 0]
    lost = sum(0.5 * H * (o.v_before[0] ** 2 - o.v[0] ** 2) for o in impacts(motion))
    assert motion.energy[0] - motion.energy[-1] == pytest.approx(lost, rel=1e-9)


# rest and release


@pytest.mark.parametrize("integrator", ["rk4", "heun", "adaptive", "variational", "euler"])
def test_ball_leaves_its_stop_when_the_force_exceeds_its_weight(integrator):
    def lift(model, t):
        return np.array([15.0 * t])

    motion = kn.simulate(
        ball(), [0.0], None, 2.0, dt=0.013, controller=lift, integrator=integrator, joint_limits="rigid"
    )
    assert [(o.kind, o.name) for o in motion.events] == [("rest", "height"), ("release", "height")]
    release = motion.events[1].time
    assert release == pytest.approx(2.0 * G / 15.0, abs=1e-10)
    assert np.abs(motion.q[motion.times <= release]).max() < 1e-16
    exact = 15.0 / 12.0 * (2.0 - release) ** 3  # m z̈ = 15 (t − release)
    assert motion.q[-1, 0] == pytest.approx(exact, rel=2e-2 if integrator == "euler" else 1e-3)


@pytest.mark.slow
def test_arm_at_rest_on_its_stops_stays_and_is_pushed():
    model = limited(kn.robots.load("double_pendulum").without_friction(), 0.3, 1.2)
    motion = kn.simulate(model, [0.9, 0.8], None, 1.5, dt=2e-3, joint_limits=kn.simulation.RigidStops(0.3))
    assert {o.name for o in motion.events if o.kind == "rest"} == {*model.joint_names}
    assert np.array_equal(motion.q[-1], [0.3, 0.3])
    assert np.abs(motion.v[-1]).max() < 1e-12
    assert np.all(np.diff(motion.energy) < 1e-8 * np.ptp(motion.energy))  # only ever lost


@pytest.mark.slow
def test_one_joint_rests_while_the_other_swings():
    model = limited(kn.robots.load("double_pendulum").without_friction(), -10.0, 10.0)
    first = dataclasses.replace(model.joints[0], limits=Limits((0.2,), (10.0,)))
    model = model.replace(joints=(first, model.joints[1]))
    motion = kn.simulate(model, [0.2, 0.1], None, 1.0, dt=1e-3, joint_limits="rigid")
    held = motion.q[:, 0] == 0.2
    assert held.mean() > 0.5
    assert np.ptp(motion.q[held, 1]) > 0.05
    assert np.ptp(motion.energy[held]) < 1e-9


@pytest.mark.slow
def test_a_kernel_and_a_function_meet_the_same_stops():
    @kn.kernel
    def spring(model, q, v, k):
        return -k * q

    def plain(model, q, v, k):
        return -k * q

    model = limited(kn.robots.load("double_pendulum"), -0.4, 0.4)
    runs = [
        kn.simulate(
            model,
            [0.3, 0.1],
            [4.0, -6.0],
            1.0,
            controller=c,
            parameters={"k": 1.0},
            joint_limits=kn.simulation.RigidStops(0.6),
        )
        for c in (spring, plain)
    ]
    a, b = ([o.time for o in run.events] for run in runs)
    assert len(a) > 3
    assert a == pytest.approx(b, abs=1e-8)


@pytest.mark.slow
def test_a_mimic_joint_stops_the_one_that_it_follows():
    builder = kn.Builder("gripper")
    builder.body("left", joint=Prismatic("z"), mass=1.0, joint_name="left")
    builder.body("right", joint=Prismatic("z"), mass=1.0, joint_name="right", limits=(-1.0, 1.0))
    builder.mimic("right", "left", ratio=2.0, offset=0.5)
    motion = kn.simulate(builder.build(), [0.0], None, 2.0, joint_limits=kn.simulation.RigidStops(0.0))
    assert motion.q[-1, 0] == pytest.approx(-0.75, abs=1e-15)  # 2 q + 0.5 = −1
    assert motion.events[0].name == "right"


def test_a_joint_that_cannot_move_rests_on_both_of_its_stops():
    model = limited(kn.robots.load("double_pendulum").without_friction(), 0.3, 0.3)
    motion = kn.simulate(model, [0.3, 0.3], None, 0.1, dt=1e-3, joint_limits=kn.simulation.RigidStops(0.5))
    assert np.all(motion.q == 0.3)
    assert np.abs(motion.v).max() < 1e-15


def test_a_joint_and_its_mimic_rest_together():
    builder = kn.Builder("pair")
    builder.body("left", joint=Prismatic("z"), mass=1.0, joint_name="left", limits=(-1.0, 1.0))
    builder.body("right", joint=Prismatic("z"), mass=1.0, joint_name="right", limits=(-1.0, 1.0))
    builder.mimic("right", "left")
    motion = kn.simulate(builder.build(), [0.0], None, 2.0, dt=1e-2, joint_limits=kn.simulation.RigidStops(0.4))
    assert {o.name for o in motion.events if o.kind == "impact"} <= {"left", "right"}  # either may take the blow
    assert motion.q[-1, 0] == -1.0
    assert motion.q.min() >= -1.0 - 1e-12


@pytest.mark.slow
def test_euler_angles_have_stops_too():
    builder = kn.Builder("gimbal")
    builder.body("head", joint=kn.joints.Euler("zyx"), mass=1.0, com=(0.3, 0.1, -0.2), inertia=(0.1, 0.2, 0.3))
    model = limited(builder.build(), -0.5, 0.5)
    motion = kn.simulate(
        model, [0.1, 0.2, -0.1], [1.0, -2.0, 3.0], 3.0, joint_limits=kn.simulation.RigidStops(0.2), dt=2e-3
    )
    gaps = RangeEnds(model, bounds_of(model, None)).gaps(motion.q)
    assert len(impacts(motion)) >= 3
    assert gaps.min() >= -1e-9
    after = motion.energy[0] - motion.energy
    assert np.all(after > -1e-6 * np.ptp(motion.kinetic_energy))


# compliant stops


@pytest.mark.slow
def test_compliant_stops_store_energy_and_give_it_back():
    model, k = pendulum(lower=0.0), 300.0
    motion = kn.simulate(
        model, [1.0], None, 3.0, integrator=PRECISE, dt=1e-3, joint_limits=kn.simulation.CompliantStops(k, damping=0.0)
    )
    depth = np.minimum(motion.q[:, 0], 0)
    assert depth.min() < -0.05
    assert np.ptp(motion.energy + 0.5 * k * depth**2) < 1e-8 * np.ptp(motion.kinetic_energy)


@pytest.mark.slow
def test_compliant_stops_lose_what_their_dampers_take():
    model, k, d = pendulum(lower=0.0), 300.0, 4.0
    stops = kn.simulation.CompliantStops(k, damping=d)
    motion = kn.simulate(model, [1.0], None, 1.5, integrator=PRECISE, dt=1e-4, joint_limits=stops)
    push = np.array([stops.force(model, [q], [v])[0] for (q,), (v,) in zip(motion.q, motion.v, strict=True)], float)
    assert push.min() == 0.0  # it never pulls
    work = np.trapezoid(push * motion.v[:, 0], motion.times)
    assert motion.energy[-1] - motion.energy[0] == pytest.approx(work, rel=2e-3)  # a jump of the force within a row


def test_compliant_stops_with_a_kernel_a_function_and_an_array():
    @kn.kernel
    def push(model, t, tau0):
        return tau0 * t

    def plain(model, t, tau0):
        return tau0 * t

    model, stops = pendulum(lower=-0.1, upper=0.1), kn.simulation.CompliantStops({"pivot": 200.0}, 1.0)
    given = {"tau0": [3.0]}
    a = kn.simulate(model, None, None, 1.0, controller=push, parameters=given, joint_limits=stops)
    b = kn.simulate(model, None, None, 1.0, controller=plain, parameters=given, joint_limits=stops)
    assert np.allclose(a.q, b.q, atol=1e-10)
    assert np.array_equal(a.tau[:, 0], 3.0 * a.times)
    c = kn.simulate(model, None, None, 2.0, controller=[3.0], joint_limits=kn.simulation.CompliantStops(200.0, 20.0))
    assert 0.1 < c.q[-1, 0] < 0.2
    assert np.all(c.tau == 3.0)


# what is refused


def test_wrong_stops():
    model = pendulum(0.0, 1.0)
    with pytest.raises(ValueError, match=r"q0: joint 'pivot' is at 2, beyond its upper limit by 1"):
        kn.simulate(model, [2.0], joint_limits="rigid")
    with pytest.raises(ValueError, match=r"restitution is 1\.5, and must be between 0 and 1"):
        kn.simulation.RigidStops(1.5)
    with pytest.raises(ValueError, match=r"restitution of joint 'pivot' is -1\.0"):
        kn.simulation.RigidStops({"pivot": -1})
    with pytest.raises(ValueError, match="rest_speed=0 must be positive"):
        kn.simulation.RigidStops(rest_speed=0)
    with pytest.raises(ValueError, match="stiffness is nan"):
        kn.simulation.CompliantStops(math.nan)
    with pytest.raises(KeyError, match="no joint is called 'elbow'"):
        kn.simulate(model, joint_limits=kn.simulation.RigidStops(joints=["elbow"]))
    with pytest.raises(TypeError, match='joint_limits is None, "rigid", RigidStops'):
        kn.simulate(model, joint_limits=3)  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(("integrator", "dt"), [("rk4", 0.01), ("variational", 0.01), ("adaptive", None)])
@pytest.mark.parametrize("apex", [0.105, 0.1093, 0.005, 0.2])
def test_a_stop_that_is_passed_and_passed_back_within_a_step_is_hit(integrator, dt, apex):
    rise, e = 2e-6, 0.5
    before = math.sqrt(2 * rise / G)
    model = ball(-math.inf, G * apex**2 / 2 - rise)
    motion = kn.simulate(
        model,
        [0.0],
        [G * apex],
        0.4,
        dt=dt,
        integrator=integrator,
        joint_limits=kn.simulation.RigidStops(restitution=e),
        progress=False,
    )
    (hit,) = impacts(motion)
    assert hit.time == pytest.approx(apex - before, abs=1e-9)
    assert hit.v[0] == pytest.approx(-e * G * before, abs=1e-7)
    assert motion.q.max() <= model.joints[0].limits.upper[0] * (1 + 1e-15)


def test_what_rests_is_locked_and_friction_knows_it():
    """An arm with dry friction rests on a stop while its other joint turns back: as if the joint were welded there."""
    b = kn.Builder("arm", gravity=(0, 0, -G))
    b.body("upper", joint=Revolute("y"), inertia=point_mass(2.0, at=(0.5, 0, 0)), limits=(-1.0, 0.2), friction=0.3)
    b.body("lower", "upper", Revolute("y"), (1.0, 0, 0), inertia=point_mass(1.0, at=(0.4, 0, 0)), friction=0.2)
    model = b.build()
    q0, v0 = [0.1, 0.3], [0.5, -4.0]
    found = kn.simulate(model, q0, v0, 1.0, dt=1e-3, integrator="rk4", joint_limits="rigid")
    at = next(k for k, t in enumerate(found.times) if t > max(o.time for o in found.events if o.kind != "event"))
    assert found.q[at, 0] == 0.2
    joints = list(model.joints)
    joints[0] = dataclasses.replace(joints[0], rotor_inertia=(1e12,), friction=(0.0,))
    locked = model.replace(joints=tuple(joints))
    rest = found.times[-1] - found.times[at]
    expected = kn.simulate(locked, found.q[at], found.v[at], rest, dt=1e-3, integrator="rk4")
    assert np.ptp(np.sign(found.v[at:, 1])) > 0  # it turns back
    assert found.q[-1] == pytest.approx(expected.q[-1], abs=1e-9)
