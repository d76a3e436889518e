"""Floating bases (RBDA 9.3 to 9.5, 10.1): equal to the free joint's way, cheaper, good anywhere. P17, P18, D-25."""

import dataclasses
from itertools import islice

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.dynamics import aba, branch_sparsity, floating_base
from knuckle.algorithms.dynamics import hybrid_dynamics as hybrid
from knuckle.engine.calls.function import function
from knuckle.functions.floating import floats, limbs_of
from knuckle.functions.per_joint import wrenches
from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.model.connectivity import expand_parents
from knuckle.spatial import Force, Matrix, Motion, Vector
from knuckle.testing import auto_tree, random_state, random_tree
from knuckle.testing.compare import array, close

from ..seeds import quick

DRAWN = (random_tree(seed, 8, floating=True, resistance=seed % 2 == 0) for seed in range(20))
TREES = list(islice(filter(limbs_of, DRAWN), 6))
each_tree = pytest.mark.parametrize("model", TREES, ids="abcdef")


@pytest.fixture(autouse=True)
def plain_texts():
    """The texts themselves; the kernels have a test of their own."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


class Drifting:
    """A random state of a floating mechanism, as the tables of section 9.4 want it, and as the free joint does."""

    def __init__(self, model: Model, seed: int = 0) -> None:
        limbs = limbs_of(model)
        assert limbs is not None
        s, rng = random_state(model, seed), np.random.default_rng([seed, 9])
        self.model, self.limbs, self.q, self.v, self.a = model, limbs, s.q, s.v, s.a
        self.tau, self.f = rng.normal(size=model.nv), rng.normal(size=(model.nb, 6))
        self.tau[:6] = 0
        self.Q, self.V, self.A, self.T = (
            [Vector(x.tolist()) for x in model_parts[1:]]
            for model_parts in (
                [s.q[part] for part in model.q_slices],
                *([x[part] for part in model.v_slices] for x in (s.v, s.a, self.tau)),
            )
        )
        self.v0 = Motion.of(s.v[:6].tolist())
        self.g = model.joints[0].type.transform(Vector(s.q[:7].tolist())) @ model.X_tree[0] @ model.g
        self.f_ext = {i - 1: Force.of(row) for i, row in enumerate(self.f.tolist())}

    @property
    def conditions(self) -> float:
        return float(np.linalg.cond(kn.mass_matrix(self.model, self.q)))

    def flat(self, a0: Motion, parts: dict[int, Vector]) -> np.ndarray:
        return np.concatenate([array(a0), *(array(parts[i]) for i in range(self.limbs.nb))])


def frictionless(model: Model) -> Model:
    """Without springs too: what the tables know."""
    joints = model.without_friction().joints
    return model.replace(joints=tuple(dataclasses.replace(j, stiffness=()) for j in joints))


def by_free_joint(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, f: np.ndarray) -> np.ndarray:
    """The articulated-body algorithm of table 7.1 with a free joint (RBDA 9.3)."""
    Q, (V, T) = model.positions(q.tolist()), (model.velocities(q.tolist(), x.tolist()) for x in (v, tau))
    return array(model.forces(q, aba.forward_dynamics(model, Q, V, T, wrenches(model, f.tolist()))))


# the tables


@each_tree
def test_articulated_bodies(model: Model):
    """Table 9.4 is table 7.1 with a free joint, external forces and gravity included (P17)."""
    at = Drifting(frictionless(model))
    found = at.flat(*floating_base.forward_dynamics(at.limbs, at.v0, at.g, at.Q, at.V, at.T, at.f_ext))
    close(found, by_free_joint(at.model, at.q, at.v, at.tau, at.f), at.conditions)


@each_tree
def test_equation_of_motion(model: Model):
    """Table 9.5 gives I_0^c, F, H, p_0^c and C of 9.13: the free joint's H and C, and the same motion (P17)."""
    at = Drifting(frictionless(model))
    I0c, F, H, p0c, C = floating_base.equation_of_motion(at.limbs, at.v0, at.g, at.Q, at.V, at.f_ext)
    whole = kn.mass_matrix(at.model, at.q)
    size = np.abs(whole).max()
    close(array(I0c), whole[:6, :6], size=size)
    for i, part in enumerate(at.limbs.v_slices):
        close(array(F[i]), whole[:6, 6:][:, part], size=size)
        for j, other in enumerate(at.limbs.v_slices):
            block = array(H[i, j]) if (i, j) in H else np.zeros((len(at.V[i]), len(at.V[j])))
            close(block, whole[6:, 6:][part, other], size=size)
    bias = at.flat(p0c, C)
    close(bias, kn.bias_force(at.model, at.q, at.v, at.f), size=np.abs(bias).max())
    sizes = [joint.type.nv for joint in at.model.joints]
    solved = branch_sparsity.solve(
        Matrix(whole.tolist()), expand_parents(at.model.parents, sizes), Vector((at.tau - bias).tolist())
    )
    close(array(solved), by_free_joint(at.model, at.q, at.v, at.tau, at.f), at.conditions)


