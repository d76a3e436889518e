"""Undefined parameters: model constants that stay symbols and become arguments of the kernel, one per state."""

from __future__ import annotations

from typing import Any

import numpy as np

import knuckle as kn
from knuckle.model.edit import attach, with_joint
from knuckle.spatial import Inertia, Transform
from knuckle.testing import general_chain, random_state, random_tree
from knuckle.testing.laws import relative

POINT = ((0.0, 0.0, 0.0),) * 3


def states(model: kn.Model, count: int) -> list[np.ndarray]:
    drawn = [random_state(model, k) for k in range(count)]
    return [np.stack([getattr(s, name) for s in drawn]) for name in ("q", "v", "a")]


@kn.kernel
def with_payload(model: kn.Model, q: Any, v: Any, a: Any, mass: Any) -> Any:
    """Inverse dynamics with a point mass on the last frame; one mass per state."""
    loaded = attach(model, model.frame_names[-1], Inertia.of(mass[0], (0.0, 0.0, 0.1), POINT))
    return kn.inverse_dynamics(loaded, q, v, a)


def test_a_payload_is_an_argument() -> None:
    model = general_chain(4)
    q, v, a = states(model, 6)
    masses = np.linspace(0.1, 3.0, 6)[:, None]
    found = with_payload(model, q, v, a, masses)
    for k in range(6):
        heavy = attach(model, model.frame_names[-1], Inertia.of(float(masses[k, 0]), (0.0, 0.0, 0.1), POINT))
        expected = kn.inverse_dynamics(heavy, q[k], v[k], a[k])
        assert relative(found[k] - expected, expected) < 1e-12


@kn.kernel
def with_length(model: kn.Model, q: Any, v: Any, tau: Any, length: Any) -> Any:
    """Forward dynamics with the last link mounted at a distance that is an argument."""
    longer = with_joint(model, model.joint_names[-1], X_tree=Transform.translation((0.0, 0.0, length[0])))
    return kn.forward_dynamics(longer, q, v, tau)


def test_a_length_is_an_argument() -> None:
    model = general_chain(3)
    q, v, tau = states(model, 4)
    lengths = np.array([[0.2], [0.5], [1.0], [2.0]])
    found = with_length(model, q, v, tau, lengths)
    for k, length in enumerate(lengths[:, 0]):
        longer = with_joint(model, "joint2", X_tree=Transform.translation((0.0, 0.0, float(length))))
        expected = kn.forward_dynamics(longer, q[k], v[k], tau[k])
        assert relative(found[k] - expected, expected) < 1e-10


def constants(model: kn.Model) -> np.ndarray:
    """Every inertia, length and coefficient of a model that is not structural, in the order of `Model.over`."""
    found: list[float] = []
    model.with_scalars(lambda x: found.append(float(x)) or x)
    return np.array(found)


@kn.kernel
def of_a_family(model: kn.Model, q: Any, v: Any, a: Any, numbers: Any) -> Any:
    """Inverse dynamics of any robot with the topology of `model`: all its constants are arguments."""
    given = iter(numbers)
    return kn.inverse_dynamics(model.with_scalars(lambda _: next(given)), q, v, a)


def test_one_kernel_serves_a_family_of_robots() -> None:
    """Domain randomisation: a batch in which every state belongs to another robot."""
    model = random_tree(3, nb=4, types=["revolute", "prismatic"], resistance=False)
    q, v, a = states(model, 5)
    rng = np.random.default_rng(0)
    nominal = constants(model)
    family = nominal * rng.uniform(0.9, 1.1, (5, len(nominal)))
    found = of_a_family(model, q, v, a, family)
    for k in range(5):
        given = iter(family[k].tolist())
        other = model.with_scalars(lambda _, given=given: next(given))
        expected = kn.inverse_dynamics(other, q[k], v[k], a[k])
        assert relative(found[k] - expected, expected) < 1e-12
    same = of_a_family(model, q, v, a, nominal)
    plain = kn.inverse_dynamics(model, q, v, a)
    assert relative(same - plain, plain) < 1e-12
