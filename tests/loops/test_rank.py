"""Rows of rounding are no constraints, and small ones are: by every method, in every direction and size."""

from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.native import disk_cache
from knuckle.functions.loops import closed_response, dense_constraints
from knuckle.integrators import loop_stabilization
from knuckle.joints import Revolute, Spherical
from knuckle.model import Builder, Model, solid_box
from knuckle.testing.loops.linkages import bennett, ladder

from ..seeds import quick

AXIS = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
PLACE = np.array([0.3, -0.2, 0.7])


def four_bars(count: int, seed: int, size: float = 1.0) -> Model:
    """Planar four-bars side by side in a plane that is no coordinate plane."""
    R, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(3, 3)))

    def place(*x: float) -> tuple[float, ...]:
        return tuple(size * (R @ np.array(x)))

    hinge, box = Revolute(tuple(R[:, 1])), solid_box(1.0, (0.1 * size, 0.1 * size, 0.1 * size))
    b = Builder("four-bars")
    for k in range(count):
        b.body(f"crank{k}", joint=hinge, inertia=box)
        b.body(f"coupler{k}", on=f"crank{k}", joint=hinge, at=place(0, 0, 0.2), inertia=box)
        b.body(f"rocker{k}", joint=hinge, at=place(0.6, 0, 0), inertia=box)
        b.close_loop(f"pin{k}", hinge, f"coupler{k}", f"rocker{k}", place(0.6, 0, 0.2), place(0, 0, 0.4))
    return b.build()


def door(second: bool = True) -> Model:
    """On two hinges: a ball on the axis of the first, which constrains nothing."""
    b = Builder("door")
    b.body("door", joint=Revolute(tuple(AXIS)), at=tuple(PLACE), mass=1.0, com=(0.3, 0, 0), inertia=(0.1, 0.1, 0.1))
    if second:
        b.close_loop("ball", Spherical(), "base", "door", tuple(PLACE + 0.7 * AXIS), tuple(0.7 * AXIS))
    return b.build()


@pytest.mark.sampled
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(4))
def test_a_planar_loop_in_any_plane(seed: int, size: float):
    model, q, v, tau = four_bars(1, seed, size), np.zeros(3), np.zeros(3), np.array([size**2, 0, 0])
    assert kn.loops.degrees_of_freedom(model, q).freedoms == 1
    choice = kn.loops.independent_variables(model, q)
    assert len(choice.independent) == 1
    right = kn.forward_dynamics(model, q, v, tau)
    assert abs(right[0]) > 1
    for options in ({"method": "kkt"}, {"method": "independent", "choice": choice}):
        np.testing.assert_allclose(kn.forward_dynamics(model, q, v, tau, **options), right, rtol=1e-12)
    a, needed = kn.hybrid_dynamics(model, q, v, tau, right, prescribed=["crank0_joint"])
    np.testing.assert_allclose(a, right, rtol=1e-12)
    np.testing.assert_allclose(needed, tau, rtol=1e-10, atol=1e-12 * size**2)
    assert kn.loops.actuation(model, q, ["crank0_joint"]).is_full
    assert kn.loops.actuation(model, q, ["pin0"]).is_full
    np.testing.assert_allclose(
        kn.loops.actuator_forces(model, q, v, right, actuated=("crank0_joint",)), tau[:1], rtol=1e-9
    )


@pytest.mark.slow
def test_a_planar_loop_in_any_plane_through_time():
    model = four_bars(1, 0)
    q, v = np.zeros(3), np.zeros(3)
    right = kn.simulate(model, q, v, 0.3, progress=False)
    assert np.abs(right.q[-1]).max() > 0.1
    choice = kn.loops.independent_variables(model, q)
    for stabilization in (choice, 0.1):
        path = kn.simulate(model, q, v, 0.3, stabilization=stabilization, progress=False)
        np.testing.assert_allclose(path.q[-1], right.q[-1], atol=1e-6)


