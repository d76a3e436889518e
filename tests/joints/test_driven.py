"""Joints that move by a law of time (row C-12)."""

from __future__ import annotations

import pickle

import mpmath as mp
import numpy as np
import pytest

from knuckle.errors import ModelError
from knuckle.joints import (
    Composite,
    Cylindrical,
    Driven,
    Joint,
    Planar,
    Polynomial,
    Prescribed,
    Prismatic,
    RackAndPinion,
    Revolute,
    Sinusoid,
    Together,
    Universal,
    YawPitchRoll,
)
from knuckle.scalar import Dual, cos, sin
from knuckle.spatial import Force, Motion, Vector, lie

from .zoo import SKEW, close, columns, matrix, numbers, slope

NONE = Vector()
CUBIC, WAVE = Polynomial((0.3, -0.2, 0.5, 0.1)), Sinusoid(0.4, 1.5, 0.2, -0.1)


def circle(t):
    """A law of one's own for a planar joint: v is not q̇, and both are exact over any scalar."""
    w = 0.7 * t
    q = (w, cos(w), sin(w))
    return q, (0.7, 0.0, 0.7), (0.0, 0.0, 0.0)


DRIVEN: dict[str, Joint] = {
    "revolute": Driven(Revolute(SKEW), CUBIC),
    "prismatic": Driven(Prismatic("x"), WAVE),
    "rack": Driven(RackAndPinion(0.4), WAVE),
    "cylindrical": Driven(Cylindrical(SKEW), Together((CUBIC, WAVE))),
    "universal": Driven(Universal(), Together((WAVE, CUBIC))),
    "angles": Driven(YawPitchRoll(), Together((WAVE, CUBIC, Sinusoid(0.2, 0.3)))),
    "planar": Driven(Planar(), circle),
    "reversed": Driven(RackAndPinion(0.4), WAVE).reversed(),
    "driven reversed": Driven(Universal().reversed(), Together((WAVE, CUBIC))),
    "chain": Composite((Driven(Universal(), Together((WAVE, CUBIC))), Driven(Prismatic("y"), CUBIC))),
}
TIMES = (0.0, 0.4, -1.3)


@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.parametrize("t", TIMES)
def test_transform_moves_with_the_bias_velocity(name: str, t: float):
    """Ẋ_J = −σ × X_J: all of the joint's velocity comes from the law."""
    joint = DRIVEN[name]
    X = joint.at_time(t + 1e-30j).transform(NONE)
    _, S, v, _ = joint.at_time(t).motion(NONE, NONE)
    close(slope(columns(X)), [-(v.cross(c)) for c in columns(joint.at_time(t).transform(NONE))])
    assert len(S) == joint.nv == joint.nq == 0


@pytest.mark.parametrize("name", DRIVEN)
@pytest.mark.parametrize("t", TIMES)
def test_bias_is_the_rate_of_the_bias_velocity(name: str, t: float):
    """c_J = σ̊ = S v̇ + S̊ v."""
    joint = DRIVEN[name]
    close(slope(joint.at_time(t + 1e-30j).motion(NONE, NONE).v), joint.at_time(t).motion(NONE, NONE).c)


def test_one_freedom_of_two_can_be_driven():
    """A cylindrical joint with its turn prescribed is a rheonomic joint of one freedom (RBDA 3.4)."""
    joint = Composite((Driven(Revolute("z"), CUBIC), Prismatic("z")))
    assert (joint.nq, joint.nv) == (1, 1)
    q, v, t = Vector([0.3]), Vector([0.7]), 0.4
    X = joint.at_time(t + 1e-30j).transform(Vector([0.3 + 0.7e-30j]))
    now, vJ = joint.at_time(t), joint.at_time(t).motion(q, v).v
    close(slope(columns(X)), [-(vJ.cross(c)) for c in columns(now.transform(q))])
    moved = joint.at_time(t + 1e-30j).motion(Vector([0.3 + 0.7e-30j]), v)
    close(slope(moved.v), now.motion(q, v).c)
    sigma = vJ - now.subspace(q) @ v
    close(sigma, Motion.of([0, 0, CUBIC(t)[1][0], 0, 0, 0]))
    close(now.constraints(q).T @ vJ, now.constraints(q).T @ sigma)


def test_driven_joint_constrains_everything():
    joint = DRIVEN["rack"].at_time(0.4)
    assert matrix(joint.constraints(NONE)).tolist() == np.eye(6).tolist()
    assert joint.actuation(NONE).vector is Force
    assert len(joint.actuation(NONE)) == 0
    X = joint.transform(NONE)
    delta, T = joint.loop(lie.exp(Motion.of([0.3, 0, 0, 0, 0.5, 0]) * 1e-30j) @ X)
    close(slope(delta), [0.3, 0, 0, 0, 0.5, 0])
    assert len(T) == 6


