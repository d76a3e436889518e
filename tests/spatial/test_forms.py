"""Forms: what a vector was made of gives a shorter formula, never another value."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

from knuckle.engine.trace import record
from knuckle.spatial import Force, Inertia, Motion, Sym3, Transform
from knuckle.spatial.forms import Acceleration, Applied, Carried, Gyration, VelocitySum
from knuckle.spatial.three import cross, sub

from .test_steps import product
from .zoo import Kind


def bare(m: Any) -> Any:
    """The same vector, of which nothing is known."""
    return type(m)(m.angular, m.linear)


def moving(X: Transform, v: Motion, a: Motion, u: Motion, s: Motion) -> tuple[Motion, Motion]:
    """Velocity and acceleration across a joint, as recursive Newton-Euler has them (RBDA 5.8, 5.9)."""
    V = X @ v + u
    return V, X @ a + s + V.cross(u)


def test_the_acceleration_of_a_point(kind: Kind):
    """a = (ω̇, p̈ − ω × v) from joint to joint (RBDA 2.11): over two joints that turn and slide."""
    V, A = kind.motion(), kind.motion()
    for X in (kind.transform(), product(kind, 2, 0)[0], kind.transform()):
        u, s = kind.motion(), kind.motion()
        plain = moving(Transform(X.E, X.r), bare(V), bare(A), u, s)
        V, A = moving(X, V, A, u, s)
        kind.same(V, plain[0])
        kind.same(A, plain[1])
        assert isinstance(A.form, Acceleration)
        assert A.form.velocity is V
        kind.same(sub(A.form.point, cross(V.angular, V.linear)), A.linear)


def test_joints_that_turn_need_no_linear_velocity():
    """p̈ of the next body is a function of ω, ω̇ and p̈ of this one, and so is the force on it."""

    def next_body(w: Any, v: Any, dw: Any, p: Any, q: Any) -> Any:
        V, axis = Motion(tuple(w), tuple(v)), Motion.of((0, 0, 1, 0, 0, 0))
        A = Motion(tuple(dw), sub(tuple(p), cross(V.angular, V.linear))).formed(Acceleration(V, tuple(p)))
        V, A = moving(Transform.translation((0.3, 0.2, 0.1)), V, A, axis * q[0], axis * q[1])
        I = Inertia.of(2.0, (0.1, 0.2, 0.3), ((3, 0.1, 0.2), (0.1, 4, 0.3), (0.2, 0.3, 5)))
        return (I @ A + V.cross(I @ V)).components

    names = {"w": (3,), "v": (3,), "dw": (3,), "p": (3,), "q": (2,)}
    program = record(next_body, names, lambda r: (list(r), (6,)))
    assert {node.a for node in program.nodes if node.op == "input"} == {*range(14)} - {3, 4, 5}


def test_other_accelerations_are_found_the_long_way(kind: Kind):
    """A product with another velocity, or with another joint's: the identity holds, with ω × v in it."""
    X, v, a, u, s = kind.transform(), kind.motion(), kind.motion(), kind.motion(), kind.motion()
    V, A = moving(X, v, a, u, s)
    for other in (kind.motion(), X @ v + u, X @ V + s):
        total = X @ A + other.cross(u)
        assert isinstance(total.form, Acceleration)
        assert total.form.velocity is other
        kind.same(sub(total.form.point, cross(other.angular, other.linear)), total.linear)
        kind.same(total, X @ bare(A) + bare(other).cross(bare(u)))


def test_the_rate_of_momentum(kind: Kind):
    """I a + v ×* I v by points (RBDA 2.14), and v ×* I v by Jacobi's identity."""
    X, I = kind.transform(), kind.inertia()
    V, A = moving(X, kind.motion(), kind.motion(), kind.motion(), kind.motion())
    momentum = I @ V
    assert isinstance(momentum.form, Applied)
    gyration = V.cross(momentum)
    assert isinstance(gyration.form, Gyration)
    kind.same(gyration, bare(V).cross(bare(momentum)))
    kind.same(I @ A + gyration, bare(I @ A) + bare(gyration))


def test_what_does_not_belong_together_is_only_added(kind: Kind):
    X, I = kind.transform(), kind.inertia()
    V, A = moving(X, kind.motion(), kind.motion(), kind.motion(), kind.motion())
    W, J = kind.motion(), kind.inertia()
    kind.same(V.cross(I @ W), V.cross(bare(I @ W)))
    for a, b in ((I @ A, W.cross(I @ W)), (J @ A, V.cross(I @ V)), (I @ bare(A), V.cross(I @ V))):
        kind.same(a + b, bare(a) + bare(b))


def test_the_rate_of_momentum_costs_less():
    """Against the formulas of table A.4, whatever the graph finds twice done once."""

    def force(known: bool) -> Any:
        def text(m: Any, w: Any, v: Any, a: Any) -> Any:
            I = Inertia(m[0], tuple(m[1:4]), Sym3(*m[4:]))
            V = Motion(tuple(w), tuple(v))
            A = Motion(tuple(a[:3]), tuple(a[3:])) + V.cross(Motion.zero())
            f = I @ A + V.cross(I @ V) if known else bare(I @ A) + V.cross(bare(I @ V))
            return f.components

        return text

    names = {"m": (10,), "w": (3,), "v": (3,), "a": (6,)}
    short, long = (record(force(known), names, lambda r: (list(r), (6,))) for known in (True, False))
    assert (short.count().mul, short.count().add) == (45, 48)
    assert (long.count().mul, long.count().add) == (66, 54)
    values = [0.3 + 0.1 * k for k in range(22)]
    assert short.evaluate(values) == pytest.approx(long.evaluate(values), rel=1e-13)


def test_forms_are_no_part_of_the_value(floats: Kind):
    X, v, u = floats.transform(), floats.motion(), floats.motion()
    V = X @ v + u
    assert isinstance((X @ v).form, Carried)
    assert isinstance(V.form, VelocitySum)
    assert bare(V) == V
    assert hash(bare(V)) == hash(V)
    assert repr(bare(V)) == repr(V)
    copy = pickle.loads(pickle.dumps(V))
    assert copy == V
    assert copy.form is None
    assert (-V).form is (V - u).form is (2 * V).form is None


def test_sums_still_refuse_what_does_not_add(floats: Kind):
    for other in (Force.zero(), 1.0, None):
        with pytest.raises(TypeError, match="the sum of Motion"):
            _ = (floats.transform() @ floats.motion()) + other  # type: ignore[operator]
    with pytest.raises(TypeError, match="the sum of Force"):
        _ = floats.inertia() @ floats.motion() + 1.0  # type: ignore[operator]
