"""The pulling spring: the law of its force, the balance of power, and steps that stay finite."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.model import ROOT, Model, to_planar
from knuckle.testing import auto_tree, random_state, random_tree
from knuckle.viewer.live.live_mechanism import STEP, Live
from knuckle.viewer.live.pulled_step import live_step
from knuckle.viewer.scene.poses import in_space, poses


def states(model: Model, seed: int) -> tuple[np.ndarray, np.ndarray]:
    state = random_state(model, seed)
    return np.asarray(state.q, float), np.asarray(state.v, float)


def step(model: Model, q: np.ndarray, v: np.ndarray, dt: float, body: str | None = None, **changes: object) -> tuple:
    """A step with nothing but what is given acting."""
    zero = np.zeros(model.nv)
    given: dict[str, object] = {
        "tau": zero, "q_ref": q, "kp": zero, "kd": zero, "stop": zero, "gravity": 1.0, "point": np.zeros(3),
        "target": np.zeros(3), "stiffness": 0.0, "damping": 0.0,
    }  # fmt: skip
    return live_step(model, q, v, *(given | changes).values(), dt, body=body)


def point_of(
    model: Model, q: np.ndarray, v: np.ndarray, body: str, point: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place, velocity and Jacobian (3, nv) of a body's point, by the library's functions."""
    T = in_space(np.asarray(kn.pose(model, q, body)))
    J = np.asarray(kn.jacobian(model, q, body, "aligned"))
    if len(J) == 3:
        J = np.array([0 * J[0], 0 * J[0], J[0], J[1], J[2], 0 * J[0]])
    arm = T[:3, :3] @ point
    Jp = J[3:] + np.cross(J[:3].T, arm).T
    return T[:3, 3] + arm, Jp @ v, Jp


