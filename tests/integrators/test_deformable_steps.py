"""Steps of mechanisms with deformable bodies: momentum, energy, coupling, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn

E = kn.elements
Steps = kn.integrators.DeformableSteps
EXACT = Steps(iterations=1, tolerance=1e-13)


def pendulum(cells: Any = (1, 1, 2), young: float = 2e4, damping: float = 0.0, **options: Any) -> kn.Model:
    """An arm with a soft block at its end."""
    b = kn.Builder("pendulum")
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.solid_box(1.0, (0.02, 0.02, 0.3), at=(0, 0, -0.15)))
    mesh = E.box_mesh((0.1, 0.1, 0.2), cells)
    top = mesh.where(lambda x, y, z: z > 0.0999)
    b.deformable(
        "block", mesh, material=E.NeoHookean(young, 0.3), density=500.0, damping=damping, on="arm", at=(0, 0, -0.4),
        attach={"arm": top}, **options,
    )  # fmt: skip
    return b.build()


def momentum(model: kn.Model, motion: Any, name: str) -> Any:
    masses = E.SoftBodies(model).masses
    return np.einsum("tni,n->ti", motion.node_velocities(name), masses)


def test_two_bodies_and_a_block_keep_their_momentum() -> None:
    """Two bodies on sliders hold a soft block between them, and one begins to move: linear momentum stays."""
    b = kn.Builder("train", gravity=(0, 0, 0))
    mesh = E.box_mesh((0.4, 0.1, 0.1), (2, 1, 1))
    b.body("left", at=(-0.2, 0, 0), joint=kn.joints.Translational(), mass=1.5, inertia=(0.01, 0.01, 0.01))
    b.body("right", at=(0.2, 0, 0), joint=kn.joints.Translational(), mass=0.5, inertia=(0.01, 0.01, 0.01))
    ends = {
        "left": mesh.where(lambda x, y, z: x < -0.199),
        "right": mesh.where(lambda x, y, z: x > 0.199),
    }
    b.deformable("block", mesh, material=E.NeoHookean(5e3, 0.3), density=300.0, damping=0.01, attach=ends)
    model = b.build()
    motion = kn.simulate(model, None, [0.3, 0.1, -0.2, 0, 0, 0], 0.2, dt=0.005, integrator=EXACT)
    bodies = E.SoftBodies(model)
    free = bodies.is_free == 1
    nodes = np.einsum("tni,n->ti", motion.node_velocities("block"), bodies.masses)
    total = 1.5 * motion.v[:, :3] + 0.5 * motion.v[:, 3:] + nodes
    assert np.ptp(motion.v[:, 3]) > 0.05  # it arrived at the other end
    # free nodes begin at rest, so the first row has the momentum of what is carried
    assert free.any()
    assert np.abs(total - total[0]).max() < 1e-11


def test_a_free_block_keeps_its_momentum_and_its_middle_falls() -> None:
    b = kn.Builder("falling", gravity=(0, 0, -9.81))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.deformable("block", mesh, material=E.NeoHookean(1e4, 0.3), density=1000.0)
    model = b.build()
    motion = kn.simulate(model, None, None, 0.1, dt=0.01, integrator=EXACT)
    masses = E.SoftBodies(model).masses
    middle = np.einsum("tni,n->ti", motion.nodes("block"), masses) / masses.sum()
    n = np.arange(11)
    assert np.allclose(middle[:, 2], -9.81 * 0.01**2 * n * (n + 1) / 2, atol=1e-12)
    assert np.abs(motion.elastic_energy).max() < 1e-13


def test_backward_euler_with_damping_loses_energy() -> None:
    """However long the steps are: with Newton's iterations to the end, energy never grows."""
    b = kn.Builder("twisted", gravity=(0, 0, 0))
    mesh = E.box_mesh((0.1, 0.1, 0.3), (1, 1, 3))
    b.deformable("block", mesh, material=E.NeoHookean(1e4, 0.3), density=1000.0, damping=0.002)
    model = b.build()
    steps = Steps(iterations=30, enough=0.0, tolerance=1e-10)
    system = kn.integrators.System(model, lambda model, t, q, v: 0 * v)
    bodies = steps.bodies(model)
    for dt in (0.002, 0.02):
        state = steps.begin(system, 0.0, np.zeros(0), np.zeros(0), dt)
        x = state.memory[0].reshape(-1, 3).copy()
        angle = 4.0 * x[:, 2]
        x[:, 0], x[:, 1] = (
            x[:, 0] * np.cos(angle) - x[:, 1] * np.sin(angle),
            x[:, 0] * np.sin(angle) + x[:, 1] * np.cos(angle),
        )
        x[:, 2] *= 0.7
        state = state._replace(memory=(x.ravel(), state.memory[1]))
        energies = []
        for n in range(20):
            energies.append(bodies.energy(state.memory[0]) + bodies.kinetic_energy(state.memory[1]))
            state = steps.step(system, n * dt, state, dt)
        assert np.all(np.diff(energies) <= 1e-9 * energies[0])
        assert energies[-1] < 0.9 * energies[0]


