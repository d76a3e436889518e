"""Mechanisms with constraints of every kind, to test with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.constraints import (
    Constraint,
    Custom,
    CustomVelocity,
    Distance,
    JointAcceleration,
    JointPosition,
    JointVelocity,
    PlaneDistance,
    Point,
    Pose,
    Relation,
)
from knuckle.testing import random_tree


@dataclass(frozen=True)
class Subject:
    """A mechanism in a state, and constraints on it."""

    model: kn.Model
    q: np.ndarray
    v: np.ndarray
    tau: np.ndarray
    constraints: tuple[Constraint, ...]


def every_kind(model: kn.Model, rng: np.random.Generator, bound: Any = "=") -> dict[str, Constraint]:
    """One constraint of each type; those on joints where the mechanism has a joint of one freedom."""
    first, second, last = (model.body_names[k] for k in (0, model.nb // 2, -1))
    at = kn.pose(model, kn.random_configuration(model, rng), last)
    found: dict[str, Constraint] = {
        "point": Point(last, first, (0.1, -0.2, 0.3), (0.0, 0.1, 0.2), bound=bound),
        "point on axes": Point(last, None, (0.1, 0.0, 0.0), along=((1, 0, 0), (0, 3, 4)), bound=bound),
        "plane": PlaneDistance(last, (1.0, 2.0, -2.0), 0.1, second, (0.0, 0.2, 0.1), bound=bound),
        "distance": Distance(last, 0.7, None, (0.1, 0.1, 0.0), (0.3, 0.0, 2.0), bound=bound),
        "pose": Pose(last, at),
        "relation": Relation(last, lambda X: (X.r[0] * X.r[1], X.E[0][1] + X.r[2]), bound=bound),
        "custom": Custom(lambda model, q: kn.pose(model, q, last)[2][3] * q[0] + q[-1] * q[-1], bound=bound),
        "custom velocity": CustomVelocity(
            lambda model, q, v: q[0] * v[0] + kn.velocity(model, q, v, last)[3], bound=bound
        ),
        "acceleration": JointAcceleration(model.joint_names[-1], (0.5,) * model.joints[-1].type.nv, bound=bound),
    }
    single = [joint.name for joint in model.joints if (joint.type.nq, joint.type.nv) == (1, 1)]
    if single:
        found["position"] = JointPosition(single[0], 0.3, bound=bound)
        found["velocity"] = JointVelocity({single[0]: 2.0, single[-1]: -0.5}, 0.7, bound=bound)
    return found


@cache
def subject(seed: int, equalities: int = 2, inequalities: int = 5, nb: int = 5) -> Subject:
    """A random tree of up to a dozen freedoms in a random state, with constraints drawn from all kinds."""
    rng = np.random.default_rng([seed, 5])
    model = random_tree(rng, nb)
    q = kn.random_configuration(model, rng)
    v, tau = rng.standard_normal((2, model.nv))
    kept = [every_kind(model, rng)[name] for name in rng.permutation(["distance", "velocity", "custom velocity"])
            if name in every_kind(model, rng)][:equalities]  # fmt: skip
    bounded: list[Constraint] = []
    for bound in (">=", "<="):
        kinds = every_kind(model, rng, bound)
        del kinds["pose"]
        bounded += [kinds[name] for name in sorted(kinds)]
    chosen = [bounded[k] for k in rng.permutation(len(bounded))[:inequalities]]
    return Subject(model, q, v, tau, (*kept, *chosen))
