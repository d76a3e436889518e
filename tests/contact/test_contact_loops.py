"""Contact with closed loops, joints that follow others, friction at joints and limits: one problem for all of them."""

import math

import numpy as np
import pytest
from tests.seeds import quick

import knuckle as kn
from knuckle.integrators import ContactSteps
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model import Geometry, Model, Sphere, solid_box, solid_sphere
from knuckle.model.surfaces import ContactRules, Surface
from knuckle.spatial import Transform

from .scenes import G

STEPS = ContactSteps()
R = 0.02


def ball_at(x: float, z: float) -> Geometry:
    return Geometry(Sphere(R), Transform.translation((x, 0.0, z)))


def alone_with_the_ground(b: kn.Builder, friction: float = 0.8) -> Model:
    """Bodies of the mechanism do not touch each other."""
    b.ground()
    model = b.build()
    names = model.body_names
    ignored = tuple((a, c) for k, a in enumerate(names) for c in names[k + 1 :])
    return model.replace(contact=ContactRules((Surface(friction=friction),), ignored=ignored))


def frame_of_four_bars(loops: int = 1) -> Model:
    """A parallelogram that lies on its lowest bar's ends and falls over; with two loops, one of them is redundant."""
    bar = solid_box(1.0, (0.4, 0.02, 0.02))
    b = kn.Builder("frame")
    b.body("bottom", joint=Free(), at=(0, 0, R), inertia=bar, collisions=[ball_at(-0.2, 0), ball_at(0.2, 0)])
    upright = solid_box(0.5, (0.02, 0.02, 0.3), at=(0, 0, 0.15))
    b.body("left", on="bottom", at=(-0.2, 0, 0), joint=Revolute("y"), inertia=upright, limits=(-1.2, 1.2))
    b.body("right", on="bottom", at=(0.2, 0, 0), joint=Revolute("y"), inertia=upright)
    lid = solid_box(1.0, (0.4, 0.02, 0.02), at=(0.2, 0, 0))
    b.body("top", on="left", at=(0, 0, 0.3), joint=Revolute("y"), inertia=lid,
           collisions=[ball_at(0.0, 0), ball_at(0.4, 0)])  # fmt: skip
    for k in range(loops):
        b.close_loop(f"corner{k}", Revolute("y"), "right", "top", at_predecessor=(0, 0, 0.3), at_successor=(0.4, 0, 0))
    return alone_with_the_ground(b)


def parallel_biped() -> Model:
    """A biped in a plane whose knees are driven by a rod beside the thigh: a parallelogram in each leg."""
    b = kn.Builder("biped")
    b.body("trunk", joint=Free(), at=(0, 0, 0.6 + R), inertia=solid_box(5.0, (0.1, 0.3, 0.2)))
    for side, y in (("left", 0.1), ("right", -0.1)):
        link = solid_box(0.5, (0.04, 0.04, 0.3), at=(0, 0, -0.15))
        b.body(f"{side}_thigh", on="trunk", at=(0, y, 0), joint=Revolute("y"), inertia=link, friction=0.1)
        b.body(
            f"{side}_crank", on="trunk", at=(0, y, 0), joint=Revolute("y"), inertia=solid_box(0.1, (0.1, 0.02, 0.02))
        )
        b.body(f"{side}_shank", on=f"{side}_thigh", at=(0, 0, -0.3), joint=Revolute("y"), inertia=link,
               collisions=[ball_at(-0.05, -0.3), ball_at(0.1, -0.3)], limits=(-0.1, 2.0))  # fmt: skip
        b.body(f"{side}_rod", on=f"{side}_crank", at=(-0.05, 0, 0), joint=Revolute("y"),
               inertia=solid_box(0.1, (0.02, 0.02, 0.3), at=(0, 0, -0.15)))  # fmt: skip
        b.close_loop(f"{side}_knee", Revolute("y"), f"{side}_shank", f"{side}_rod", at_predecessor=(-0.05, 0, 0),
                     at_successor=(0, 0, -0.3))  # fmt: skip
    return alone_with_the_ground(b)


def energy(model: Model, motion) -> np.ndarray:
    return kn.kinetic_energy(model, motion.q, motion.v) + kn.potential_energy(model, motion.q)