MECHANISMS = {
    "tree": lambda: random_tree(3, 5),
    "arm": lambda: kn.robots.load("arm"),
    "planar": lambda: to_planar(auto_tree(3)),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_force_is_that_of_a_spring_with_a_damper(name: str):
    """For a vanishing step: a = H⁻¹ (Jᵀ f − C) with f = k (x − p) − c ṗ."""
    model = MECHANISMS[name]()
    q, v = states(model, 1)
    body, point, k, c = model.body_names[-1], np.array([0.1, -0.2, 0.3]), 40.0, 3.0
    if name == "planar":
        point[2] = 0.0
    p, rate, J = point_of(model, q, v, body, point)
    target = p + np.array([0.3, 0.1, -0.2])
    dt = 1e-9
    pulled = {"point": point, "target": target, "stiffness": k, "damping": c}
    whole, half = ((step(model, q, v, h, body, **pulled)[1] - v) / h for h in (dt, dt / 2))
    f = k * (target - p) - c * rate
    expected = np.linalg.solve(kn.mass_matrix(model, q), J.T @ f - kn.bias_force(model, q, v))
    # the implicit terms go with dt, so that 2 half − whole has them to dt²; v' − v has an error of ε|v|, over dt here
    error = np.abs(2 * half - whole - expected)
    assert error.max() < 1e-7 * np.abs(expected).max() + 10 * np.finfo(float).eps * np.abs(v).max() / dt


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_step_is_the_implicit_equation(name: str):
    """(H + h² k JᵀJ + h c JᵀJ) a = Jᵀ(k (x − p − h ṗ) − c ṗ − m* J̇v) − C for a finite step, solved by other means."""
    model = MECHANISMS[name]().without_friction()
    model = model.replace(joints=tuple(dataclasses.replace(joint, stiffness=(), rest=()) for joint in model.joints))
    q, v = states(model, 2)
    body, point, k, c, dt = model.body_names[-1], np.array([0.1, 0.2, 0.0]), 300.0, 20.0, 0.01
    p, rate, J = point_of(model, q, v, body, point)
    target = p + np.array([0.2, -0.3, 0.1])
    if name == "planar":
        target[2] = 0.0
    h = 1e-5
    there, back = (point_of(model, np.asarray(kn.integrate(model, q, s * h * v)), v, body, point)[1] for s in (1, -1))
    turning = (there - back) / (2 * h)  # d/dt of ṗ while v does not change: J̇ v, to h² and ε/h
    mass = dt * c + dt * dt * k
    f = k * (target - p - dt * rate) - c * rate - mass * turning
    H = kn.mass_matrix(model, q) + mass * J.T @ J
    expected = np.linalg.solve(H, J.T @ f - kn.bias_force(model, q, v))
    _, v1 = step(model, q, v, dt, body, point=point, target=target, stiffness=k, damping=c)
    assert np.allclose(
        (v1 - v) / dt, expected, rtol=0, atol=1e-7 * (np.abs(expected).max() + mass * np.abs(v).max() ** 2)
    )


def test_power_balance():
    """The energy of mechanism and spring falls by what the damper takes, c ṗ² per second, to the order of the step."""
    model = random_tree(5, 4).without_friction()
    q, v = states(model, 3)
    body, point, k, c = model.body_names[-1], np.array([0.1, 0.0, 0.2]), 30.0, 2.0
    target = point_of(model, q, v, body, point)[0] + np.array([0.4, 0.2, 0.1])

    def energy(q: np.ndarray, v: np.ndarray) -> float:
        p = point_of(model, q, v, body, point)[0]
        return float(kn.kinetic_energy(model, q, v) + kn.potential_energy(model, q) + k / 2 * np.sum((target - p) ** 2))

    lost = c * float(np.sum(point_of(model, q, v, body, point)[1] ** 2))
    errors = []
    for dt in (1e-4, 1e-5):
        q1, v1 = step(model, q, v, dt, body, point=point, target=target, stiffness=k, damping=c)
        errors.append(abs((energy(q1, v1) - energy(q, v)) / dt + lost))
    assert errors[1] < 0.12 * errors[0]
    assert errors[1] < 1e-2 * max(lost, 1.0)


@pytest.mark.slow
def test_without_a_spring_it_is_free_motion():
    model = kn.robots.load("arm")
    q, v = states(model, 4)
    dt = 1e-7
    _, v1 = step(model, q, v, dt)
    free = kn.forward_dynamics(model, q, v, np.zeros(7))
    assert np.allclose((v1 - v) / dt, free, rtol=0, atol=1e-4 * np.abs(free).max())
    _, weightless = step(model, q, v, dt, gravity=0.0)
    free = kn.forward_dynamics(model.with_gravity((0, 0, 0)), q, v, np.zeros(7))
    assert np.allclose((weightless - v) / dt, free, rtol=0, atol=1e-4 * np.abs(free).max())


def test_stiff_springs_come_to_rest():
    """A spring that no explicit step could follow: h²k is a tenth of all mass, many times the last link's."""
    arm = kn.robots.load("arm")
    live = Live(arm, [0.0, 0.8, 0.0, 1.0, 0.0, 0.5, 0.0])
    live.stiffness = 0.1 * kn.total_mass(arm) / STEP**2
    pull = live.grab(arm.nb - 1)
    start = pull.target.copy()
    live.drag(start + np.array([0.0, 0.05, 0.05]))
    for _ in range(100):
        live.advance(0.02)
    assert live.time == pytest.approx(2.0)
    ends = live.spring_ends()
    assert ends is not None
    assert np.linalg.norm(ends[0] - ends[1]) < 1e-3
    assert np.linalg.norm(ends[0] - start) > 0.06


@pytest.mark.slow
def test_a_held_posture_stays_and_comes_back():
    robot = kn.robots.load("quadruped")
    live = Live(robot)
    assert live.hold
    q = live.q.copy()
    live.advance(0.2)
    assert np.allclose(live.q, q, atol=1e-9)
    live.grab(0, target=poses(robot, q)[1, :3, 3] + np.array([0.0, 0.0, 0.2]))
    live.advance(0.3)
    assert np.abs(kn.difference(robot, q, live.q)).max() > 0.02
    live.release()
    for _ in range(150):
        live.advance(0.02)
    assert np.abs(kn.difference(robot, q, live.q)).max() < 1e-3


def test_joints_stop_at_their_limits():
    arm = kn.robots.load("arm")
    live = Live(arm, [0.0, 0.5, 0.0, 0.5, 0.0, 0.5, 0.0])
    for _ in range(150):
        live.advance(0.02)
    upper = np.array([joint.limits.upper[0] for joint in arm.joints])
    lower = np.array([joint.limits.lower[0] for joint in arm.joints])
    assert np.all(live.q < upper + 0.1)
    assert np.all(live.q > lower - 0.1)


def test_the_grabbed_point_is_where_it_was_taken():
    arm = kn.robots.load("arm")
    live = Live(arm, [0.1, 0.5, 0.2, 0.5, 0.3, 0.5, 0.1])
    place = poses(arm, live.q)[4, :3, 3] + np.array([0.02, 0.03, 0.01])
    live.grab(3, place)
    ends = live.spring_ends()
    assert ends is not None
    assert np.allclose(ends, [place, place], atol=1e-14)
    with pytest.raises(ValueError, match="a moving body can be pulled, not the base"):
        live.grab(ROOT)
    with pytest.raises(ValueError, match="not body 7, of which there are 7"):
        live.grab(7)


def test_the_past_is_kept_for_a_while():
    live = Live(kn.robots.load("pendulum"))
    for _ in range(260):
        live.advance(0.05)
    assert live.history[0][0] >= live.time - 10.0
    assert live.history[-1][0] == live.time == pytest.approx(13.0)


def test_what_cannot_be_followed_starts_again():
    live = Live(kn.robots.load("pendulum"))
    live.v = np.full_like(live.v, np.nan)
    live.advance(0.01)
    assert np.all(np.isfinite(live.v))
    assert live.time == 0.0


@pytest.mark.parametrize("name", [pytest.param("four_bar", marks=pytest.mark.slow), "crank_slider"])
def test_loops_stay_closed(name: str):
    model = kn.robots.load(name)
    live = Live(model, kn.loops.close(model).q)
    live.advance(0.2)
    pull = live.grab(0)
    live.drag(pull.target + np.array([0.05, 0.0, 0.1]))
    for _ in range(50):
        live.advance(0.02)
        assert np.abs(kn.loops.gap(model, live.q)).max() < 1e-8
    assert np.abs(live.q - live.start).max() > 0.1
