"""Serial chains as people wrote them down before spatial vectors: links on revolute and prismatic joints, in 3-D."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.joints import Prismatic, Revolute
from knuckle.model import Model

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class Link:
    """A link and the joint that carries it. Vectors are in the link's own frame, whose origin is on the joint."""

    revolute: bool
    axis: Array
    mass: float
    com: Array
    I_com: Array
    E_rest: Array
    """From the previous link's axes to the joint's."""
    r_rest: Array
    """The joint's place in the previous link."""

    def placed(self, q: Any) -> tuple[Array, Array]:
        """(E, r) at the joint position q: from the previous link's axes to this link's, and its origin there."""
        if self.revolute:
            return _turn(self.axis, q) @ self.E_rest, self.r_rest
        return self.E_rest, self.r_rest + self.E_rest.T @ self.axis * q


def links(model: Model) -> list[Link]:
    """The links of a model that is a serial chain of revolute and prismatic joints without rotors or couplings."""
    if model.loops or model.couplings:
        raise ValueError(f"{model.name} has loop joints or couplings, and a serial chain has none")
    chain: list[Link] = []
    for i, (joint, body) in enumerate(zip(model.joints, model.bodies, strict=True)):
        if joint.parent != i - 1:
            raise ValueError(f"{joint.name} branches off: a serial chain has each body on the one before it")
        if not isinstance(joint.type, (Revolute, Prismatic)):
            raise ValueError(f"{joint.name} is {type(joint.type).__name__}, and must be Revolute or Prismatic")
        if any(joint.rotor_inertia):
            raise ValueError(f"{joint.name} has a rotor, which this chain does not know")
        I = body.inertia
        chain.append(
            Link(
                isinstance(joint.type, Revolute),
                numbers(joint.type.axis),
                float(I.mass),
                numbers(I.com),
                np.array([numbers(row) for row in I.I_com.matrix]),
                np.array([numbers(row) for row in joint.X_tree.E]),
                numbers(joint.X_tree.r),
            )
        )
    return chain


def numbers(values: Iterable[Any]) -> Array:
    """Scalars as an array of floats."""
    return np.array([float(x) for x in values])


def _turn(axis: Array, angle: Any) -> Array:
    """The coordinate transform to a frame turned about `axis`: cos 1 − sin a× + (1 − cos) a aᵀ."""
    c, s = np.cos(angle), np.sin(angle)
    return c * np.eye(3) - s * np.cross(np.eye(3), axis) + (1 - c) * np.outer(axis, axis)