@pytest.mark.parametrize("count", quick([2, 16], []))
def test_many_planar_loops_in_any_plane(count: int, monkeypatch: pytest.MonkeyPatch):
    """By matrices of numbers, as all are when few are many."""
    if count < 16:
        monkeypatch.setattr(loop_stabilization, "MOST_WORK", 0)
        monkeypatch.setattr(closed_response, "FEW", 0)
        monkeypatch.setattr(disk_cache, "library_hash", lambda: "few are many")
    one, many = four_bars(1, 0), four_bars(count, 0)
    q, v, tau = np.zeros(3 * count), np.zeros(3 * count), np.tile([1.0, 0, 0], count)
    right = kn.forward_dynamics(one, q[:3], v[:3], tau[:3])
    np.testing.assert_allclose(kn.forward_dynamics(many, q, v, tau), np.tile(right, count), rtol=1e-12)
    a, needed = kn.hybrid_dynamics(many, q, v, tau, np.tile(right, count), prescribed=["crank1_joint"])
    np.testing.assert_allclose(a, np.tile(right, count), rtol=1e-10)
    np.testing.assert_allclose(needed, tau, atol=1e-10)
    path = kn.simulate(many, q, None, 0.003, progress=False)
    np.testing.assert_allclose(path.q[-1], np.tile(kn.simulate(one, q[:3], None, 0.003, progress=False).q[-1], count))


@pytest.mark.slow
def test_a_joint_that_constrains_nothing():
    model, tree = door(), door(second=False)
    states = np.random.default_rng(0).normal(size=(300, 3))
    for q, v, tau in (np.split(states, 3, axis=1), np.split(states[0], 3)):
        right = kn.forward_dynamics(tree, q, v, tau)
        for method in ("aba", "kkt"):
            np.testing.assert_allclose(kn.forward_dynamics(model, q, v, tau, method=method), right, rtol=1e-12)
        found = kn.constraints.dynamics(model, q, v, tau, [])
        assert found.solved
        np.testing.assert_allclose(found.a, right, rtol=1e-10)
    for q in states[:20, :1]:
        assert kn.loops.degrees_of_freedom(model, q).freedoms == 1
        assert kn.loops.independent_variables(model, q).independent == (0,)
        np.testing.assert_allclose(kn.loops.project(model, q, [1.0])[1], [1.0])
    path, right = (kn.simulate(m, [0.1], None, 1.0, progress=False).q[-1] for m in (model, tree))
    np.testing.assert_allclose(path, right, rtol=1e-9)


@pytest.mark.parametrize("method", ["dense", "dual", "iterative"])
def test_a_constraint_that_constrains_nothing(method: str):
    """The same ball as a constraint from outside: alone, and with one that does."""
    tree, ball = door(second=False), kn.constraints.Point("door", at=tuple(0.7 * AXIS), on=tuple(PLACE + 0.7 * AXIS))
    for q in np.linspace(-2, 2, 7)[:, None]:
        right = kn.forward_dynamics(tree, q, [0.3], [1.0])
        found = kn.constraints.dynamics(tree, q, [0.3], [1.0], [ball], method=method)
        assert found.solved
        np.testing.assert_allclose(found.a, right, rtol=1e-9)
        held = kn.constraints.dynamics(
            tree, q, [0.3], [1.0], [ball, kn.constraints.JointAcceleration("door_joint")], method=method
        )
        assert held.solved
        np.testing.assert_allclose(held.a, 0, atol=1e-9)


def test_a_door_from_a_file(tmp_path: Path):
    """MuJoCo's `connect` on the axis of a hinge."""
    pytest.importorskip("mujoco")
    place, axis, anchor = (" ".join(repr(float(x)) for x in vector) for vector in (PLACE, AXIS, 0.7 * AXIS))
    file = tmp_path / "door.xml"
    file.write_text(
        f"""<mujoco><worldbody><body name="door" pos="{place}"><joint name="hinge" axis="{axis}"/>
        <inertial pos="0.3 0 0" mass="1" diaginertia="0.1 0.1 0.1"/></body></worldbody>
        <equality><connect body1="door" anchor="{anchor}"/></equality></mujoco>""",
        "utf-8",
    )
    model = kn.load(file)
    assert kn.loops.degrees_of_freedom(model, [0.1]).freedoms == 1
    path, right = (kn.simulate(m, [0.1], None, 1.0, progress=False).q[-1] for m in (model, model.without_loops()))
    np.testing.assert_allclose(path, right, rtol=1e-9)


