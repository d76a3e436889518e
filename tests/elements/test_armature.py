"""The armature of lines: a mass that moves as fast as a line grows adds a JᵀJ to H and a Jᵀ J̇v to C."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import knuckle as kn
from knuckle.elements import ConstantTension, JointLine, Line, LinePoint, Spring, Winding, Wrap
from knuckle.errors import ModelError
from knuckle.formats import adapters, from_mujoco, read_json, read_mjcf, to_json, to_mjcf
from knuckle.integrators.methods.variational import response
from knuckle.joints import Revolute
from knuckle.model import Model, solid_box
from knuckle.testing import LAWS, random_state

MASS = 0.7
TWO_WAYS = """
<mujoco><option gravity="0.4 -9 0.3"><flag contact="disable"/></option>
<worldbody><site name="w" pos="-0.1 0.05 0.4"/>
  <body name="a"><joint name="a" axis="0.1 0.1 1"/><inertial pos=".13 0 0" mass="1.5" diaginertia=".002 .012 .012"/>
    <site name="a0" pos="0.1 0.03 0.01"/><site name="a1" pos="0.2 -0.02 0.03"/>
    <body name="b" pos="0.28 0 0"><joint name="b" axis="0 0.05 1"/><site name="b0" pos="0.1 0.05 0"/>
      <inertial pos=".12 0 0" mass="1.1" diaginertia=".001 .008 .008"/></body>
    <body name="c" pos="0.2 0 0.1"><joint name="c" type="slide" axis="0 1 0.3"/><site name="c0" pos="0.1 0.05 0"/>
      <inertial pos=".12 0 0" mass="0.8" diaginertia=".001 .008 .008"/></body></body>
  <body name="f" pos="0.3 0.2 0.5"><freejoint/><geom size="0.1"/><site name="f0" pos="0.05 0 0.1"/></body>
</worldbody>
<tendon>
  <spatial name="long" armature="0.7" stiffness="20" damping="2" springlength="0.2">
    <site site="w"/><site site="a0"/><site site="b0"/><pulley divisor="2"/><site site="w"/><site site="a1"/></spatial>
  <spatial name="free" armature="0.3"><site site="w"/><site site="f0"/></spatial>
  <fixed name="wound" armature="0.2" stiffness="3"><joint joint="a" coef="0.4"/><joint joint="c" coef="-1.5"/></fixed>
</tendon></mujoco>"""


def branches(armature: float = MASS) -> Model:
    """Two branches that a line ties together, over a cylinder, and a winding on two of their joints."""
    b = kn.Builder("tied", gravity=(0.5, 0.0, -9.0))
    for name, y in (("left", -0.3), ("right", 0.3)):
        box = solid_box(1.0, (0.1, 0.1, 0.5), at=(0, 0, -0.25))
        upper = b.body(f"{name} upper", None, Revolute("y"), (0, y, 0), inertia=box, damping=0.1)
        b.body(f"{name} lower", upper, Revolute("x"), (0, 0, -0.5), inertia=box)
    b.frame("drum", "left upper", {"xyz": (0.05, 0.05, -0.4), "rpy": (0.1, 1.5, 0)})
    ends = LinePoint("left lower", (0.02, 0.1, -0.3)), LinePoint("right lower", (0.05, 0.0, -0.4))
    b.element(Line("tie", (ends[0], Wrap("drum", 0.08, "cylinder"), ends[1]), Spring(30.0, 0.3, 0.5), armature))
    on = Winding("left upper", 0.3), Winding("right lower", -0.2)
    b.element(JointLine("winch", on, ConstantTension(0.0), 0.5 * armature))
    return b.build()


def test_it_is_what_mujoco_has():
    """Along one branch: what a tendon between two ties together has no place in MuJoCo's sparse matrix."""
    mujoco = pytest.importorskip("mujoco")
    try:
        m = mujoco.MjModel.from_xml_string(TWO_WAYS)
    except ValueError:
        pytest.skip("a feature of newer MuJoCo versions")
    model = from_mujoco(m)
    assert {line.name: line.armature for line in model.elements} == {"long": 0.7, "free": 0.3, "wound": 0.2}
    data, there, rng = mujoco.MjData(m), adapters.mujoco(model, m), np.random.default_rng(0)
    bare = model.replace(elements=tuple(replace(line, armature=0.0) for line in model.elements))  # type: ignore[call-arg]
    for _ in range(10):
        q0 = np.array(m.qpos0)
        mujoco.mj_integratePos(m, q0, rng.uniform(-1, 1, m.nv), 1.0)
        data.qpos[:], data.qvel[:] = q0, rng.normal(size=m.nv)
        mujoco.mj_forward(m, data)
        q, v = there.q_from(data.qpos), there.v_from(data.qpos, data.qvel)
        expected = there.a_from(data.qpos, data.qvel, data.qacc)
        np.testing.assert_allclose(
            kn.forward_dynamics(model, q, v, np.zeros(model.nv)),
            expected,
            rtol=1e-9,
            atol=1e-9 * np.abs(expected).max(),
        )
        assert np.abs(kn.forward_dynamics(bare, q, v, np.zeros(model.nv)) - expected).max() > 1e-2
    again = read_mjcf(to_mjcf(model))
    assert {line.name: line.armature for line in again.elements} == {"long": 0.7, "free": 0.3, "wound": 0.2}


