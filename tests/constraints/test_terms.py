"""What constraints say of a state: J, φ̇ and φ̈ are the derivatives of φ, for every kind, on every joint type."""

import dataclasses

import numpy as np
import pytest

import knuckle as kn
from knuckle.constraints.constraint_rows import rows_of
from knuckle.constraints.constraint_terms import body_terms, dense_terms
from knuckle.joints import Revolute
from knuckle.model import Builder
from knuckle.testing import general_chain, random_tree

from ..seeds import seeds
from .subjects import every_kind

TINY = 1e-20
"""A complex step: its derivative is exact."""
KINDS = ["point", "point on axes", "plane", "distance", "pose", "relation", "custom", "custom velocity", "position",
         "velocity"]  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_rates_are_derivatives_in_time(kind: str):
    rng = np.random.default_rng(KINDS.index(kind))
    model = random_tree(rng, 6)
    constraint = every_kind(model, rng)[kind]
    q, v = kn.random_configuration(model, rng), rng.standard_normal(model.nv)
    now = dense_terms(model, q, v, constraints=(constraint,))
    ahead = dense_terms(model, kn.integrate(model, q, TINY * 1j * v), v.astype(complex), constraints=(constraint,))
    J, (error, rate, bias) = now[:, :-4], now[:, -4:-1].T
    slope = ahead.imag / TINY
    scale = 1 + np.abs(now).max()
    if kind not in ("custom velocity", "velocity"):
        assert np.abs(slope[:, -4] - rate).max() < 1e-11 * scale
        assert np.abs(J @ v - rate).max() < 1e-11 * scale
    else:
        assert not error.any()
        still = dense_terms(model, q, 0 * v, constraints=(constraint,))[:, -3]
        assert np.abs(J @ v + still - rate).max() < 1e-11 * scale
    assert np.abs(slope[:, -3] - bias).max() < 1e-11 * scale * (1 + np.abs(v).max())
    assert np.abs(rate).max() > 1e-6, "the test sees something move"


@pytest.mark.slow
@pytest.mark.parametrize("seed", seeds(4, quick=1))
def test_products_are_those_of_the_rows(seed: int):
    """J x and Jᵀ y through the velocities of bodies and forces on them (notes 2.10) against the rows themselves."""
    rng = np.random.default_rng(seed)
    model = random_tree(rng, 7)
    states = 2
    q = np.stack([kn.random_configuration(model, rng) for _ in range(states)])
    v, x = rng.standard_normal((2, states, model.nv))
    constraints = tuple(every_kind(model, rng, "=").values())
    dense, sparse = (rows_of(model, constraints, q, v, dense=way) for way in (True, False))
    assert len(dense.on_bodies) == 0
    assert len(sparse.on_bodies) > 10
    y = rng.standard_normal((states, len(dense.equality)))
    scale = 1 + np.abs(dense.G).max()
    assert np.abs(dense.measured - sparse.measured).max() <= 1e-12 * (1 + np.abs(dense.measured).max())
    assert np.abs(sparse.product(x) - np.einsum("smn,sn->sm", dense.G, x)).max() < 1e-12 * scale
    assert np.abs(sparse.transposed(y) - np.einsum("smn,sm->sn", dense.G, y)).max() < 1e-12 * scale


def test_bounds_turn_the_sign():
    rng = np.random.default_rng(0)
    model = random_tree(rng, 5, types=["revolute", "prismatic"])
    q, v = kn.random_configuration(model, rng), rng.standard_normal(model.nv)
    for name, above in every_kind(model, rng, ">=").items():
        if name == "pose":
            continue
        below = dataclasses.replace(above, bound="<=")
        up, down = (dense_terms(model, q, v, constraints=(c,))[:, :-1] for c in (above, below))
        assert np.array_equal(up, -down), name