def stretched_arm(bend: float) -> tuple[Model, np.ndarray]:
    """Seven hinges on a pillar, the last body welded to the world; bent so little that it nearly is a line."""
    b, on = Builder("arm"), "base"
    for k, axis in enumerate("zyzyzyz"):
        b.body(
            f"link{k}",
            on=on,
            joint=Revolute(axis),
            at=(0, 0, 0.3),
            inertia=solid_box(1.0, (0.1, 0.08, 0.3), at=(0.02, 0, 0.1)),
        )
        on = f"link{k}"
    tree = b.build()
    q = np.array([0.3, 0.0, -0.4, bend, 0.7, bend, 0.2])
    pose = kn.pose(tree, q, on)
    b.close_loop(
        "weld", kn.joints.Fixed(), "base", on, kn.spatial.Transform.of(pose[:3, :3].T.tolist(), pose[:3, 3].tolist())
    )
    return b.build(), q


@pytest.mark.parametrize("bend", quick([1e-2, 1e-3, 1e-4, 1e-5, 1e-7], [1e-5]))
def test_near_singular_positions(bend: float):
    """The constraints hold as well as they can, and the motion is the one of the null space: nothing is squared."""
    model, q = stretched_arm(bend)
    rng = np.random.default_rng(1)
    _, v = kn.loops.project(model, q, rng.normal(size=7))
    tau, tree = rng.normal(size=7), model.without_loops()
    K, k = kn.loops.jacobian(model, q), kn.loops.bias(model, q, v)
    U, s, Vt = np.linalg.svd(K)
    r = int((s > 1e-12 * s[0]).sum())
    assert kn.loops.degrees_of_freedom(model, q).rank == r
    Z, first = Vt[r:].T, Vt[:r].T @ ((U.T[:r] @ k) / s[:r])
    H, C = kn.mass_matrix(tree, q), kn.bias_force(tree, q, v)
    right = first + Z @ np.linalg.solve(Z.T @ H @ Z, Z.T @ (tau - C - H @ first))
    for method in ("aba", "kkt"):
        for a in (
            kn.forward_dynamics(model, q, v, tau, method=method),
            kn.forward_dynamics(model, q, v, np.tile(tau, (300, 1)), method=method)[5],
        ):
            assert np.abs(a - right).max() <= 1e-9 * s[0] / s[r - 1] * np.abs(right).max()
            assert np.abs(K @ a - k).max() <= np.abs(K @ right - k).max() + 1e-9 * np.abs(right).max()


@pytest.mark.parametrize("stabilization", ["projection", 0.02])
def test_bennett_moves_fast(stabilization):
    """Within a step the loops are open by what the step leaves, and constraints that depend on each other look free."""
    made = bennett()
    model, tree = made.model, made.model.without_loops()
    _, v = kn.loops.project(model, made.q, np.array([1.0, 0.0, 0.0]))
    path = kn.simulate(model, made.q, 20 * v / abs(v[0]), 0.5, stabilization=stabilization, progress=False)
    energy = kn.kinetic_energy(tree, path.q, path.v) + kn.potential_energy(tree, path.q)
    assert np.ptp(energy) < 1e-6 * kn.kinetic_energy(tree, path.q, path.v).max()


def test_closing_never_raises():
    """Where freedoms outnumber constraints and where there is no way, whatever the damping is."""
    b, on = Builder("five bars in a row, their end on a ball joint"), "base"
    for i in range(5):
        b.body(f"l{i}", on=on, joint=Revolute("y"), at=(0, 0, 0.3 if i else 0), inertia=solid_box(1, (0.1, 0.1, 0.3)))
        on = f"l{i}"
    b.close_loop("p", Spherical(), "base", on, (0.5, 0, 0.2), (0, 0, 0.3))
    model = b.build()
    for seed in range(30):
        assert kn.loops.close(model, np.random.default_rng(seed).normal(size=5)).closed
    assert not kn.loops.close(model, np.zeros(5), keep=model.joint_names, attempts=2).closed
    assert kn.loops.close(model, np.full(5, 1e300), attempts=2).attempts <= 2