@pytest.mark.slow
def test_steps_are_of_the_first_order() -> None:
    model = pendulum()
    ends = [kn.simulate(model, [0.8], None, 0.08, dt=dt, integrator=EXACT) for dt in (0.002, 0.001, 0.0005)]
    values = np.array([np.append(x.q[-1], x.nodes("block")[-1].ravel()) for x in ends])
    errors = np.linalg.norm(values[:2] - values[1:], axis=1)
    assert 0.85 < np.log2(errors[0] / errors[1]) < 1.2


@pytest.mark.slow
def test_energy_is_kept_in_the_limit() -> None:
    model = pendulum()
    lost = [np.ptp(kn.simulate(model, [0.8], None, 0.06, dt=dt, integrator=EXACT).energy) for dt in (0.002, 0.001)]
    assert lost[1] < 0.6 * lost[0]


@pytest.mark.slow
def test_a_stiff_block_is_a_rigid_body() -> None:
    """Its inertia is felt at the joint through the nodes that the arm carries, and nothing of it is lost."""
    soft = pendulum(cells=(1, 1, 1), young=1e9)
    masses, rest = E.SoftBodies(soft).masses, np.array(soft.deformables[0].mesh.nodes)
    b = kn.Builder("rigid")
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.solid_box(1.0, (0.02, 0.02, 0.3), at=(0, 0, -0.15)))
    for k, (mass, at) in enumerate(zip(masses, rest, strict=True)):
        b.body(f"node{k}", on="arm", at=tuple(at), inertia=kn.model.point_mass(float(mass)))
    rigid = b.build()
    dt = 0.0005
    a = kn.simulate(soft, [0.5], [1.0], 0.1, dt=dt, integrator=EXACT)
    c = kn.simulate(rigid, [0.5], [1.0], 0.1, dt=dt, integrator="implicit")
    assert np.abs(a.q - c.q).max() < 2e-4


def chain_twice(joint: kn.joints.Joint) -> tuple[kn.Model, kn.Model]:
    """A chain that hangs on a body: as a deformable body, and as bodies on Translational joints with springs."""
    n, k, m = 4, 80.0, 0.05
    mesh = E.chain_mesh(0.4, n)
    b = kn.Builder("net")
    b.body("arm", joint=joint, inertia=kn.model.rod(0.4, 0.5, at=(0, 0, -0.25)), damping=0.01)
    b.deformable(
        "net", mesh, material=E.Hookean(k * 0.1), density=m / 0.1, on="arm", at=(0, 0, -0.5), attach={"arm": (0,)}
    )
    soft = b.build()
    b = kn.Builder("bodies")
    b.body("arm", joint=joint, inertia=kn.model.rod(0.4, 0.5, at=(0, 0, -0.25)), damping=0.01)
    b.body("node0", on="arm", at=(0, 0, -0.5), inertia=kn.model.point_mass(m / 2))
    for i in range(1, n + 1):
        mass = kn.model.point_mass(m if i < n else m / 2)
        b.body(f"node{i}", joint=kn.joints.Translational(), at=(0.1 * i, 0, -0.5), inertia=mass)
        b.spring(f"spring{i}", f"node{i - 1}", f"node{i}", stiffness=k, rest=0.1)
    return soft, b.build()


