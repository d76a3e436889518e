"""Joints are data: frozen, comparable, hashable, picklable, made of plain values; and what they refuse."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from knuckle import joints
from knuckle.joints import (
    Composite,
    Continuous,
    Cylindrical,
    Driven,
    Euler,
    FunctionJoint,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Polynomial,
    Prismatic,
    RackAndPinion,
    Revolute,
    SplineCurve,
    Universal,
)
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Transform, Vector

from .zoo import SKEW, ZOO, close, leaves, state


def values(joint: Any) -> Iterator[Any]:
    """Everything a joint is made of, down to plain values."""
    for field in dataclasses.fields(joint):
        stack = [getattr(joint, field.name)]
        while stack:
            value = stack.pop()
            if isinstance(value, tuple):
                stack.extend(value)
            elif isinstance(value, Joint):
                yield from values(value)
            elif isinstance(value, Transform):
                yield from leaves(value)
            else:
                yield value


def test_joints_are_frozen_data(joint: Joint):
    assert dataclasses.is_dataclass(joint)
    for field in dataclasses.fields(joint):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(joint, field.name, None)
        assert dataclasses.replace(joint, **{field.name: getattr(joint, field.name)}) == joint


def test_joints_are_made_of_plain_values(joint: Joint):
    """Floats, words, truth values, tuples, joints and transforms: what JSON holds (function joints have functions)."""
    for value in values(joint):
        assert isinstance(value, float | str | bool) or value is ZERO or value is ONE or callable(value), repr(value)


def test_joints_compare_hash_copy_and_pickle(joint: Joint):
    q, v = state(joint, 0)
    joint.motion(q, v)  # whatever it may have stored on the way must not show
    for again in (pickle.loads(pickle.dumps(joint)), copy.deepcopy(joint), copy.copy(joint)):
        assert again == joint
        assert hash(again) == hash(joint)
        assert repr(again) == repr(joint)
        close(again.motion(q, v), joint.motion(q, v), 0.0)


def test_different_joints_differ():
    kinds = list(ZOO.values())
    for i, one in enumerate(kinds):
        for other in kinds[:i]:
            assert one != other
    assert Revolute(SKEW) != Continuous(SKEW)
    assert len(set(kinds)) == len(kinds)


def test_every_joint_type_is_exported_and_in_the_zoo():
    """The zoo that the laws run over has one of each type."""
    elsewhere = {"ConstantSubspace", "Driven", "InPlane", "Joint", "Prescribed"}  # abstract, or tested on their own
    kinds = {name for name in joints.__all__ if isinstance(getattr(joints, name), type)}
    joint_kinds = {name for name in kinds if issubclass(getattr(joints, name), Joint)}
    assert joint_kinds - elsewhere == {type(joint).__name__ for joint in ZOO.values()} - {"Wobble"}
    assert set(joints.__all__) == {name for name in joints.__all__ if hasattr(joints, name)}


def test_axes_are_unit_and_exact_on_coordinates():
    assert Revolute("y").axis == Revolute((0, 5, 0)).axis == Revolute(np.array([0.0, 0.1, 0.0])).axis == (0.0, 1.0, 0.0)
    assert Revolute((0, -3, 0)).axis == (0.0, -1.0, 0.0)
    assert math.copysign(1.0, Revolute((0, -3, -0.0)).axis[2]) == 1.0
    assert math.hypot(*Revolute(SKEW).axis) == pytest.approx(1.0, abs=2e-16)
    assert Revolute((1e-200, 0, 0)).axis == (1.0, 0.0, 0.0)
    assert Revolute((1e200, 1e200, 0)).axis == pytest.approx((math.sqrt(0.5), math.sqrt(0.5), 0.0))


@pytest.mark.parametrize(
    "bad", ["w", "xy", "", (1, 2), (1, 2, 3, 4), (0, 0, 0), (math.nan, 0, 1), (math.inf, 0, 0), 3, None, ("a", 0, 0)]
)
@pytest.mark.parametrize("make", [Revolute, Continuous, Prismatic, Helical, Cylindrical, Planar, PlanarLocal])
def test_bad_axes_are_refused(make: Any, bad: Any):
    with pytest.raises(ValueError, match="axis"):
        make(bad)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Helical("z", math.nan), "pitch is a finite number, not nan"),
        (lambda: Helical("z", "fine"), "pitch is a number, not 'fine'"),  # type: ignore[arg-type]
        (lambda: RackAndPinion(math.inf), "radius is a finite number, not inf"),
        (lambda: RackAndPinion(0.1, "z", "z"), "rack lies square to the pinion's axis"),
        (lambda: RackAndPinion(0.1, "z", (0, 1, 1)), "rack lies square to the pinion's axis"),
        (lambda: Euler("zx"), "axes is a word of three letters"),
        (lambda: Euler(None), "axes is a word of three letters"),  # type: ignore[arg-type]
        (lambda: Euler("zxw"), "axes is a word of three letters.*'w'"),
        (lambda: Euler("zzx"), "parallel"),
        (lambda: Euler("xzz"), "parallel"),
        (lambda: Universal("xyz"), "axes is a word of two letters"),
        (lambda: Universal(7), "axes is a word of two letters"),  # type: ignore[arg-type]
        (lambda: Universal("xx"), "parallel"),
        (lambda: Universal(["x", (2, 0, 0)]), "parallel"),
    ],
)
def test_bad_parameters_are_refused(make: Any, message: str):
    with pytest.raises(ValueError, match=message):
        make()


def test_composite_refuses_what_is_no_joint():
    with pytest.raises(TypeError, match="a composite joint is made of joints, not of 'revolute'"):
        Composite(("revolute",))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not of <class"):
        Composite((Revolute,))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SplineCurve([Transform(), "here"]), r"frames\[1\] is a Transform, not 'here'"),  # type: ignore[list-item]
        (lambda: FunctionJoint("crank", "rad"), "function gives a Transform"),  # type: ignore[arg-type]
        (lambda: Driven("revolute", Polynomial((1,))), "joint is the joint that the law drives"),  # type: ignore[arg-type]
        (lambda: Driven(Revolute(), 3.0), r"law gives \(q, v, v̇\) at a time, which 3.0 cannot"),  # type: ignore[arg-type]
    ],
)
def test_arguments_of_another_kind_are_refused(make: Any, message: str):
    with pytest.raises(TypeError, match=message):
        make()


STRUCTURAL = {
    "revolute z": (4, 3),
    "revolute x": (4, 3),
    "revolute -y": (4, 3),
    "prismatic y": (6, 2),
    "cylindrical x": (4, 2),
}


def zeros(part: Any) -> int:
    return sum(x is ZERO for x in leaves(part))


@pytest.mark.parametrize("name", STRUCTURAL)
def test_coordinate_axes_stay_structurally_sparse(name: str):
    """Zeros of E and r are known before anything is computed; S and T hold nothing but known zeros and ones."""
    joint = ZOO[name]
    X, S, v, c = joint.motion(Vector([0.3] * joint.nq), Vector([0.7] * joint.nv))
    assert (zeros(X.E), zeros(X.r)) == STRUCTURAL[name]
    plain = joint.constraints(Vector([0.3] * joint.nq))
    for x in (*leaves(S), *leaves(plain), *leaves(joint.actuation(Vector([0.3] * joint.nq)))):
        assert x is ZERO or x is ONE or x == -1.0
    assert zeros(c) == 6
    assert zeros(v) == 6 - joint.nv


@pytest.mark.parametrize(
    ("joint", "in_S", "in_T"),
    [
        (Helical("z", 0.3), 4, 24),
        (Planar(), 15, 15),
        (PlanarLocal("x"), 15, 15),
        (RackAndPinion(0.4), 3, 23),
        (Universal("xy"), 9, 19),
        (Universal("zx"), 9, 19),
        (Euler("zxz"), 12, 15),
    ],
)
def test_other_joints_on_coordinate_axes_are_sparse(joint: Joint, in_S: int, in_T: int):
    q = Vector([0.3] * joint.nq)
    assert (zeros(joint.subspace(q)), zeros(joint.constraints(q))) == (in_S, in_T)


def test_revolute_costs_one_sine_and_one_cosine():
    """On a coordinate axis E is (cos, sin, −sin, cos) and nothing else."""
    c, s = math.cos(0.3), math.sin(0.3)
    assert list(leaves(Revolute("x").transform(Vector([0.3])).E)) == [ONE, ZERO, ZERO, ZERO, c, s, ZERO, -s, c]
