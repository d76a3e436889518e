"""Dry friction: joints stick truly, slide under a constant force, and change at the right time."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.joints import Planar, Prismatic, Revolute, Spherical
from knuckle.model import Linear, solid_box
from knuckle.solvers.complementarity import boxed
from knuckle.spatial import Vector

from ..seeds import quick, seeds

Array = np.ndarray[Any, Any]
MASS, FRICTION = 2.0, 3.0
ARM = kn.robots.load("arm")
EXACT = ["heun", "rk4", "variational", "adaptive"]
"""Methods whose steps are exact where accelerations are constant."""
OTHERS = ["euler", "implicit", "bdf1", "bdf2"]


def block(**options: Any) -> kn.Model:
    """A block on a line."""
    b = kn.Builder("block", gravity=(0, 0, 0))
    b.body("block", joint=Prismatic("x"), mass=MASS, friction=FRICTION, **options)
    return b.build()


def dry(model: kn.Model, friction: float) -> kn.Model:
    """The mechanism with this dry friction at every joint, and nothing else that takes energy."""
    joints = (dataclasses.replace(j, damping=(), friction=(friction,) * j.type.nv) for j in model.joints)
    return model.replace(joints=tuple(joints))


def chain() -> kn.Model:
    """Three links, with less friction the further out."""
    b, on = kn.Builder("chain"), "base"
    for i, f in enumerate((3.0, 0.8, 0.3)):
        b.body(f"l{i}", on=on, joint=Revolute("y"), at=(0, 0, -0.4 if i else 0), friction=f,
               inertia=solid_box(1.0 - 0.3 * i, (0.1, 0.1, 0.4), at=(0, 0, -0.2)))  # fmt: skip
        on = f"l{i}"
    return b.build()


def run(model: kn.Model, q: Any, v: Any, duration: float, **options: Any) -> kn.Trajectory:
    return kn.simulate(model, q, v, duration, progress=False, **options)


@pytest.mark.parametrize("integrator", EXACT)
def test_a_block_slides_and_stops(integrator: str):
    """v = v₀ − (f/m) t until t = m v₀/f, after m v₀²/(2f); then nothing moves any more."""
    v0 = 1.0
    end, way = MASS * v0 / FRICTION, MASS * v0**2 / (2 * FRICTION)
    events = kn.simulation.Event(lambda t, q, v: float(v[0] == 0.0) - 0.5, "stands")
    motion = run(block(), [0.0], [v0], 1.0, integrator=integrator, events=events if integrator == "rk4" else None)
    t, q, v = motion.times, motion.q[:, 0], motion.v[:, 0]
    sliding = np.maximum(0.0, end - t)
    assert v == pytest.approx(FRICTION / MASS * sliding, abs=1e-9)
    assert q == pytest.approx(way - FRICTION / MASS * sliding**2 / 2, abs=1e-9)
    stands = t > end
    assert np.all(v[stands] == 0)
    assert np.all(q[stands] == q[-1])


@pytest.mark.parametrize("integrator", OTHERS)
def test_methods_of_low_order_stop_within_their_error(integrator: str):
    motions = [run(block(), [0.0], [1.0], 1.0, integrator=integrator, dt=dt) for dt in (1e-3, 1e-4)]
    errors = [abs(motion.q[-1, 0] - MASS / (2 * FRICTION)) for motion in motions]
    assert errors[0] < 2e-3
    assert errors[1] < 0.2 * errors[0]
    assert all(motion.v[-1, 0] == 0 for motion in motions)


@pytest.mark.parametrize("integrator", EXACT + OTHERS)
@pytest.mark.parametrize("push", [0.999, -0.999])
def test_what_is_pushed_too_little_never_moves(integrator: str, push: float):
    motion = run(block(), [0.3], [0.0], 0.5, integrator=integrator, controller=[push * FRICTION])
    assert np.all(motion.q == 0.3)
    assert np.all(motion.v == 0)
    found = kn.rollout(block(), [[0.0]], [[0.0]], [push * FRICTION], 1e-3, steps=500, integrator="rk4")
    assert np.all(found.q == 0)
    assert np.all(found.v == 0)


@pytest.mark.parametrize("as_text", [True, False])
def test_a_growing_force_breaks_away_in_time(as_text: bool):
    """With τ = c t it slips at t₀ = f/c, and x = c (t − t₀)³/(6 m)."""
    c, start = 10.0, FRICTION / 10.0

    def ramp(model: kn.Model, t: Any, q: Any) -> Any:
        return 0.0 * q + c * t * np.ones(1) if isinstance(q, np.ndarray) else Vector([c * t])

    controller = kn.kernel(ramp) if as_text else ramp
    motion = run(block(), [0.0], None, 1.0, controller=controller, dt=0.01)
    late = np.maximum(0.0, motion.times - start)
    assert motion.q[:, 0] == pytest.approx(c * late**3 / (6 * MASS), abs=1e-12)
    assert motion.v[:, 0] == pytest.approx(c * late**2 / (2 * MASS), abs=1e-12)
    assert np.all(motion.q[motion.times < start] == 0)


def test_a_sprung_block_loses_the_same_every_swing():
    """Each half swing ends 2 f/k nearer, until the spring cannot pull it off."""
    k, start = 200.0, 0.1
    swings, x = [start], start
    while k * abs(x) > FRICTION:
        x = -np.sign(x) * (abs(x) - 2 * FRICTION / k)
        swings.append(x)
    half = np.pi * np.sqrt(MASS / k)
    motion = run(block(stiffness=k), [start], None, half * len(swings), dt=half / 100)
    assert motion.q[::100, 0][: len(swings)] == pytest.approx(swings, abs=1e-7)
    assert motion.v[-1, 0] == 0
    assert motion.q[-1, 0] == pytest.approx(swings[-1], abs=1e-7)


def stuck_arm() -> tuple[kn.Model, Array]:
    """With friction that holds it against gravity where it is."""
    q = np.random.default_rng(3).uniform(-1, 1, ARM.nq)
    return dry(ARM, 1.001 * float(np.abs(kn.gravity_force(ARM, q)).max())), q


@pytest.mark.slow
@pytest.mark.parametrize("integrator", quick(["rk4", "implicit", "adaptive"], ["adaptive"]))
def test_the_arm_sticks_forever_where_gravity_is_too_weak(integrator: str):
    strong, q = stuck_arm()
    motion = run(strong, q, None, 2.0, integrator=integrator, save_every=100)
    assert np.all(motion.q == q)
    assert np.all(motion.v == 0)


@pytest.mark.slow
def test_the_arm_sticks_in_a_rollout():
    strong, q = stuck_arm()
    found = kn.rollout(strong, q[None], np.zeros((1, 7)), None, 1e-3, steps=2000, save_every=500, integrator="rk4")
    assert np.all(found.q == q)


def test_energy_lost_is_the_work_of_friction():
    """Joint by joint, the work is f times the way that it slid: from row to row, and to where it turned."""
    model = dry(ARM, 2.0)
    turns = {joint.name: (lambda t, q, v, i=i: v[i]) for i, joint in enumerate(model.joints)}
    q0, v0 = [0.3, 0.5, -0.4, 1.0, 0.2, -0.5, 0.1], [1.0, -2.0, 0.5, 0.0, 3.0, -1.0, 2.0]
    motion = run(model, q0, v0, 1.0, dt=5e-4, events=turns)
    work = 0.0
    for i, joint in enumerate(model.joints):
        turned = [(e.time, e.q[i]) for e in motion.events if e.name == joint.name]
        points = sorted([*zip(motion.times, motion.q[:, i], strict=True), *turned])
        work += 2.0 * float(np.abs(np.diff([x for _, x in points])).sum())
    lost = motion.energy[0] - motion.energy[-1]
    assert len(motion.events) > 5
    assert lost > 1.0
    assert lost == pytest.approx(work, abs=1e-8)


@pytest.mark.parametrize(
    ("name", "integrator"),
    [
        pytest.param("arm", "rk4", marks=pytest.mark.slow),
        ("chain", "heun"),
        pytest.param("chain", "variational", marks=pytest.mark.slow),
    ],
)
def test_every_method_agrees_with_a_converged_one(name: str, integrator: str):
    tight = kn.integrators.DormandPrince(rtol=1e-11, atol_q=1e-11, atol_v=1e-11)
    if name == "arm":
        model, q, v = dry(ARM, 1.0), [0.3, 0.5, -0.4, 1.0, 0.2, -0.5, 0.1], [0.0, -2.0, 0.5, 0.0, 3.0, -1.0, 0.0]
    else:
        model, q, v = chain(), [1.2, 0.3, -0.8], [0.0, 4.0, -6.0]
    right = run(model, q, v, 0.4, integrator=tight)
    found = run(model, q, v, 0.4, integrator=integrator)
    assert found.q[-1] == pytest.approx(right.q[-1], abs=2e-6 if integrator == "rk4" else 2e-5)
    errors = [
        np.abs(
            kn.rollout(model, q, v, None, 0.4 / n, steps=n, save_every=n, integrator=integrator).q[-1] - right.q[-1]
        ).max()
        for n in (400, 1600)
    ]
    assert errors[0] < 1e-4
    assert errors[1] < errors[0] / 6


def moreau(model: kn.Model, q: Array, v: Array, f: Array, duration: float, steps: int) -> Array:
    """First-order stepping with the impulses of a box-constrained problem: another way to the same motion."""
    free, h = model.without_friction(), duration / steps
    for _ in range(steps):
        H = np.linalg.inv(kn.mass_matrix(free, q))
        ahead = v + h * kn.forward_dynamics(free, q, v, np.zeros(model.nv))
        v = ahead + H @ boxed(H, ahead, -h * f, h * f)
        q = kn.integrate(model, q, h * v)
    return q


@pytest.mark.slow
def test_joints_that_stop_each_other():
    """A chain of three in which stops make neighbours slip."""
    model, q, v = chain(), np.array([1.2, 0.3, -0.8]), np.array([0.0, 4.0, -6.0])
    f = np.array([joint.friction[0] for joint in model.joints])
    motion = run(model, q, v, 1.0)
    coarse, fine = (moreau(model, q, v, f, 1.0, n) for n in (1000, 2000))
    assert motion.q[-1] == pytest.approx(2 * fine - coarse, abs=3e-3)
    assert kn.rollout(model, q, v, None, 1e-3, steps=1000, integrator="rk4").q[-1] == pytest.approx(
        motion.q[-1], abs=3e-4
    )


def test_friction_of_a_joint_that_follows():
    """f₁ + |ratio| f₂ at the one variable that both have."""
    b = kn.Builder("geared", gravity=(0, 0, 0))
    b.body("a", joint=Prismatic("x"), mass=1.0, friction=1.0)
    b.body("b", joint=Prismatic("x"), mass=0.25, friction=0.5)
    b.mimic("b_joint", "a_joint", ratio=-2.0)
    model = b.build()
    motion = run(model, [0.0], [1.0], 1.5)
    assert motion.q[-1, 0] == pytest.approx(2.0 / (2 * 2.0), abs=1e-9)
    assert motion.v[-1, 0] == 0


def test_friction_on_several_variables_at_once_is_refused():
    b = kn.Builder("differential")
    for name in "abc":
        b.body(name, joint=Revolute("y"), mass=1.0, inertia=(1, 1, 1), friction=1.0 if name == "c" else 0.0)
    b.couple("c_joint", ["a_joint", "b_joint"], Linear((0.5, 0.5)))
    with pytest.raises(ModelError, match="'c_joint' has dry friction and follows several joints"):
        run(b.build(), None, None, 0.1)
    with pytest.raises(ModelError, match="'c_joint' has dry friction"):
        kn.rollout(b.build(), [[0.0, 0.0]], [[0.0, 0.0]], None, 1e-3, steps=1)


def test_friction_does_not_run_backwards():
    with pytest.raises(ValueError, match=r"dt=-0.001 goes back in time, and block has dry friction"):
        kn.rollout(block(), [[0.0]], [[1.0]], None, -1e-3, steps=3)


@pytest.mark.slow
def test_a_loop_sticks_and_slides():
    model = dry(kn.robots.load("four_bar"), 0.05)
    q = kn.loops.close(model).q
    _, v = kn.loops.project(model, q, np.ones(model.nv))
    motion = run(model, q, v, 1.0)
    assert np.all(motion.v[-1] == 0)
    assert np.abs(kn.loops.error(model, motion.q)).max() < 1e-9
    lost = motion.energy[0] - motion.energy[-1]
    assert lost == pytest.approx(0.05 * np.abs(np.diff(motion.q, axis=0)).sum(), rel=1e-4)
    strong = dry(model, 100.0)
    assert np.abs(run(strong, q, None, 0.2).q - q).max() < 1e-12


@pytest.mark.slow
def test_several_freedoms_of_one_joint():
    b = kn.Builder("puck", gravity=(0, 0, 0))
    b.body("puck", joint=Planar("z"), mass=1.0, inertia=(1, 1, 1), friction=(0.1, 2.0, 2.0))
    b.body("ball", on="puck", joint=Spherical(), mass=0.1, inertia=(0.01, 0.02, 0.03), friction=0.5)
    model = b.build()
    motion = run(model, kn.neutral(model), [0.0, 1.0, 0.0, 0.0, 0.0, 0.0], 1.0)
    assert np.all(motion.v[-1] == 0)
    assert motion.q[-1, 1] == pytest.approx(1.1 / 4, abs=1e-9)


@pytest.mark.parametrize("stiff", [False, True])
def test_stops_and_friction_together(stiff: bool):
    """A block runs into its end, comes back by half, and stands still at last."""
    b = kn.Builder("block", gravity=(0, 0, 0))
    b.body("block", joint=Prismatic("x"), mass=MASS, friction=FRICTION, limits=(-1.0, 0.2))
    stops: Any = kn.simulation.CompliantStops(stiffness=1e6) if stiff else kn.simulation.RigidStops(restitution=0.5)
    motion = run(b.build(), [0.0], [1.0], 2.0, joint_limits=stops, dt=1e-4 if stiff else 1e-3)
    arriving = 1.0 - 2 * FRICTION / MASS * 0.2
    leaving = arriving * (1.0 if stiff else 0.25)
    assert motion.q[-1, 0] == pytest.approx(0.2 - MASS * leaving / (2 * FRICTION), abs=2e-3 if stiff else 1e-9)
    assert motion.v[-1, 0] == 0


@pytest.mark.slow
def test_a_joint_rests_on_its_stop_against_friction():
    """Pushed into the stop with more than friction; then with less, and it sticks there; then away."""
    b = kn.Builder("block", gravity=(0, 0, 0))
    b.body("block", joint=Prismatic("x"), mass=MASS, friction=FRICTION, limits=(-1.0, 0.0))

    @kn.kernel
    def push(model: kn.Model, t: Any, q: Any) -> Any:
        return Vector([10.0 - 20.0 * t])

    motion = run(b.build(), [-0.1], None, 1.0, controller=push, joint_limits="rigid")
    late = np.maximum(0.0, motion.times - 0.65)
    assert motion.q[motion.times > 0.5, 0] == pytest.approx(-20 * late[motion.times > 0.5] ** 3 / (6 * MASS), abs=1e-9)


def test_single_precision():
    found = kn.rollout(
        block(), np.zeros((4, 1), np.float32), np.full((4, 1), 1.0, np.float32), None, 1e-3, steps=1000,
        integrator="rk4",
    )  # fmt: skip
    assert found.q.dtype == np.float32
    assert found.q[:, -1] == pytest.approx(MASS / (2 * FRICTION), abs=1e-4)
    assert np.all(found.v[:, -1] == 0)


@pytest.mark.parametrize("seed", seeds(40, quick=8))
def test_box_constrained_problems(seed: int):
    """Against all choices of sides."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 5))
    M = rng.normal(size=(n, n))
    A, b = M @ M.T + 0.01 * np.eye(n), rng.normal(size=n)
    lower, upper = -rng.uniform(0.1, 1, n), rng.uniform(0.1, 1, n)
    x = boxed(A, b, lower, upper)
    for side in product((-1, 0, 1), repeat=n):
        s = np.array(side)
        y = np.where(s < 0, lower, np.where(s > 0, upper, 0.0))
        free = s == 0
        y[free] = np.linalg.solve(A[np.ix_(free, free)], -b[free] - A[np.ix_(free, ~free)] @ y[~free])
        w = A @ y + b
        if np.all((lower <= y) & (y <= upper)) and np.all(w[s < 0] >= 0) and np.all(w[s > 0] <= 0):
            break
    assert x == pytest.approx(y, abs=1e-9)


