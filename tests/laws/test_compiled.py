"""The laws on compiled code: kernels of both precisions, in batches of every shape, and printed C."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import pytest

from knuckle.joints import Joint, Planar, PlanarLocal, Reversed
from knuckle.model import Body, Frame, Model, TreeJoint, mimic
from knuckle.spatial import Transform
from knuckle.testing import JOINTS, LAWS, FullState, momentum_rate, random_inertia, random_state, random_transform

from ..seeds import quick
from .ways import InBatches, InC, Mistaken, Way, calls_of, computed_by, traced_once

TOLERANCE = 2**10
"""In units of the precision's epsilon. A law's error is relative to the terms that cancel in it, and to the condition
number of H where H is inverted; so what is left is rounding, at most half an epsilon in each of the hundreds of
operations, one after the other, that lead to an entry. Most laws hold to ten, and the worst seen is 130: two joints of
Euler angles in a row, whose rates grow near their singularities."""

SHAPES = ((), (1,), (7,), (3, 5))
PRECISIONS = (np.float64, np.float32)
MECHANISMS = {
    "arm": ("revolute", "spherical", "prismatic"),
    "floating": ("free", "planar_local", "fixed"),
    "mimic": ("continuous", "rack_and_pinion", "helical"),
    "joints of two freedoms": ("cylindrical", "universal", "composite"),
    "rotations": ("yaw_pitch_roll", "euler"),
    "exponential": ("exponential",),
    "translations": ("planar", "translational"),
    "curve": ("spline_curve",),
    "surface": ("spline_surface",),
}
"""Joint types of mechanisms that together have all: many small ones take less time to compile than a few large."""
MISTAKEN = "floating"
"""The mechanism that mistakes are tried on: all laws are laws of it."""
IN_C = (MISTAKEN, "arm")
"""Those whose laws run on C too: the operations to print are the same, and C compilers take long."""

EACH = [(name, dtype) for name in MECHANISMS for dtype in PRECISIONS]

Precision: TypeAlias = type[np.floating[Any]]


@cache
def mechanism(name: str) -> Model:
    """A tree over these joints: the second reversed, the third beside it; with rotors, damping and friction."""
    rng = np.random.default_rng(1)
    kinds = [JOINTS[joint](rng) for joint in MECHANISMS[name]]
    kinds[1:2] = [kind.reversed() for kind in kinds[1:2]]
    joints = [TreeJoint(f"joint{i}", kind, min(i, 1) - 1, random_transform(rng)) for i, kind in enumerate(kinds)]
    resisted = {field: tuple(rng.uniform(0.1, 1.0, kinds[0].nv).tolist()) for field in ("damping", "friction")}
    joints[0] = dataclasses.replace(joints[0], **resisted)
    joints[-1] = dataclasses.replace(joints[-1], rotor_inertia=tuple(rng.uniform(0.1, 1.0, kinds[-1].nv).tolist()))
    bodies = tuple(Body(f"body{i}", random_inertia(rng)) for i in range(len(joints)))
    mimics = (mimic(2, 1, 0.7, 0.3),) if name == "mimic" else ()
    frames = (Frame("tool", len(joints) - 1, random_transform(rng)),)
    return Model(bodies, tuple(joints), frames, gravity=(1.0, -2.0, -9.0), name=name, couplings=mimics)


def state_of(model: Model, dtype: Precision) -> FullState:
    """A state that this precision can say exactly."""
    s = random_state(model, 4)
    return FullState(*(x.astype(dtype).astype(float) for x in (s.q, s.v, s.a, s.f_ext)))


def errors(model: Model, dtype: Precision) -> dict[str, float]:
    """By how many epsilons each law fails."""
    known = {**LAWS, "momentum_rate": momentum_rate} if model.name == "floating" else LAWS
    state = state_of(model, dtype)
    return {name: law(model, state) / float(np.finfo(dtype).eps) for name, law in known.items()}


@pytest.fixture(scope="module", autouse=True)
def _traced_once() -> Iterator[None]:
    with traced_once():
        yield


@pytest.mark.parametrize("each", quick(EACH, [("floating", np.float64)]), ids=str)
@pytest.mark.parametrize("batch", quick(SHAPES, [(7,)]))
def test_laws_hold_on_kernels(each: tuple[str, Precision], batch: tuple[int, ...]) -> None:
    name, dtype = each
    with computed_by(InBatches(dtype, batch)):
        found = errors(mechanism(name), dtype)
    assert max(found.values()) < TOLERANCE, found


@pytest.mark.sampled
@pytest.mark.parametrize("name", quick(MECHANISMS, MECHANISMS.keys() - {"arm", "floating", "surface"}))
@pytest.mark.parametrize("dtype", PRECISIONS)
@pytest.mark.parametrize("batch", SHAPES)
def test_joints_of_every_type_in_kernels(name: str, dtype: Precision, batch: tuple[int, ...]) -> None:
    """Laws that together call every function that a joint type has."""
    model, eps = mechanism(name), float(np.finfo(dtype).eps)
    with computed_by(InBatches(dtype, batch)):
        found = {law: LAWS[law](model, state_of(model, dtype)) / eps for law in ("round_trip", "manifold")}
    assert max(found.values()) < TOLERANCE, found


@pytest.fixture(scope="module")
def in_c(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Precision], InC]:
    """The laws' functions in C, compiled once; in double precision also for the mechanism with mistakes."""

    @cache
    def made(name: str, dtype: Precision) -> InC:
        calls = calls_of(lambda: errors(mechanism(name), dtype))
        if (name, dtype) == (MISTAKEN, np.float64):
            calls += [c.on(slightly_different(name)) for c in calls if c.function.__name__ in MISTAKES.values()]
        return InC(calls, dtype, tmp_path_factory.mktemp("c"))

    return made