def test_the_laws_of_mechanics_hold():
    """All but those that compare with the inertia of the tree alone."""
    model = branches()
    slack = model.replace(elements=tuple(replace(x, law=ConstantTension(0.0)) for x in model.elements))  # type: ignore[call-arg]
    state = random_state(slack, 3)
    for name, law in LAWS.items():
        if name not in ("mass_matrix_forms", "base_coordinates"):
            assert law(slack, state) < 1e-12, name


def test_it_adds_a_mass_along_the_line():
    model, bare = branches(), branches(0.0)
    rng = np.random.default_rng(1)
    q, v, a = rng.normal(size=(3, 4))
    J = -np.asarray(kn.elements.moment_arms(model, q))
    masses = np.array([MASS, 0.5 * MASS])
    added = np.asarray(kn.mass_matrix(model, q)) - np.asarray(kn.mass_matrix(bare, q))
    np.testing.assert_allclose(added, J.T @ np.diag(masses) @ J, atol=1e-14)
    rates = np.asarray(kn.elements.rates(model, q, v))
    assert kn.kinetic_energy(model, q, v) - kn.kinetic_energy(bare, q, v) == pytest.approx(masses @ rates**2 / 2)
    e = 1e-6
    later, before = (np.asarray(kn.elements.rates(model, q + s * e * v, v + s * e * a)) for s in (1, -1))
    growth = (later - before) / (2 * e)
    difference = np.asarray(kn.inverse_dynamics(model, q, v, a)) - np.asarray(kn.inverse_dynamics(bare, q, v, a))
    np.testing.assert_allclose(difference, J.T @ (masses * growth), atol=1e-8)


def test_impulses_have_it():
    """What an impulse does is H⁻¹ of it: for dry friction in large mechanisms."""
    model = branches()
    q, push = random_state(model, 4).q, np.arange(1.0, model.nv + 1)
    np.testing.assert_allclose(response(model, q, push), np.linalg.solve(kn.mass_matrix(model, q), push), rtol=1e-9)


def test_sparse_equations_have_it():
    model = branches()
    q, v, tau = np.random.default_rng(3).normal(size=(3, 4))
    right = kn.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(kn.loops.sparse_dynamics(model, q, v, tau), right, atol=1e-9 * np.abs(right).max())


def test_derivatives_have_it():
    """By their own equations, against complex steps."""
    model = branches()
    q, v, a = np.random.default_rng(2).normal(size=(3, 4))
    found = kn.derivatives.inverse_dynamics(model, q, v, a)
    forward = kn.derivatives.forward_dynamics(model, q, v, a)
    for k, e in enumerate(1e-30j * np.eye(4)):
        states = (q + e, v, a), (q, v + e, a), (q, v, a + e)
        for ours, theirs, state in zip(found, forward, states, strict=True):
            np.testing.assert_allclose(ours[:, k], np.imag(kn.inverse_dynamics(model, *state)) / 1e-30, atol=1e-9)
            np.testing.assert_allclose(theirs[:, k], np.imag(kn.forward_dynamics(model, *state)) / 1e-30, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("integrator", ["rk4", "implicit", "bdf2"])
def test_a_motion_keeps_its_energy(integrator: str):
    model = branches()
    still = model.replace(
        joints=tuple(replace(joint, damping=()) for joint in model.joints),
        elements=(replace(model.elements[0], law=Spring(30.0, 0.3)), model.elements[1]),  # type: ignore[call-arg]
    )
    motion = kn.simulate(still, [0.3, -0.2, 0.5, 0.1], np.zeros(4), 0.5, dt=1e-3, integrator=integrator)
    worst = {"rk4": 1e-8, "implicit": 0.2, "bdf2": 1e-2}[integrator]
    assert np.ptp(motion.energy) < worst
    other = kn.simulate(branches(0.0), [0.3, -0.2, 0.5, 0.1], np.zeros(4), 0.5, dt=1e-3, integrator=integrator)
    assert np.abs(other.q[-1] - motion.q[-1]).max() > 1e-2


def test_what_goes_from_body_to_body_refuses_it():
    model = branches()
    with pytest.raises(
        ModelError, match=r"operators do not know the armature of lines, and tied has some \(tie, winch"
    ):
        kn.operators.at(model, np.zeros(4))
    with pytest.raises(ModelError, match="have armature, which loops over bodies do not know"):
        kn.simulate(model, None, None, 0.1, dt=0.01, integrator=kn.integrators.ImplicitEuler(solver="pcg"))
    with pytest.raises(ValueError, match="armature of the line 'x' is a finite number, zero or more, not -1"):
        Line("x", (LinePoint("a"), LinePoint("b")), ConstantTension(0.0), -1.0)
    with pytest.raises(ModelError, match="the armature of a line over a surface"):
        to_mjcf(model)


def test_files_keep_it():
    model = branches()
    assert read_json(to_json(model)).elements == model.elements
