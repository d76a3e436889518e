"""Products with Jacobians without Jacobians (notes 2.10): equal to the dense ones, in every frame, at linear cost."""

import casadi as ca
import mpmath as mp
import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Driven, Prismatic, Revolute, Sinusoid
from knuckle.model import Builder, Model
from knuckle.scalar import sin
from knuckle.testing import JOINTS, general_chain, random_state, random_tree
from knuckle.testing.compare import close
from knuckle.testing.loops.linkages import LINKAGES

from ..seeds import FEW_JOINTS

EXPRESSIONS = ("body", "world", "aligned")
RANDOM = [random_tree(seed, 9) for seed in range(4)]
EACH_TYPE = [random_tree(k, 4, types=[name]) for k, name in enumerate(JOINTS)]


@pytest.fixture(autouse=True)
def plain_texts():
    """The texts themselves; the kernels have a test of their own."""
    kn.compilation.set_policy("never")
    yield
    kn.compilation.set_policy("auto")


def geared() -> Model:
    """Joints that follow others along a curve: J G, with a G that changes."""
    b = Builder("geared", base="world")
    for name, on in (("a", "world"), ("b", "a"), ("c", "b"), ("d", "a")):
        b.body(name, on=on, joint=Revolute((0.3, 0.5, 1.0)), at=(0.2, 0.1, 0.3), mass=1.0, inertia=(1, 1, 1))
    b.couple("c_joint", "a_joint", lambda x: sin(2 * x))
    b.couple("d_joint", ("a_joint", "b_joint"), lambda x, y: x * y)
    b.frame("tool", on="c", at=(0.1, 0.2, 0))
    return b.build()


def flat() -> Model:
    """In the plane, where a twist has three entries."""
    b = Builder("flat", base="world")
    b.body("a", on="world", joint=Revolute("z"), at=(0.1, 0.2, 0), mass=1.0, inertia=(1, 1, 1))
    b.body("b", on="a", joint=Prismatic("x"), at=(0.5, 0, 0), mass=1.0, inertia=(1, 1, 1))
    b.body("c", on="b", joint=Revolute("z"), at=(0.3, -0.2, 0), mass=1.0, inertia=(1, 1, 1))
    return kn.model.to_planar(b.build())


MODELS = {
    **{f"tree {k}": model for k, model in enumerate(RANDOM)},
    **dict(zip(JOINTS, EACH_TYPE, strict=True)),
    "geared": geared(),
    "planar": flat(),
    "loops": LINKAGES["leg"]().model,
}
SLOW = {"tree 1", "tree 2", "tree 3", *JOINTS} - {*FEW_JOINTS}
each_model = pytest.mark.parametrize(
    "model",
    [pytest.param(MODELS[name], id=name, marks=[pytest.mark.slow] * (name in SLOW)) for name in MODELS],
)


@each_model
def test_frames(model: Model):
    """J x, J̇ x and Jᵀ y are the dense Jacobians' products, for every frame and expression."""
    s, rng = random_state(model, 3), np.random.default_rng(5)
    x, y = rng.normal(size=model.nv), rng.normal(size=model.algebra.dimension)
    for frame in dict.fromkeys((model.base.name, model.body_names[0], model.frame_names[-1])):
        for expressed_in in EXPRESSIONS:
            at = (frame, expressed_in)
            J, rate = kn.jacobian(model, s.q, *at), kn.jacobian_rate(model, s.q, s.v, *at)
            size = model.nv * max(1.0, np.abs(J).max(initial=0.0)) * np.abs(x).max(initial=0.0)
            close(kn.jacobian_products.product(model, s.q, x, *at), J @ x, size=size)
            close(kn.jacobian_products.transpose_product(model, s.q, y, *at), J.T @ y, size=size)
            fast = max(1.0, np.abs(s.v).max(initial=0.0), np.abs(rate).max(initial=0.0))
            close(kn.jacobian_products.rate_product(model, s.q, s.v, x, *at), rate @ x, size=size * fast)