@each_tree
def test_inverse_dynamics(model: Model):
    """Table 9.6 is hybrid dynamics with the base free, and table 9.4 returns what it was given (P18)."""
    at = Drifting(frictionless(model))
    a0, tau = floating_base.inverse_dynamics(at.limbs, at.v0, at.g, at.Q, at.V, at.A, at.f_ext)
    back0, back = floating_base.forward_dynamics(at.limbs, at.v0, at.g, at.Q, at.V, tau, at.f_ext)
    close(at.flat(back0, back), np.concatenate([array(a0), at.a[6:]]), at.conditions)
    found, forces = kn.hybrid_dynamics(
        at.model, at.q, at.v, at.tau, at.a, at.f, forced=at.model.joint_names[:1], method="crba"
    )
    condition, size = float(np.linalg.cond(kn.mass_matrix(at.model, at.q)[:6, :6])), np.abs(forces).max()
    close(array(a0), found[:6], condition)
    close(np.concatenate([array(tau[i]) for i in range(at.limbs.nb)]), forces[6:], condition, size)


# what the library makes of them


@each_tree
def test_forward_dynamics_uses_them(model: Model):
    """With damping, springs, rotors and forces on the base itself: the same as by the mass matrix."""
    at = Drifting(model, 1)
    tau = at.tau + np.random.default_rng(4).normal(size=model.nv)
    found = kn.forward_dynamics(model, at.q, at.v, tau, at.f)
    close(found, kn.forward_dynamics(model, at.q, at.v, tau, at.f, method="crba"), at.conditions)


@each_tree
def test_hybrid_dynamics_uses_them(model: Model):
    """The base forced and everything else prescribed, with a force on the base and joints that resist."""
    at = Drifting(model, 2)
    tau = at.tau + np.random.default_rng(5).normal(size=model.nv)
    one, other = (
        kn.hybrid_dynamics(model, at.q, at.v, tau, at.a, at.f, forced=[model.joint_names[0]], method=method)
        for method in ("aba", "crba")
    )
    for x, y in zip(one, other, strict=True):
        close(x, y, at.conditions, size=np.abs(other[1]).max())


def test_where_they_serve():
    """One free joint first, and nothing else on the ground; limbs without couplings."""
    model = TREES[0]
    assert floats(model)
    limbs = limbs_of(model)
    assert limbs is not None
    assert (limbs.nb, limbs.base, limbs.parents[0]) == (model.nb - 1, model.bodies[0], ROOT)
    assert not floats(kn.robots.load("arm"))
    beside = model.replace(joints=(*model.joints[:-1], dataclasses.replace(model.joints[-1], parent=ROOT)))
    assert not floats(beside)
    assert limbs_of(beside) is None
    wheel = model.replace(joints=(dataclasses.replace(model.joints[0], rotor_inertia=0.1), *model.joints[1:]))
    assert floats(wheel)
    assert limbs_of(wheel) is None


@function(q="q", v="v", tau="v", joint_space=True)
def with_free_joint(model, q, v, tau):
    """Table 7.1, whatever the first joint is."""
    parts = model.positions(q), model.velocities(q, v), model.velocities(q, tau)
    return model.forces(q, aba.forward_dynamics(model, *parts, wrenches(model, None)))


@function(q="q", v="v", tau="v", a="v", joint_space=True)
def with_forced_joint(model, q, v, tau, a):
    """Table 9.3 with the first joint forced."""
    Q, (V, T, A) = model.positions(q), (model.velocities(q, x) for x in (v, tau, a))
    found, forces = hybrid.hybrid_dynamics(model, Q, V, T, A, wrenches(model, None), {0})
    return Vector((*model.forces(q, found), *model.forces(q, forces)))


