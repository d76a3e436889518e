"""Linearised motions: against differences of steps, against each other, and in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.registry import INTEGRATORS
from knuckle.joints import Composite, Free, Prismatic, Revolute, Translational
from knuckle.model import Box, Sphere, solid_box
from knuckle.simulation.gradients.governed_steps import constrained_laws

from . import rollout_mechanisms
from .rollout_mechanisms import flying

Array = np.ndarray[Any, Any]
linearize = kn.linearize
rng = np.random.default_rng(3)
E = 1e-4


def sprung() -> kn.Model:
    b = kn.Builder("sprung")
    b.body("a", joint=Prismatic((1.0, 0.0, 0.0)), inertia=solid_box(2.0, (0.1, 0.1, 0.1)), damping=0.3, stiffness=5.0)
    return b.build()


def arm() -> kn.Model:
    return rollout_mechanisms.arm(stiffness=0.4)


def thing(joint: Any, shape: Any, **surface: float) -> kn.Model:
    """A body over a floor."""
    b = kn.Builder("thing", base="world")
    b.surface("floor", friction=0.5, **surface)
    b.ground(surface="floor")
    inertia = solid_box(1.0, (0.4, 0.3, 0.2))
    b.body("thing", joint=joint, inertia=inertia, collisions=shape, surface="floor", joint_name="thing_joint")
    return b.build()


def differences(
    model: kn.Model, q: Array, v: Array, tau: Array, dt: float, E: float = E, **options: Any
) -> tuple[Array, Array]:
    """A and B of a step by differences with an error of the fourth order, all of them in one rollout."""
    n = model.nv
    changes = np.multiply.outer(np.array([-2, -1, 1, 2]) * E, np.eye(3 * n))
    start = kn.integrate(model, q, changes[..., :n]), v + changes[..., n : 2 * n]
    forces = (tau + changes[..., 2 * n :])[..., None, :]
    after = kn.rollout(model, *start, forces, dt, steps=1, **options)
    middle = kn.rollout(model, q, v, tau, dt, steps=1, **options)
    dq = kn.difference(model, middle.q[-1], after.q[..., -1, :])
    slopes = np.tensordot([1, -8, 8, -1], np.concatenate([dq, after.v[..., -1, :]], -1), 1).T / (12 * E)
    return slopes[:, : 2 * n], slopes[:, 2 * n :]


def check(model: kn.Model, integrator: str, **options: Any) -> None:
    state = kn.testing.random_state(model, 2)
    tau = rng.normal(size=model.nv)
    found = linearize(model, state.q, state.v, tau, 0.02, integrator=integrator, **options)
    expected = differences(model, state.q, state.v, tau, 0.02, integrator=integrator, **options)
    for x, y in zip(found, expected, strict=True):
        assert np.allclose(x, y, rtol=1e-8, atol=1e-8 * np.abs(y).max())


def test_a_mass_on_a_spring() -> None:
    """ẋ = v, m v̇ = u − d v − k x, and a semi-implicit step of that."""
    A, B = linearize(sprung(), [0.3], [0.1], [2.0])
    assert np.allclose(A, [[0, 1], [-2.5, -0.15]], atol=1e-14)
    assert np.allclose(B, [[0], [0.5]], atol=1e-14)
    dt = 0.1
    A1, B1 = linearize(sprung(), [[0.3], [0.5]], [0.1], [2.0], dt, integrator="euler")
    speed = np.array([-2.5 * dt, 1 - 0.15 * dt])
    assert A1.shape == (2, 2, 2)
    assert np.allclose(A1, [[1, 0] + dt * speed, speed], atol=1e-14)
    assert np.allclose(B1, [[dt * dt * 0.5], [dt * 0.5]], atol=1e-14)


@pytest.mark.parametrize("integrator", ["euler", "implicit"])
def test_steps_of_an_arm(integrator: str) -> None:
    check(arm(), integrator)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", [name for name in INTEGRATORS if name != "contact"])
def test_steps_by_every_integrator(integrator: str) -> None:
    check(arm(), integrator)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["euler", "implicit", "heun", "rk4"])
def test_steps_with_quaternions(integrator: str) -> None:
    check(flying(), integrator)


@pytest.mark.slow
def test_rates_are_slopes_of_short_steps() -> None:
    """(A(h) − A(−h)) / 2h goes to A of the rates, with turning frames and a wrench too."""
    model, h = flying(), 1e-4
    state = kn.testing.random_state(model, 2)
    tau, f_ext = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
    args = model, state.q, state.v, tau
    found = linearize(*args, f_ext=f_ext)
    ahead, back = (linearize(*args, dt, integrator="heun", f_ext=f_ext) for dt in (h, -h))
    for x, a, b in zip(found, ahead, back, strict=True):
        assert np.allclose(x, (a - b) / (2 * h), rtol=1e-5, atol=1e-5 * np.abs(x).max())


@pytest.mark.slow
@pytest.mark.parametrize("stabilization", ["projection", 0.1])
def test_loops_along_what_they_allow(stabilization: Any) -> None:
    """A change along a closed state goes to the change of the step from there."""
    model, dt = kn.robots.load("four_bar"), 0.01
    q = kn.loops.close(model).q
    v, tau = kn.loops.project(model, q, np.ones(model.nv))[1], rng.normal(size=model.nv)

    def at(s: float) -> tuple[Array, Array]:
        near = kn.loops.close(model, kn.integrate(model, q, s * v)).q
        return near, kn.loops.project(model, near, v)[1]

    def change(states: Any) -> Array:
        rows = [np.concatenate(states(k * E)) for k in (-2, -1, 1, 2)]
        return np.tensordot([1, -8, 8, -1], np.array(rows), 1) / (12 * E)

    def after(s: float) -> tuple[Array, Array]:
        motion = kn.rollout(model, *at(s), tau, dt, steps=1, integrator="euler", stabilization=stabilization)
        return motion.q[-1], motion.v[-1]

    A, _ = linearize(model, q, v, tau, dt, integrator="euler", stabilization=stabilization)
    assert np.allclose(A @ change(at), change(after), rtol=1e-7, atol=1e-7)


def beside(model: kn.Model, q: Any, v: Any, dt: float, tol: float = 1e-8, **options: Any) -> Any:
    """A and B of a step with contacts, against differences of steps."""
    tau = np.zeros(model.nv)
    found = linearize(model, q, v, tau, dt, **options)
    expected = differences(model, np.array(q), np.array(v), tau, dt, E=1e-5, **options)
    for x, y in zip(found, expected, strict=True):
        assert np.allclose(x, y, rtol=tol, atol=tol * max(dt, np.abs(y).max()))
    return found


@pytest.mark.parametrize(("v", "rank"), [([1.0, 0.3, -0.1], 2), ([1e-3, 0.0, -0.1], 0), ([1.0, 0.3, 3.0], 3)])
def test_a_puck_slides_sticks_and_leaves(v: list[float], rank: int) -> None:
    """A push moves what leaves every way, what slides along the ground, and what sticks not at all."""
    A, B = beside(thing(Translational(), Sphere(0.1)), [0.0, 0.0, 0.0999], v, 5e-3)
    assert np.linalg.matrix_rank(A[3:, 3:], 1e-9) == np.linalg.matrix_rank(B[3:], 1e-9) == rank


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "v"), [(Sphere(0.1), [0.1, 2.0, 0.3, 0.4, 0.5, -0.2]), (Box((0.4, 0.3, 0.2)), [0, 0, 0, 0.8, 0, -0.2])]
)
def test_what_rolls_and_slides(shape: Any, v: list[float]) -> None:
    beside(thing(Free(), shape), [1.0, 0, 0, 0, 0, 0, 0.0999], v, 5e-3, 1e-7)


def test_contacts_count_where_nothing_is_said() -> None:
    """A step with a ground is that of `rollout`; without contact, and for rates, there is a warning."""
    model, q, v = thing(Translational(), Sphere(0.1)), [0.0, 0.0, 0.0999], [1.0, 0.3, -0.1]
    found, named = linearize(model, q, v, dt=1e-3), linearize(model, q, v, dt=1e-3, integrator="contact")
    free = linearize(model, q, v, dt=1e-3, contacts=False)
    assert (found.A == named.A).all()
    assert not np.allclose(found.A, free.A)
    for options in ({}, {"dt": 1e-3, "integrator": "euler"}):
        with pytest.warns(RuntimeWarning, match="pass through the ground"):
            linearize(model, q, v, **options)
    heights = np.array(q) + np.array([0.0, 0.0, 1.0]) * np.array([[0.0], [0.5]])
    assert linearize(model, heights, v, dt=1e-3).A.shape == (2, 6, 6)
    assert linearize(model, heights[:0], v, dt=1e-3).B.shape == (0, 6, 3)


def test_steps_with_soft_contacts() -> None:
    model, soft = thing(Translational(), Sphere(0.1), stiffness=1e4, damping=30.0), kn.contact.CompliantContacts()
    beside(model, [0.0, 0.0, 0.09], [1.0, 0.3, -0.1], 1e-4, 1e-6, contacts=soft)


def test_mistakes_are_named() -> None:
    model = arm()
    with pytest.raises(TypeError, match="takes an integrator with dt only"):
        linearize(model, [0, 0], [0, 0], integrator="euler")
    with pytest.raises(ValueError, match="rates know none"):
        linearize(model, [0, 0], [0, 0], contacts=True)
    on_floor = thing(Translational(), Sphere(0.1))
    with pytest.raises(TypeError, match="without contacts"):
        linearize(on_floor, [0, 0, 1], [0, 0, 0], dt=0.01, prescribed=["thing_joint"])
    with pytest.raises(ValueError, match=r"v has shape \(3,\)"):
        linearize(model, [0, 0], [0, 0, 0])


def hybrid_differences(model: kn.Model, q: Array, v: Array, u: Array, motion: Any) -> tuple[Array, Array]:
    """Rates of a motion (q, v, u) → v̇ beside a state, for joints with q̇ = v."""
    n, x = model.nv, np.concatenate([q, v, u])
    changed = x + np.multiply.outer(np.array([-2, -1, 1, 2]) * E, np.eye(3 * n))
    rates = np.asarray(motion(*np.split(changed, 3, axis=-1)))
    slopes = np.tensordot([1, -8, 8, -1], rates, 1).T / (12 * E)
    return slopes[:, : 2 * n], slopes[:, 2 * n :]


def chain() -> kn.Model:
    b = kn.Builder("chain")
    for k, axis in enumerate(((0.0, 1.0, 0.0), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0))):
        b.body(f"b{k}", f"b{k - 1}" if k else None, Revolute(axis), (0.3, 0.1, 0.0) if k else None,
               inertia=solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0, 0)), damping=0.1)  # fmt: skip
    b.frame("tip", on="b2", at=(0.3, 0.0, 0.1))
    return b.build()


def test_joints_with_a_given_acceleration() -> None:
    """A and B of hybrid dynamics against differences of it, and of a step against those rates."""
    model, names = chain(), ["b1_joint"]
    q, v, u = np.random.default_rng(5).normal(size=(3, model.nv))
    A, B = linearize(model, q, v, u, prescribed=names)
    expected = hybrid_differences(
        model, q, v, u, lambda q, v, u: kn.hybrid_dynamics(model, q, v, u, u, prescribed=names)[0]
    )
    n, h = model.nv, 1e-3
    for x, y in zip((A[n:], B[n:]), expected, strict=True):
        assert np.allclose(x, y, rtol=1e-8, atol=1e-8 * np.abs(y).max())
    assert np.allclose(B[n + 1], [0, 1, 0])
    A1, B1 = linearize(model, q, v, u, h, prescribed=names, integrator="euler")
    assert np.allclose(A1[n:], np.eye(2 * n)[n:] + h * A[n:], atol=1e-13)
    assert np.allclose(B1[:n], h * B1[n:], atol=1e-13)


def slider_crank() -> kn.Model:
    """A crank and a rod whose end slides along x: one closed loop."""
    b = kn.Builder("slider-crank")
    bar = solid_box(1.0, (0.4, 0.1, 0.1), at=(0.2, 0, 0))
    b.body("crank", joint=Revolute("y"), inertia=bar, damping=0.1)
    b.body("rod", "crank", Revolute("y"), (0.3, 0, 0), inertia=bar)
    b.frame("end", "rod", (0.5, 0, 0))
    b.close_loop("guide", Composite((Prismatic("x"), Revolute("y"))), "base", "end")
    return b.build()


def test_a_loop_closes_beside_a_joint_with_a_given_acceleration() -> None:
    """The rod follows the crank, and takes back what the loop is open by, in the time that is given."""
    model, names, decay, n = slider_crank(), ["crank_joint"], 0.05, 2
    q, v, u = np.array([0.4, -0.63]), np.array([1.0, -1.5]), np.array([0.7, -0.2])
    A, B = linearize(model, q, v, u, prescribed=names, stabilization=decay)
    expected = hybrid_differences(
        model, q, v, u,
        lambda q, v, u: kn.hybrid_dynamics(model, q, v, u, u, prescribed=names, stabilization=decay)[0],
    )  # fmt: skip
    for x, y in zip((A[n:], B[n:]), expected, strict=True):
        assert np.allclose(x, y, rtol=1e-7, atol=1e-7 * np.abs(y).max())
    assert np.allclose(A[n], 0.0)
    assert A[n + 1, n + 1] == pytest.approx(-2 / decay, rel=0.2)
    assert A[n + 1, 1] == pytest.approx(-1 / decay**2, rel=0.2)


def test_laws_are_those_of_active_constraints() -> None:
    """Of two floors under a tip none counts where it is lifted, and the upper one where it is pressed down."""
    model = chain()
    q, v = np.random.default_rng(5).normal(size=(2, model.nv))
    height = float(kn.pose(model, q, "tip")[2, 3])
    J = kn.jacobian(model, q, "tip", expressed_in="aligned")[5]
    v = v - J * (J @ v) / (J @ J)
    tau = np.array([kn.bias_force(model, q, v) + sign * 20.0 * J for sign in (-1, 1)])
    floors = [kn.constraints.PlaneDistance("tip", offset=height - depth, bound=">=") for depth in (0.0, 1.0)]
    arrays = {"q": np.array([q, q]), "v": np.array([v, v]), "tau": tau}
    laws = {tuple(where): law.constraints for where, law in constrained_laws(model, floors, arrays, None)}
    held = kn.constraints.PlaneDistance("tip", offset=height)
    assert laws == {(True, False): (held,), (False, True): ()}


@pytest.mark.slow
def test_motions_under_constraints() -> None:
    """A tip on a plane: held where it touches and presses, free where it is above; both in one batch of states."""
    model = chain()
    q, v = np.random.default_rng(5).normal(size=(2, model.nv))
    height = float(kn.pose(model, q, "tip")[2, 3])
    J = kn.jacobian(model, q, "tip", expressed_in="aligned")[5]
    v = v - J * (J @ v) / (J @ J)
    tau, lifting = (kn.bias_force(model, q, v) + sign * 20.0 * J for sign in (-1, 1))
    floor = kn.constraints.PlaneDistance("tip", offset=height, bound=">=")
    lower = kn.constraints.PlaneDistance("tip", offset=height - 1.0, bound=">=")
    held, free = kn.constraints.PlaneDistance("tip", offset=height), linearize(model, q, v, tau)
    A, B = linearize(model, [q, q], [v, v], [tau, lifting], constraints=[floor, lower])
    expected = hybrid_differences(
        model, q, v, tau, lambda q, v, u: kn.constraints.acceleration(model, q, v, u, constraints=(held,))
    )
    n = model.nv
    for x, y in zip((A[0, n:], B[0, n:]), expected, strict=True):
        assert np.allclose(x, y, rtol=1e-7, atol=1e-7 * np.abs(y).max())
    assert np.abs(J @ B[0, n:]).max() < 1e-12 < 0.1 < np.abs(free.B[n:] - B[0, n:]).max()
    assert np.allclose(A[1], linearize(model, q, v, lifting).A)
    with pytest.raises(TypeError, match="take an explicit one"):
        linearize(model, q, v, tau, 0.01, integrator="implicit", constraints=[held])