@each_model
def test_all_bodies_at_once(model: Model):
    """The same for all bodies, each in its own coordinates; Jᵀ y sums over them."""
    s, rng = random_state(model, 4), np.random.default_rng(6)
    x, y = rng.normal(size=model.nv), rng.normal(size=(model.nb, model.algebra.dimension))
    J = np.array([kn.jacobian(model, s.q, name) for name in model.body_names])
    rate = np.array([kn.jacobian_rate(model, s.q, s.v, name) for name in model.body_names])
    size = model.nv * max(1.0, np.abs(J).max(initial=0.0), np.abs(rate).max(initial=0.0)) * np.abs(s.v).max(initial=1.0)
    n = model.nb * model.algebra.dimension
    close(kn.jacobian_products.body_jacobian(model, s.q), J.reshape(n, model.nv), size=size)
    close(kn.jacobian_products.body_jacobian_rate(model, s.q, s.v), rate.reshape(n, model.nv), size=size)
    close(kn.jacobian_products.body_product(model, s.q, x), J @ x, size=size)
    close(kn.jacobian_products.body_rate_product(model, s.q, s.v, x), rate @ x, size=size)
    close(
        kn.jacobian_products.body_transpose_product(model, s.q, y), np.einsum("bij,bi->j", J, y), size=size * model.nb
    )


@pytest.mark.parametrize("model", RANDOM)
def test_they_are_velocity_acceleration_and_force(model: Model):
    """J v is the velocity, J a + J̇ v − v-products the acceleration, and Jᵀ f what RNEA makes of external forces."""
    s, frame = random_state(model, 8), model.frame_names[-1]
    f = np.random.default_rng(2).normal(size=(model.nb, 6))
    close(kn.jacobian_products.product(model, s.q, s.v, frame), kn.velocity(model, s.q, s.v, frame))
    bias = kn.jacobian_products.rate_product(model, s.q, s.v, s.v, frame, "world")
    total = kn.jacobian_products.product(model, s.q, s.a, frame, "world") + bias
    close(total, kn.acceleration(model, s.q, s.v, s.a, frame, "world"), size=np.abs(bias).max() * model.nb)
    pushed = kn.inverse_dynamics(model, s.q, s.v, s.a) - kn.inverse_dynamics(model, s.q, s.v, s.a, f)
    size = np.abs(kn.inverse_dynamics(model, s.q, s.v, s.a)).max()
    close(kn.jacobian_products.body_transpose_product(model, s.q, f), pushed, size=size)


def test_the_rate_is_the_derivative_in_time():
    """J̇ x by the complex step on J x, along a motion with constant velocities and along a drive's law."""
    b = Builder("driven", base="world")
    b.body("turret", on="world", joint=Driven(Revolute("z"), Sinusoid(0.5, 0.3)), mass=1.0, inertia=(1, 1, 1))
    b.body("arm", on="turret", joint=Revolute((1, 0.2, 0)), at=(0.2, 0, 0.3), mass=1.0, inertia=(1, 1, 1))
    b.frame("tool", on="arm", at=(0.1, 0.4, 0))
    model, t, q, v, x = b.build(), 0.4, 0.7, -1.3, 0.9
    for expressed_in in EXPRESSIONS:
        later = model.at_time(t + 1e-30j)
        moved = kn.jacobian_products.product.reference(later, [q + v * 1e-30j], [x], "tool", expressed_in)
        rate = kn.jacobian_products.rate_product(model.at_time(t), [q], [v], [x], "tool", expressed_in)
        close(rate, [complex(part).imag / 1e-30 for part in moved.components])