@pytest.mark.slow
@pytest.mark.parametrize("dtype", quick(PRECISIONS, [np.float64]))
@pytest.mark.parametrize("name", quick(IN_C, [MISTAKEN]))
def test_laws_hold_on_printed_c(name: str, dtype: Precision, in_c: Callable[[str, Precision], InC]) -> None:
    with computed_by(in_c(name, dtype)):
        found = errors(mechanism(name), dtype)
    assert max(found.values()) < TOLERANCE, found


def test_the_mechanisms_have_every_joint_type() -> None:
    assert {joint for names in MECHANISMS.values() for joint in names} == set(JOINTS)


MISTAKES = {
    "round_trip": "forward_dynamics",
    "equation_of_motion": "inverse_dynamics",
    "mass_matrix_forms": "mass_matrix",
    "inverse_of_mass_matrix": "mass_matrix_inverse",
    "coriolis": "coriolis_matrix",
    "power": "inverse_dynamics",
    "base_coordinates": "inverse_dynamics",
    "gravity_is_a_gradient": "gravity_force",
    "external_forces": "external_force",
    "jacobians": "jacobian_rate",
    "poses": "velocity",
    "momenta": "centroidal_matrix",
    "operational_space": "operational_space_inverse_inertia",
    "manifold": "integrate",
    "momentum_rate": "inverse_dynamics",
}
"""For each law a function that it depends on."""


@cache
def slightly_different(name: str) -> Model:
    """A mechanism with the same variables: a tenth heavier, a tenth of a metre longer, moving in a plane otherwise."""
    model, shift = mechanism(name), Transform.translation((0.1, -0.1, 0.1))
    bodies = [dataclasses.replace(body, inertia=body.inertia * 1.1) for body in model.bodies]
    frames = [dataclasses.replace(frame, X=shift @ frame.X) for frame in model.frames]
    joints = [
        dataclasses.replace(joint, X_tree=shift @ joint.X_tree, type=_sliding_otherwise(joint.type))
        for joint in model.joints
    ]
    return model.replace(bodies=tuple(bodies), joints=tuple(joints), frames=tuple(frames))


def _sliding_otherwise(kind: Joint) -> Joint:
    """What moves in a plane: with its translations in the other frame."""
    if isinstance(kind, Reversed):
        return _sliding_otherwise(kind.reversed()).reversed()
    return Planar(kind.normal) if isinstance(kind, PlanarLocal) else kind


def notices(law: str, way: Way, dtype: Precision) -> bool:
    """Whether a law that holds is broken, by far, when one of its functions is that of another mechanism."""
    model, eps = mechanism(MISTAKEN), float(np.finfo(dtype).eps)
    check, state = {**LAWS, "momentum_rate": momentum_rate}[law], state_of(model, dtype)
    with computed_by(way):
        right = check(model, state) / eps
    with computed_by(Mistaken(way, MISTAKES[law], slightly_different(MISTAKEN))):
        wrong = check(model, state) / eps
    return right < TOLERANCE < wrong / 4


@pytest.mark.parametrize("dtype", quick(PRECISIONS, [np.float64]))
@pytest.mark.parametrize("law", MISTAKES)
def test_a_law_notices_the_kernel_of_another_mechanism(law: str, dtype: Precision) -> None:
    assert notices(law, InBatches(dtype, (7,)), dtype)


@pytest.mark.slow
@pytest.mark.parametrize("law", MISTAKES)
def test_a_law_notices_the_c_code_of_another_mechanism(law: str, in_c: Callable[[str, Precision], InC]) -> None:
    assert notices(law, in_c(MISTAKEN, np.float64), np.float64)


def test_every_law_can_fail() -> None:
    assert set(MISTAKES) == {*LAWS, "momentum_rate"}