def test_a_net_of_nodes_is_point_masses_with_springs() -> None:
    """Step by step the same, energies included (notes 2.80-2.88)."""
    soft, bodies = chain_twice(kn.joints.Prismatic("x"))
    dt, n = 0.004, 4
    a = kn.simulate(soft, [0.0], [0.3], 0.2, dt=dt, integrator=EXACT)
    c = kn.simulate(bodies, None, [0.3, *([0.3, 0, 0] * n)], 0.2, dt=dt, integrator="implicit")
    assert np.allclose(a.q[:, 0], c.q[:, 0], atol=1e-9)
    places = c.q[:, 1:].reshape(-1, n, 3) + [[0.1 * i, 0, -0.5] for i in range(1, n + 1)]
    assert np.allclose(a.nodes("net")[:, 1:], places, atol=1e-9)
    assert np.allclose(a.energy - a.energy[0], c.energy - c.energy[0], atol=1e-9)


@pytest.mark.slow
def test_a_net_on_a_hinge_is_the_same_in_the_limit() -> None:
    """Turning Jacobians are those of the beginning of a step (notes 2.75): a difference that goes with the step."""
    soft, bodies = chain_twice(kn.joints.Revolute("y"))
    apart = [
        np.abs(
            kn.simulate(soft, [0.0], None, 0.1, dt=dt, integrator=EXACT).q[-1, 0]
            - kn.simulate(bodies, None, None, 0.1, dt=dt, integrator="implicit").q[-1, 0]
        )
        for dt in (0.004, 0.002)
    ]
    assert apart[1] < 0.6 * apart[0]


def test_attached_nodes_are_where_bodies_have_them() -> None:
    model = pendulum(damping=0.01)
    motion = kn.simulate(model, [0.7], [2.0], 0.1, dt=0.005)
    (part,) = model.deformables[0].attachments
    poses = motion.frame("arm")
    places = np.einsum("tij,nj->tni", poses[:, :3, :3], np.array(part.points)) + poses[:, None, :3, 3]
    assert np.allclose(motion.nodes("block")[:, list(part.nodes)], places, atol=1e-12)


def test_a_controller_that_is_a_kernel_may_be_stiff() -> None:
    """Its slopes are part of the step: gains that would burst explicit steps hold the arm."""
    model = pendulum(damping=0.01)

    @kn.kernel
    def hold(model: kn.Model, q: Any, v: Any) -> Any:
        return -1e5 * q - 300.0 * v

    motion = kn.simulate(model, [0.0], [0.01], 0.2, dt=0.01, controller=hold)
    assert np.abs(motion.q).max() < 1e-3
    held = kn.simulate(model, [0.3], None, 0.05, dt=0.001, controller=lambda model, q, v: -50.0 * (q - 0.3) - 5 * v)
    assert held.reason == "finished"