def test_couplings_are_seen():
    """A constraint on a joint that follows another acts on the one it follows."""
    b = Builder("geared")
    b.body("one", joint=Revolute("z"), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    b.body("two", on="one", joint=Revolute("y"), at=(1, 0, 0), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    model = b.build()
    model = model.replace(couplings=(kn.model.mimic(1, 0, 3.0, 0.2),))
    rows = dense_terms(model, [0.1], [2.0], constraints=(kn.constraints.JointPosition("two_joint", 0.4),))
    assert np.allclose(rows, [[3.0, 0.3 + 0.2 - 0.4, 6.0, 0.0, 0.0]])


def test_what_cannot_be_is_said():
    C = kn.constraints
    model = kn.robots.load("arm")
    with pytest.raises(ValueError, match="length is 0"):
        C.Distance("tool0", 0.0)
    with pytest.raises(ValueError, match=r"normal is .* must be a direction"):
        C.PlaneDistance("tool0", (0, 0, 0))
    with pytest.raises(ValueError, match="at has 2 entries"):
        C.Point("tool0", at=(1, 2))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="pose is kept"):
        C.Pose("tool0", bound=">=")
    with pytest.raises(ValueError, match=r"shape \(4, 4\)"):
        C.Pose("tool0", ((1.0, 2.0),))
    q, v = kn.neutral(model), np.zeros(model.nv)
    with pytest.raises(ValueError, match="bound is"):
        kn.constraints.dynamics(model, q, v, v, [C.PlaneDistance("tool0", bound="<")])  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="did you mean 'tool0'"):
        kn.constraints.dynamics(model, q, v, v, [C.PlaneDistance("tool1")])
    with pytest.raises(ValueError, match="entries, and joint"):
        kn.constraints.dynamics(model, q, v, v, [C.JointAcceleration(model.joint_names[0], (1.0, 2.0))])
    with pytest.raises(TypeError, match=r"constraints are those of kn\.constraints, not str"):
        kn.constraints.dynamics(model, q, v, v, ["tool0"])  # type: ignore[list-item]
    with pytest.raises(TypeError, match="must be a list of them"):
        kn.constraints.dynamics(model, q, v, v, C.PlaneDistance("tool0"))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="v holds complex numbers"):
        kn.constraints.dynamics(model, q, v + 1j, v, [])
    with pytest.raises(ValueError, match=r"do not broadcast: q \(2,\), v \(3,\)"):
        kn.constraints.dynamics(model, np.tile(q, (2, 1)), np.tile(v, (3, 1)), v, [])
    with pytest.raises(ValueError, match="step is 0"):
        kn.constraints.step_velocity(model, q, v, v, [], step=0)
    with pytest.raises(ValueError, match="tau has shape"):
        kn.constraints.dynamics(model, q, v, [1.0], [])
    with pytest.raises(ValueError, match="method is"):
        kn.constraints.dynamics(model, q, v, v, [], method="qp")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="solver is"):
        kn.constraints.dynamics(model, q, v, v, [], solver="gurobi")
    with pytest.raises(ValueError, match="stabilization is -1"):
        kn.constraints.dynamics(model, q, v, v, [C.PlaneDistance("tool0")], stabilization=-1.0)
    with pytest.raises(ValueError, match="keeps equalities"):
        kn.constraints.acceleration(model, q, v, v, constraints=(C.PlaneDistance("tool0", bound=">="),))
    b = Builder("flat")
    b.body("one", joint=Revolute("z"), mass=1.0, inertia=[[1, 0, 0], [0, 1, 0], [0, 0, 1]])
    planar = kn.model.to_planar(b.build())
    with pytest.raises(ValueError, match="planar"):
        kn.constraints.dynamics(planar, *np.zeros((3, 1)), [C.PlaneDistance("one")])


def test_a_rope_of_no_length_has_no_direction():
    """Where its ends meet it is slack, and everything is finite."""
    model = kn.robots.load("arm")
    rng = np.random.default_rng(0)
    q, v = kn.random_configuration(model, rng), rng.standard_normal(model.nv)
    rope = kn.constraints.Distance("tool0", 0.3, "tool0", bound="<=")
    assert np.array_equal(dense_terms(model, q, v, constraints=(rope,))[0, -4:-1], [0.3, 0.0, 0.0])
    found = kn.constraints.dynamics(model, q, v, 0 * v, [rope], stabilization=0.1)
    assert found.solved
    assert not found.active.any()


@pytest.mark.slow
def test_costs_are_linear_in_the_bodies():
    """Operations of the products and of a constraint's forces: as many more from 10 to 20 bodies as from 20 to 30."""

    def counts(n: int) -> list[int]:
        chain = general_chain(n)
        row = kn.constraints.PlaneDistance(chain.body_names[-1])
        programs = [kn.mass_matrix_inverse_product.program(chain), body_terms.program(chain, constraints=(row,))]
        return [len(program.nodes) for program in programs]

    few, more, most = (np.array(counts(n)) for n in (10, 20, 30))
    assert np.abs((most - more) - (more - few)).max() <= 0.02 * (more - few).min()


def test_no_states_are_no_states():
    model = kn.robots.load("arm")
    none = np.zeros((0, 7))
    found = kn.constraints.dynamics(model, none, none, none, kn.constraints.joint_limits(model))
    assert found.a.shape == (0, 7)
    assert found.status.shape == (0,)
    assert found.solved