@pytest.mark.slow
@pytest.mark.parametrize("loops", quick([1, 2], [2]))
def test_a_frame_of_four_bars_falls_over_on_the_ground(loops: int):
    """It shears until its top touches the ground; loops stay closed to rounding, redundant ones too."""
    model = frame_of_four_bars(loops)
    q = kn.loops.close(model, _set(model, {"left_joint": 0.3, "right_joint": 0.3, "top_joint": -0.3})).q
    steps = ContactSteps(joint_limits=True)
    motion = kn.rollout(model, q, np.zeros(model.nv), None, 1e-3, duration=1.5, integrator=steps)
    assert np.abs(kn.loops.gap(model, motion.q)).max() < 1e-9
    assert np.abs(kn.loops.error_rate(model, motion.q, motion.v)).max() < 1e-9
    gaps = kn.contact.gaps(model, motion.q)
    assert gaps.min() > -1e-4
    E = energy(model, motion)
    assert np.diff(E).max() < 1e-3 * np.ptp(E)


@pytest.mark.slow
def test_redundant_loops_change_nothing():
    once, twice = frame_of_four_bars(1), frame_of_four_bars(2)
    q = kn.loops.close(once, _set(once, {"left_joint": 0.3, "right_joint": 0.3, "top_joint": -0.3})).q
    a, b = (kn.rollout(m, q, np.zeros(m.nv), None, 1e-3, steps=200, integrator=STEPS) for m in (once, twice))
    np.testing.assert_allclose(b.q, a.q, atol=1e-9)
    np.testing.assert_allclose(b.v, a.v, atol=1e-7)


def _set(model: Model, angles: dict[str, float]) -> np.ndarray:
    q = np.array(kn.neutral(model))
    for name, angle in angles.items():
        q[model.q_slices[model.joint_index(name)]] = angle
    return q


@pytest.mark.slow
def test_a_biped_with_parallel_knees_stands_on_its_feet():
    """Friction at the hips, limits at the knees, closed loops and sticking feet in one solve."""
    model = parallel_biped()
    bent = {
        f"{s}_{j}_joint": x
        for s in ("left", "right")
        for j, x in (("thigh", -0.3), ("shank", 0.6), ("crank", 0.3), ("rod", -0.6))
    }
    q = kn.loops.close(model, _set(model, bent)).q
    q[6] -= kn.contact.gaps(model, q).min()
    steps = ContactSteps(joint_limits=True)
    motion = kn.rollout(model, q, np.zeros(model.nv), None, 1e-3, duration=1.0, integrator=steps)
    assert np.abs(kn.loops.gap(model, motion.q)).max() < 1e-9
    E = energy(model, motion)
    assert np.ptp(E) > 1.0
    assert np.diff(E).max() < 1e-3 * np.ptp(E)
    assert kn.contact.gaps(model, motion.q).min() > -1e-3
    knees = [model.q_slices[model.joint_index(f"{s}_shank_joint")].start for s in ("left", "right")]
    assert motion.q[:, knees].min() > -0.1 - 1e-4
    assert motion.q[:, knees].max() < 2.0 + 1e-4


def test_impulses_act_on_the_constrained_mechanism():
    """A strike on a closed loop: ΔT = −½ u²/(t (H⁻¹ − H⁻¹Kᵀ(KH⁻¹Kᵀ)⁻¹KH⁻¹) tᵀ) for e = 0."""
    model = frame_of_four_bars()
    q = kn.loops.close(model, _set(model, {"left_joint": 0.3, "right_joint": 0.3, "top_joint": -0.3})).q
    q[6] += 0.0
    frictionless = model.replace(contact=ContactRules((Surface(friction=0.0),), ignored=model.contact.ignored))
    frictionless = frictionless.with_gravity((0, 0, 0))
    v = np.zeros(model.nv)
    v[5] = -1.0
    v[1] = 0.5  # one end of the bottom goes down, the other less
    dt = 1e-9
    K, H = kn.loops.jacobian(frictionless, q), kn.mass_matrix(frictionless.without_loops(), q)
    new = kn.rollout(frictionless, q, v, None, dt, steps=1, integrator=STEPS, stabilization=None).v[-1]
    inverse = np.linalg.inv(H)
    P = inverse - inverse @ K.T @ np.linalg.pinv(K @ inverse @ K.T, rcond=1e-10) @ K @ inverse
    x = -0.2, 0.2
    T = np.array([[0, -a, 0, 0, 0, 1.0, 0, 0, 0] for a in x])
    A, u = T @ P @ T.T, T @ v
    lam = np.linalg.solve(A, -u)
    assert (lam > 0).all()
    np.testing.assert_allclose(new, v + P @ T.T @ lam, atol=1e-6)