def test_many_constraints_check_their_arguments():
    made = ladder(12)
    model, q = made.model, made.q
    zero = np.zeros(model.nv)
    with pytest.raises(ValueError, match=r"tau has shape \(5,\)"):
        kn.forward_dynamics(model, q, zero, np.zeros(5))
    with pytest.raises(ValueError, match=r"tau has shape \(5,\)"):
        kn.hybrid_dynamics(model, q, zero, np.zeros(5), zero, prescribed=[model.joint_names[0]])
    with pytest.raises(ValueError, match=r"do not broadcast: .*tau"):
        kn.forward_dynamics(model, np.tile(q, (2, 1)), zero, np.zeros((3, model.nv)))
    with pytest.raises(TypeError, match="tau"):
        kn.forward_dynamics(model, q, zero, ["a"] * model.nv)


@pytest.mark.slow
def test_states_that_are_not_finite_change_no_others():
    """To the last bit, by every way through matrices of numbers."""
    made = ladder(12)
    model, rng = made.model, np.random.default_rng(0)
    q, v, tau = np.tile(made.q, (4, 1)), np.zeros((4, model.nv)), rng.normal(size=(4, model.nv))
    bad_q, bad_tau = q.copy(), tau.copy()
    bad_q[2], bad_tau[2, 5] = np.nan, np.inf

    def hybrid(q: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return kn.hybrid_dynamics(model, q, v, tau, v, prescribed=[model.joint_names[0]])[0]

    others = [0, 1, 3]
    for way in (lambda q, tau: kn.forward_dynamics(model, q, v, tau), hybrid):
        right = way(q, tau)
        for found in (way(bad_q, tau), way(q, bad_tau)):
            assert (found[others] == right[others]).all()
            assert not np.isfinite(found[2]).any() or way is hybrid
            assert not np.isfinite(found[2]).all()


@pytest.mark.parametrize("way", ["variables", "forces"])
def test_complex_steps_through_many_constraints(way: str, monkeypatch: pytest.MonkeyPatch):
    """Derivatives where matrices of numbers are solved, by independent variables and by constraint forces."""
    if way == "forces":
        monkeypatch.setattr(dense_constraints, "chosen", lambda model: None)
    model, rng = four_bars(16, 2), np.random.default_rng(0)
    q = np.tile(kn.loops.close(four_bars(1, 2), [0.3, -0.2, 0.1]).q, 16)
    v, tau, dq = np.zeros(48), rng.normal(size=48), np.tile(rng.normal(size=3), 16)
    found = kn.forward_dynamics(model, q + 1e-20j * dq, v, tau).imag / 1e-20
    few = four_bars(1, 2)
    for k in (0, 15):
        one = slice(3 * k, 3 * k + 3)
        right = kn.forward_dynamics(few, q[one] + 1e-20j * dq[one], v[one], tau[one]).imag / 1e-20
        np.testing.assert_allclose(found[one], right, rtol=1e-9)


def test_many_constraints_in_single_precision():
    """Computed in double precision, as all loops are: rounding could not be told from constraints."""
    made = ladder(12)
    model, rng = made.model, np.random.default_rng(0)
    q, v, tau = made.q, np.zeros(model.nv), rng.normal(size=model.nv)
    single = [x.astype(np.float32) for x in (q, v, tau)]
    found = kn.forward_dynamics(model, *single)
    assert found.dtype == np.float32
    right = kn.forward_dynamics(model, *(x.astype(float) for x in single))
    np.testing.assert_allclose(found, right, atol=1e-6 * np.abs(right).max())


@pytest.mark.slow
def test_hybrid_dynamics_of_many_loops_makes_no_new_tree(monkeypatch: pytest.MonkeyPatch):
    """Kernels belong to a model object: a new one at every call would never have any."""
    model = four_bars(16, 1)
    q = np.zeros(48)
    made: list[Model] = []
    original = Model.without_loops
    monkeypatch.setattr(Model, "without_loops", lambda self: made.append(self) or original(self))
    for _ in range(3):
        kn.hybrid_dynamics(model, q, q, q, q, prescribed=["crank0_joint"])
    assert len(made) <= 1