@pytest.mark.parametrize("shape", [(), (7,), (2, 3)])
def test_kernels_are_the_texts(shape: tuple[int, ...]):
    model = kn.robots.load("quadruped")
    rng = np.random.default_rng(1)
    q = kn.integrate(model, kn.neutral(model), rng.normal(size=(*shape, model.nv)))
    v, x = rng.normal(size=(2, *shape, model.nv))
    y, f = rng.normal(size=(*shape, 6)), rng.normal(size=(*shape, model.nb, 6))
    frame = model.frame_names[-1]
    calls = (
        lambda: kn.jacobian_products.product(model, q, x, frame, "aligned"),
        lambda: kn.jacobian_products.rate_product(model, q, v, x, frame),
        lambda: kn.jacobian_products.transpose_product(model, q, y, frame, "world"),
        lambda: kn.jacobian_products.body_product(model, q, x),
        lambda: kn.jacobian_products.body_rate_product(model, q, v, x),
        lambda: kn.jacobian_products.body_transpose_product(model, q, f),
    )
    plain = [call() for call in calls]
    kn.compilation.set_policy("always")
    for call, wanted in zip(calls, plain, strict=True):
        assert call().shape == wanted.shape
        close(call(), wanted, size=10.0)


def counts(name: str, n: int) -> int:
    model = general_chain(n)
    options = {} if name.startswith("body") else {"frame": model.body_names[-1]}
    count = kn.compilation.operation_count(getattr(kn.jacobian_products, name), model, **options)
    return count.mul + count.add


@pytest.mark.parametrize("name", ["product", "rate_product", "transpose_product"])
@pytest.mark.parametrize("of", ["body_", ""])
def test_the_cost_is_linear(of: str, name: str):
    """Each body more costs the same, for the last frame and for all bodies (notes 2.10)."""
    steps = np.diff([counts(f"{of}{name}", n) for n in (6, 9, 15, 27)])
    assert steps[0] > 0
    assert list(steps) == [steps[0], 2 * steps[0], 4 * steps[0]]


@pytest.mark.slow
def test_the_dense_way_costs_more_and_more():
    """Jacobians of all bodies have n² entries: already for 24 bodies the product is far cheaper."""
    model = general_chain(24)
    dense = sum(kn.compilation.operation_count(kn.jacobian, model, frame=name).mul for name in model.body_names)
    assert kn.compilation.operation_count(kn.jacobian_products.body_product, model).mul < dense / 10


def test_other_numbers():
    """mpmath to its digits, CasADi as expressions."""
    model = random_tree(1, 4, types=["revolute", "spherical", "prismatic"], resistance=False)
    s, frame = random_state(model, 2), model.frame_names[-1]
    plain = kn.jacobian_products.rate_product(model, s.q, s.v, s.a, frame)
    with mp.workdps(40):
        q, v, x = (mp.matrix(list(map(mp.mpf, part))) for part in (s.q, s.v, s.a))
        fine = kn.jacobian_products.rate_product(model, q, v, x, frame)
        close([float(x) for x in fine], plain, size=10.0)
    q, x = ca.SX.sym("q", model.nq), ca.SX.sym("x", model.nv)
    product = ca.Function("product", [q, x], [kn.jacobian_products.product(model, q, x, frame)])
    close(np.array(product(s.q, s.a)).ravel(), kn.jacobian_products.product(model, s.q, s.a, frame), size=10.0)


def test_wrong_arguments_are_named():
    model = kn.robots.load("double_pendulum")
    q = kn.neutral(model)
    with pytest.raises(ValueError, match=r"x has shape \(3,\), and must have shape \(\.\.\., 2\)"):
        kn.jacobian_products.product(model, q, np.zeros(3), model.frame_names[-1])
    with pytest.raises(ValueError, match=r"y has shape \(3,\)"):
        kn.jacobian_products.transpose_product(model, q, np.zeros(3), model.frame_names[-1])
    with pytest.raises(ValueError, match="expressed_in"):
        kn.jacobian_products.product(model, q, np.zeros(2), model.frame_names[-1], "local")  # type: ignore[arg-type]
    with pytest.raises(KeyError, match="no frame is called 'hnad'"):
        kn.jacobian_products.rate_product(model, q, np.zeros(2), np.zeros(2), "hnad")