def geared_wheel(ratio: float) -> Model:
    """A wheel on a slider, a motor with a gear on it: the rotor turns `ratio` times the wheel."""
    b = kn.Builder("wheel", gravity=(0, 0, -G))
    b.body("slide", joint=Prismatic("x"), inertia=solid_box(1e-6, (0.1, 0.1, 0.1)))
    b.body("lift", on="slide", joint=Prismatic("z"), at=(0, 0, 0.1), inertia=solid_box(2.0, (0.1, 0.1, 0.1)))
    b.body("wheel", on="lift", joint=Revolute("y"), inertia=solid_sphere(1.0, 0.1), collisions=Sphere(0.1))
    b.rotor("rotor", "wheel_joint", ratio=ratio, inertia=1e-3)
    return alone_with_the_ground(b)


def test_a_geared_wheel_rolls_with_its_rotor():
    """Driven by a torque τ it rolls with a = τ r/(J + ρ²J_r + m r²), what the reflected inertia says."""
    ratio, tau, r = 5.0, 0.2, 0.1
    model = geared_wheel(ratio)
    v, dt, steps = np.zeros(model.nv), 1e-3, 300
    force = np.zeros(model.nv)
    k = model.v_slices[model.joint_index("wheel_joint")].start
    force[k] = tau
    motion = kn.rollout(model, kn.neutral(model), v, force, dt, steps=steps, integrator=STEPS)
    J, m = 0.4 * 1.0 * r * r + ratio**2 * 1e-3, 3.0 + 1e-6
    a = tau * r / (J + m * r * r)
    assert motion.v[-1, 0] == pytest.approx(a * steps * dt, rel=1e-9)
    assert motion.v[-1, k] * r == pytest.approx(motion.v[-1, 0], rel=1e-9)


def test_a_mimic_gripper_holds_a_ball():
    """Two fingers, one of which follows the other, squeeze a ball: friction carries it, or it slips."""

    def held(squeeze: float) -> float:
        b = kn.Builder("gripper", gravity=(0, 0, -G))
        finger = solid_box(0.2, (0.02, 0.05, 0.05))
        tip = Geometry(Sphere(0.02), Transform.translation((0, 0, 0)))
        b.body("first", joint=Prismatic("x"), at=(-0.07, 0, 1.0), inertia=finger, collisions=tip)
        b.body("second", joint=Prismatic("x"), at=(0.07, 0, 1.0), inertia=finger, collisions=tip)
        b.mimic("second_joint", "first_joint", ratio=-1.0)
        b.body("ball", joint=Free(), at=(0, 0, 1.0), inertia=solid_sphere(0.5, 0.05), collisions=Sphere(0.05))
        model = b.build().replace(contact=ContactRules((Surface(friction=0.5),)))
        force = np.zeros(model.nv)
        force[0] = squeeze
        motion = kn.rollout(model, None, None, force, 1e-3, duration=0.3, integrator=STEPS)
        assert motion.q.shape[-1] == 8
        return float(motion.q[-1, 7] - motion.q[0, 7])

    weight = 0.5 * G
    assert abs(held(2 * 1.05 * weight)) < 1e-9  # the force is shared: each finger pushes with half of it, times μ
    assert held(2 * 0.95 * weight) < -0.01


def test_limits_of_a_follower():
    """A joint that follows another stops where its own range ends."""
    b = kn.Builder("pair", gravity=(0, 0, -G))
    b.body("first", joint=Prismatic("z"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)), limits=(-10, 10))
    b.body("second", joint=Prismatic("z"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)), limits=(-0.3, 0.3))
    b.mimic("second_joint", "first_joint", ratio=0.5)
    motion = kn.rollout(b.build(), [0.0], [0.0], None, 1e-3, duration=1.0, integrator=ContactSteps(joint_limits=True))
    assert motion.q[-1, 0] == pytest.approx(-0.6, abs=1e-9)
    assert math.isclose(motion.v[-1, 0], 0, abs_tol=1e-9)