def test_driven_joint_away_from_time_says_what_to_do():
    joint = Driven(Revolute("z"), CUBIC)
    for use in (lambda: joint.motion(NONE, NONE), lambda: joint.transform(NONE), lambda: joint.loop(columns)):
        with pytest.raises(ModelError, match=r"driven Revolute joint .* model\.at_time\(t\)"):
            use()
    with pytest.raises(ModelError, match=r"model\.at_time\(t\)"):
        Composite((Revolute("x"), joint)).motion(Vector([0.1]), Vector([0.2]))
    with pytest.raises(ModelError, match=r"model\.at_time\(t\)"):
        joint.reversed().motion(NONE, NONE)
    assert (joint.nq, joint.nv, joint.symmetrical) == (0, 0, False)
    assert joint.neutral() == joint.random(np.random.default_rng(0)) == joint.integrate(NONE, NONE) == NONE


def test_law_of_wrong_size_is_refused():
    with pytest.raises(ModelError, match=r"q of a prescribed Cylindrical joint has 2 entries, not 1"):
        Driven(Cylindrical(), CUBIC).at_time(0.0)
    with pytest.raises(ModelError, match=r"v of a prescribed Revolute joint has 1 entries, not 2"):
        Prescribed(Revolute(), (0.1,), (0.2, 0.3), (0.4,))


def test_driven_joints_are_data():
    joint = Driven(Cylindrical("x"), Together([Polynomial([1, 2]), Sinusoid(1, 2)]))
    again = Driven(Cylindrical((2, 0, 0)), Together((Polynomial((1.0, 2.0)), Sinusoid(1.0, 2.0))))
    assert joint == again == pickle.loads(pickle.dumps(joint))
    assert hash(joint) == hash(again)
    assert joint.at_time(0.5) == again.at_time(0.5)
    assert joint.at_time(0.5) != again.at_time(0.6)
    assert pickle.loads(pickle.dumps(joint.at_time(0.5))) == joint.at_time(0.5)
    assert Revolute("x").at_time(3.0) == Revolute("x")


@pytest.mark.parametrize("law", [CUBIC, WAVE, Polynomial(()), Polynomial((2.0,)), Together((CUBIC, WAVE))])
def test_laws_differentiate_themselves(law):
    """v and v̇ are the first and second derivatives, by dual numbers of dual numbers, and to forty digits."""
    t = 0.37
    q, _, _ = law(Dual(Dual(t, 1.0), Dual(1.0, 0.0)))
    for k in range(len(q)):
        outer = q[k] if isinstance(q[k], Dual) else Dual(Dual(q[k]))
        close([getattr(outer.value, "derivative", 0.0)], [law(t)[1][k]], 1e-15)
        close([getattr(outer.derivative, "derivative", 0.0)], [law(t)[2][k]], 1e-14)
    with mp.workdps(50):
        for k in range(len(q)):
            slope_there = mp.diff(lambda s, k=k: law(s)[0][k] * mp.mpf(1), mp.mpf("0.37"))
            assert abs(slope_there - law(mp.mpf("0.37"))[1][k]) < mp.mpf(10) ** -40


def test_laws_at_known_times():
    assert Polynomial((1.0, 2.0, 3.0))(2.0) == ((17.0,), (14.0,), (6.0,))
    q, v, a = Sinusoid(amplitude=2.0, frequency=0.5, offset=1.0)(1.0)
    close([*q, *v, *a], [1.0, -2 * np.pi, 0.0], 1e-14)
    assert Sinusoid(amplitude=2.0, frequency=0.5)(0.0) == ((0.0,), (2 * np.pi,), (0.0,))


def test_laws_in_lanes():
    t = np.linspace(0, 1, 5)
    joint = DRIVEN["universal"]
    lanes = joint.at_time(t).motion(NONE, NONE)
    for k, moment in enumerate(t):
        one = joint.at_time(float(moment)).motion(NONE, NONE)
        close([np.broadcast_to(x, 5)[k] for x in lanes.c.components], numbers(one.c))


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), "fast", None])
def test_laws_refuse_what_is_no_number(bad):
    with pytest.raises(ValueError, match="frequency"):
        Sinusoid(1.0, bad)
    with pytest.raises(ValueError, match="coefficients"):
        Polynomial((0.0, bad))