def test_a_run_goes_on_from_a_checkpoint(tmp_path: Any):
    """To the last bit, with the modes that the joints had."""
    model, q, v = chain(), [1.2, 0.3, -0.8], [0.0, 4.0, -6.0]
    whole = run(model, q, v, 0.2)
    stored = run(model, q, v, 0.2, checkpoint=tmp_path / "run", checkpoint_every=0.0)
    np.testing.assert_array_equal(stored.q, whole.q)
    points = sorted((tmp_path / "run").iterdir())
    assert len(points) > 2
    again = kn.simulation.resume(tmp_path / "run")
    np.testing.assert_array_equal(again.q, whole.q)


@pytest.mark.parametrize("integrator", quick(["implicit", "euler", "bdf2", "variational"], ["euler"]))
def test_python_controllers_meet_friction(integrator: str):
    """A force by a function of arrays does what the same force as an array does."""
    model, q, tau = chain(), [1.2, 0.3, -0.8], np.array([-6.0, 0.5, 2.0])
    native = run(model, q, None, 0.03, integrator=integrator, controller=tau)
    asked = run(model, q, None, 0.03, integrator=integrator, controller=lambda model, t, q, v: tau)
    assert asked.q[-1] == pytest.approx(native.q[-1], abs=1e-9)
    assert np.array_equal(asked.v[-1] == 0, native.v[-1] == 0)