@pytest.mark.parametrize("name", quick(["satellite", "quadruped", "humanoid"], ["satellite", "quadruped"]))
def test_they_are_cheaper(name: str):
    """Fewer operations than the general algorithms, after simplification of both."""
    from knuckle.functions.hybrid import hybrid_motion

    model = frictionless(kn.robots.load(name))
    free, afloat = (kn.compilation.operation_count(f, model) for f in (with_free_joint, kn.forward_dynamics))
    assert (afloat.mul < free.mul, afloat.add < free.add, afloat.div <= free.div) == (True, True, True)
    general = kn.compilation.operation_count(with_forced_joint, model)
    special = kn.compilation.operation_count(
        hybrid_motion, model, prescribed=tuple(range(1, model.nb)), method="aba", stabilization=None
    )
    assert (special.mul < 0.9 * general.mul, special.add < 0.9 * general.add) == (True, True)


@pytest.mark.parametrize("nb", quick([12, 70], [12]))
def test_kernels_are_the_texts(nb: int):
    """Straight code, and rolled code for a large tree."""
    chain = auto_tree(nb, branching=1.5, skew=0.3)
    first = dataclasses.replace(chain.joints[0], type=Free(), damping=(), friction=(), rotor_inertia=(),
                                     stiffness=(), rest=(), limits=kn.model.Limits(), start=())  # fmt: skip
    model = chain.replace(joints=(first, *chain.joints[1:]))
    assert floats(model)
    s = random_state(model, 3)
    tau = np.random.default_rng(1).normal(size=(3, model.nv))
    plain = kn.forward_dynamics(model, s.q, s.v, tau)
    kn.compilation.set_policy("always")
    close(kn.forward_dynamics(model, s.q, s.v, tau), plain, np.linalg.cond(kn.mass_matrix(model, s.q)))


# physics


@each_tree
def test_gravity_moves_the_base_and_nothing_else(model: Model):
    """All bodies fall alike: joints accelerate as they do without gravity (P17; RBDA 9.4)."""
    at = Drifting(frictionless(model), 3)
    falling = kn.forward_dynamics(at.model, at.q, at.v, at.tau)
    weightless = kn.forward_dynamics(at.model.with_gravity((0, 0, 0)), at.q, at.v, at.tau)
    assert np.array_equal(falling[6:], weightless[6:])
    close(falling[:6] - weightless[:6], array(at.g), size=np.abs(falling).max())


@each_tree
def test_gravity_is_felt_in_the_coordinates_of_the_base(model: Model):
    """D-25: turned with the base and its field, everything is the same; turned alone, gravity is another vector."""
    at = Drifting(frictionless(model), 4)
    turned = at.q.copy()
    turned[:4] = kn.random_configuration(at.model, 8)[:4]
    one, other = (kn.forward_dynamics(at.model, q, at.v, at.tau) for q in (at.q, turned))
    assert np.array_equal(one[6:], other[6:])
    E, E2 = (kn.pose(at.model, q, at.model.body_names[0])[:3, :3] for q in (at.q, turned))
    g = np.array(at.model.gravity)
    close(one[3:6] - E.T @ g, other[3:6] - E2.T @ g, size=np.abs(one).max())


@each_tree
def test_momentum(model: Model):
    """I_0^c v_0 + F q̇ = Σ I v, and ½ vᵀ[I_0^c F; Fᵀ H]v is the kinetic energy (RBDA example 9.3)."""
    at = Drifting(model, 5)
    I0c, F, _ = floating_base.composite_bodies(at.limbs, at.Q)
    total = I0c @ at.v0
    for i, part in enumerate(at.V):
        total = total + F[i] @ part
    X0 = model.joints[0].type.transform(Vector(at.q[:7].tolist())) @ model.X_tree[0]
    momentum = kn.momentum(model, at.q, at.v)
    close(array(X0.T @ total), momentum, size=np.abs(momentum).max() * 10)
    H = kn.mass_matrix(model, at.q)
    close(at.v @ H @ at.v / 2, kn.kinetic_energy(model, at.q, at.v))


@each_tree
def test_momentum_changes_by_the_external_forces(model: Model):
    """The rate of the momentum is the weight, whatever the joints do; without gravity it is kept (P17)."""
    at = Drifting(model, 6)
    step = 1e-6
    for field in ((0.0, 0.0, 0.0), (1.0, 2.0, -9.81)):
        moved = model.with_gravity(field)
        a = kn.forward_dynamics(moved, at.q, at.v, at.tau)
        after, before = (
            kn.momentum(moved, kn.integrate(moved, at.q, s * at.v), at.v + s * a) for s in (step / 2, -step / 2)
        )
        weight = kn.total_mass(moved) * np.array(field)
        torque = np.cross(kn.center_of_mass(moved, at.q), weight)
        size = (1 + np.abs(a).max()) * (1 + np.abs(at.v).max() ** 2) * np.abs(kn.momentum(moved, at.q, at.v)).max()
        # central differences: step² of the third derivative, and rounding over step
        np.testing.assert_allclose((after - before) / step, [*torque, *weight], rtol=0, atol=size * 1e-8)