@pytest.mark.slow
def test_external_forces_and_elements_act() -> None:
    b = kn.Builder("both", gravity=(0, 0, 0))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (1, 1, 1))
    b.body("cart", joint=kn.joints.Prismatic("x"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    b.spring("spring", ("base", (-1, 0, 0)), "cart", stiffness=30.0, rest=0.9)
    b.deformable("block", mesh, material=E.NeoHookean(1e6), density=1000.0, attach={"cart": range(4)})
    model = b.build()
    motion = kn.simulate(model, None, None, 0.02, dt=0.001, external_forces=np.array([[0, 0, 0, 5.0, 0, 0]]))
    mass = 1.0 + E.SoftBodies(model).masses.sum()
    assert motion.v[-1, 0] == pytest.approx((5.0 - 30.0 * 0.1) * 0.02 / mass, rel=0.02)


@pytest.mark.slow
def test_events_cut_steps_and_nodes_go_on() -> None:
    """A step that an event divides ends where it ends without, but for the error of the step."""
    model = pendulum(damping=0.01)
    plain = kn.simulate(model, [0.1], None, 0.4, dt=0.005)
    seen = kn.simulate(model, [0.1], None, 0.4, dt=0.005, events={"low": lambda t, q, v: q[0]})
    assert len(seen.occurrences("low")) == 1
    assert np.allclose(plain.nodes("block")[-1], seen.nodes("block")[-1], atol=2e-3)
    assert len(seen.nodes("block")) == len(seen.times)


def test_what_does_not_know_them_says_so() -> None:
    model = pendulum()
    for name in kn.integrators.INTEGRATORS:
        with pytest.raises(kn.ModelError, match="knows no deformable bodies"):
            kn.simulate(model, integrator=name)
    for options in ({"contacts": True}, {"joint_limits": "rigid"}, {"contacts": kn.contact.CompliantContacts()}):
        with pytest.raises(ValueError, match=r"contacts|joint_limits"):
            kn.simulate(model, **options)
    b = kn.Builder("rubbing")
    b.body("arm", joint=kn.joints.Revolute("y"), inertia=kn.model.point_mass(1.0, at=(0, 0, -1)), friction=0.1)
    b.deformable("chain", E.chain_mesh(1.0, 2), material=E.Hookean(1.0), density=1.0)
    with pytest.raises(kn.ModelError, match="dry friction"):
        kn.simulate(b.build())
    for wrong in ({"iterations": 0}, {"tolerance": 2.0}, {"enough": 1.0}, {"most": 0}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            Steps(**wrong)


def test_too_few_iterations_end_the_motion() -> None:
    model = pendulum()
    with pytest.warns(RuntimeWarning, match="diverged"):
        motion = kn.simulate(model, [0.5], None, 0.1, dt=0.01, integrator=Steps(tolerance=1e-12, most=2))
    assert motion.reason == "diverged"
    assert "iterations" in motion.message


@pytest.mark.slow
def test_a_squeezed_block_stays_whole() -> None:
    """Pressed to a third by its ends, where the stiffness has negative directions, it springs back."""
    b = kn.Builder("press", gravity=(0, 0, 0))
    mesh = E.box_mesh((0.1, 0.1, 0.1), (2, 2, 2))
    b.body("lid", joint=kn.joints.Prismatic("z"), at=(0, 0, 0.05), mass=1.0, inertia=(0.01, 0.01, 0.01))
    ends = {"base": mesh.where(lambda x, y, z: z < -0.049), "lid": mesh.where(lambda x, y, z: z > 0.049)}
    b.deformable("block", mesh, material=E.NeoHookean(1e4, 0.3), density=1000.0, damping=0.01, attach=ends)
    model = b.build()
    motion = kn.simulate(model, None, [-8.0], 0.3, dt=0.005)
    assert motion.reason == "finished"
    assert motion.q[:, 0].min() < -0.06
    assert motion.q[-1, 0] > -0.05
    assert motion.energy[-1] < motion.energy[0]


def test_motions_are_kept_in_files_and_resampled(tmp_path: Any) -> None:
    model = pendulum()
    motion = kn.simulate(model, [0.5], None, 0.05, dt=0.005)
    motion.save(tmp_path / "motion.npz")
    again = kn.Trajectory.load(tmp_path / "motion.npz")
    assert np.array_equal(again.nodes("block"), motion.nodes("block"))
    assert np.allclose(again.energy, motion.energy, rtol=1e-14)
    fine = motion.resample(dt=0.0025)
    assert np.allclose(fine.nodes("block")[::2], motion.nodes("block"), atol=1e-12)
    assert motion.rows(slice(0, 3)).nodes("block").shape[0] == 3
    with pytest.raises(KeyError, match="deformable"):
        motion.nodes("other")