@each_tree
@pytest.mark.parametrize("expressed_in", ["body", "world", "aligned"])
def test_the_floating_jacobian(model: Model, expressed_in: str):
    """J^fl q̇ is the twist of a frame in a mechanism without momentum (RBDA example 9.4)."""
    at, frame = Drifting(model, 7), model.frame_names[-1]
    H, qd = kn.mass_matrix(model, at.q), at.v[6:]
    v0 = np.linalg.solve(H[:6, :6], -H[:6, 6:] @ qd)
    v = np.concatenate([v0, qd])
    J = kn.floating_jacobian(model, at.q, frame, expressed_in)  # type: ignore[arg-type]
    assert J.shape == (6, model.nv - 6)
    condition = float(np.linalg.cond(H[:6, :6]))
    close(J @ qd, kn.velocity(model, at.q, v, frame, expressed_in), condition)  # type: ignore[arg-type]
    if expressed_in != "body":
        return
    size = np.abs(kn.momentum(model, at.q, at.v)).max()
    close(kn.momentum(model, at.q, v), np.zeros(6), condition, size)
    impulse = np.concatenate([np.zeros(6), np.random.default_rng(2).normal(size=model.nv - 6)])
    dv = np.linalg.solve(H, impulse)
    close(J @ dv[6:], kn.jacobian(model, at.q, frame) @ dv, np.linalg.cond(H))


def test_what_does_not_float_has_no_floating_jacobian():
    with pytest.raises(kn.ModelError, match="first joint is free, and no other on the ground"):
        kn.floating_jacobian(kn.robots.load("arm"), kn.neutral(kn.robots.load("arm")), "base_link")
    model = TREES[0]
    with pytest.raises(ValueError, match="is on the ground, which does not recoil"):
        kn.floating_jacobian(model, kn.neutral(model), model.base.name)


# far away and fast (RBDA 10.1)


@each_tree
def test_a_base_a_thousand_kilometres_away(model: Model):
    """Where the base is makes no difference at all, to the last bit, for what does not depend on it."""
    at = Drifting(model, 8)
    far = at.q.copy()
    far[4:7] += 1e6, -1e6, 1e6
    f, frame = at.f, model.frame_names[-1]
    for function_ in (
        lambda q: kn.forward_dynamics(model, q, at.v, at.tau, f),
        lambda q: kn.forward_dynamics(model, q, at.v, at.tau, f, method="crba"),
        lambda q: kn.inverse_dynamics(model, q, at.v, at.a, f),
        lambda q: kn.mass_matrix(model, q),
        lambda q: np.stack(kn.hybrid_dynamics(model, q, at.v, at.tau, at.a, f, forced=model.joint_names[:1])),
        lambda q: kn.floating_jacobian(model, q, frame),
        lambda q: kn.velocity(model, q, at.v, frame, "aligned"),
        lambda q: kn.kinetic_energy(model, q, at.v),
        lambda q: kn.centroidal_momentum(model, q, at.v),
        lambda q: kn.centroidal_matrix(model, q),
        lambda q: kn.centroidal_bias(model, q, at.v),
    ):
        assert np.array_equal(function_(far), function_(at.q))


@each_tree
def test_a_base_that_travels_fast(model: Model):
    """Seen from an inertial frame that moves along, nothing differs: joints accelerate the same to the last bit.

    The free joint's way computes with the speed, and loses the digits that it takes.
    """
    at = Drifting(frictionless(model), 9)
    speed = np.array([1e5, -2e5, 1e5])
    fast = at.v.copy()
    fast[3:6] += speed
    slow, quick = (kn.forward_dynamics(at.model, at.q, v, at.tau) for v in (at.v, fast))
    assert np.array_equal(slow[6:], quick[6:])
    close(quick[3:6] + np.cross(at.v[:3], speed), slow[3:6], size=np.abs(quick).max())
    direct = by_free_joint(at.model, at.q, fast, at.tau, 0 * at.f)
    lost = np.abs(direct - quick)[6:].max()
    assert 1e-13 < lost < 1e-6 * np.abs(speed).max()
