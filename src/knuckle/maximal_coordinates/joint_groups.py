"""Joints of one type together: their terms by one piece of code, for any number of them at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.engine.calls.function import kernel
from knuckle.functions.configuration import difference, difference_rate, integrate
from knuckle.joints import Joint
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.spatial import Force, Inertia, Motion, Subspace, Transform, Vector, rotation

Array: TypeAlias = NDArray[Any]


@dataclass(frozen=True)
class FramePlaces:
    """Frames of many: E and r of the transforms to them."""

    E: Array
    r: Array

    @classmethod
    def of(cls, transforms: Sequence[Transform]) -> FramePlaces:
        """Transforms of a model as arrays."""
        E = np.array([[[float(x) for x in row] for row in X.E] for X in transforms]).reshape(-1, 3, 3)
        return cls(E, np.array([[float(x) for x in X.r] for X in transforms]).reshape(-1, 3))

    @classmethod
    def flat(cls, numbers: Array) -> FramePlaces:
        """From rows of twelve numbers."""
        return cls(numbers[:, :9].reshape(-1, 3, 3), numbers[:, 9:12])

    def numbers(self) -> Array:
        """As rows of twelve numbers."""
        return np.concatenate([self.E.reshape(-1, 9), self.r], axis=1)

    def __getitem__(self, index: Any) -> FramePlaces:
        return FramePlaces(self.E[index], self.r[index])

    def after(self, first: FramePlaces) -> FramePlaces:
        """X Y: to these frames, whose places are those in the first."""
        return FramePlaces(self.E @ first.E, first.r + np.einsum("nji,nj->ni", first.E, self.r))

    def from_frames(self, others: FramePlaces) -> FramePlaces:
        """X Y⁻¹ for X and Y from the base: from the others to these."""
        E = self.E @ others.E.transpose(0, 2, 1)
        return FramePlaces(E, np.einsum("nij,nj->ni", others.E, self.r - others.r))

    def matrices(self) -> Array:
        """X (n, 6, 6) of motions: [E 0; −E r× E]."""
        X = np.zeros((len(self.E), 6, 6))
        X[:, :3, :3] = X[:, 3:, 3:] = self.E
        X[:, 3:, :3] = -self.E @ _skew(self.r)
        return X


class JointTerms(NamedTuple):
    """For joints of one type: forces T (n, 6, nc) and T_a (n, 6, nv), and S̊ v; v_J of tree joints."""

    X: FramePlaces
    v: Array
    c: Array
    T: Array
    T_a: Array


class LoopTerms(NamedTuple):
    """For loop joints of one type: T and T_a, δ, its rate, and k without what the bodies' accelerations add."""

    T: Array
    T_a: Array
    delta: Array
    rate: Array
    k: Array


@dataclass(frozen=True)
class JointGroup:
    """Joints of one type, by their numbers in a model's list of joints or of loop joints."""

    type: Joint
    members: Array
    alone: Model

    @classmethod
    def each(cls, types: Sequence[Joint], among: Sequence[int]) -> Iterator[JointGroup]:
        """The groups among some joints."""
        kinds: dict[Joint, list[int]] = {}
        for i in among:
            kinds.setdefault(types[i], []).append(i)
        for kind, members in kinds.items():
            body = Body("body", Inertia.of(1.0, (0.0, 0.0, 0.0), ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))))
            yield cls(kind, np.array(members), Model((body,), (TreeJoint("joint", kind, ROOT),)))

    @property
    def nc(self) -> int:
        """How many constraints a joint makes."""
        return 6 - self.type.nv

    def terms(self, q: Array, v: Array) -> JointTerms:
        """Terms of tree joints in states (n, nq), (n, nv)."""
        n, nv, nc = len(self.members), self.type.nv, self.nc
        X, vJ, c, T, T_a = np.split(_tree_joint(self.alone, q, v), np.cumsum([12, 6, 6, 6 * nc]), axis=1)
        return JointTerms(FramePlaces.flat(X), vJ, c, T.reshape(n, 6, nc), T_a.reshape(n, 6, nv))

    def loop_terms(self, X: FramePlaces, Vs: Array, V: Array) -> LoopTerms:
        """Terms of loop joints whose frames are X apart and move with V, in the successor's, which moves with Vs."""
        n, nv, nc = len(self.members), self.type.nv, self.nc
        cuts = np.cumsum([6 * nc, 6 * nv, nc, nc])
        T, T_a, delta, rate, k = np.split(_loop_joint(self.alone, X.numbers(), Vs, V), cuts, axis=1)
        return LoopTerms(T.reshape(n, 6, nc), T_a.reshape(n, 6, nv), delta, rate, k)

    def gaps(self, X: FramePlaces) -> Array:
        """The turn and the distance (n, 6) from the nearest place that each loop joint allows."""
        return _loop_gap(self.alone, X.numbers())

    def integrated(self, q: Array, u: Array) -> Array:
        """q ⊕ u."""
        return integrate(self.alone, q, u)

    def differences(self, q0: Array, q1: Array) -> Array:
        """q1 ⊖ q0."""
        return difference(self.alone, q0, q1)

    def difference_rates(self, u: Array, v: Array) -> Array:
        """u̇ of a displacement."""
        return difference_rate(self.alone, u, v)


@kernel
def _tree_joint(model: Model, q: Any, v: Any) -> Any:
    joint = model.joints[0].type
    X, _, vJ, c = joint.motion(q, v)
    T, T_a = joint.constraints(q), joint.actuation(q)
    return Vector([*_numbers(X), *vJ.components, *c.components, *_by_rows(T), *_by_rows(T_a)])


@kernel
def _loop_joint(model: Model, x: Any, w: Any, y: Any) -> Any:
    """The terms of `algorithms.loops.loop_constraints` for one joint, by itself."""
    joint, X = model.joints[0].type, transform_of(x)
    Vs, V = Motion.of(w), Motion.of(y)
    delta, T = joint.loop(X)
    q = joint.locate(X)
    T_a, sigma = joint.actuation(q), joint.motion(q, Vector.zero(joint.nv)).v
    own = joint.motion(q, T_a.T @ (V - sigma))
    k = T.T @ (own.c + Vs.cross(V))
    return Vector([*_by_rows(T), *_by_rows(T_a), *delta, *(T.T @ (V - sigma)), *k])


@kernel
def _loop_gap(model: Model, x: Any) -> Any:
    joint, X = model.joints[0].type, transform_of(x)
    miss = X @ joint.transform(joint.locate(X)).inverse()
    return Vector([*rotation.log(miss.E), *miss.r])


def _numbers(X: Transform) -> list[Any]:
    return [*(x for row in X.E for x in row), *X.r]


def transform_of(x: Any) -> Transform:
    """The transform of twelve numbers."""
    return Transform(((x[0], x[1], x[2]), (x[3], x[4], x[5]), (x[6], x[7], x[8])), (x[9], x[10], x[11]))


def _by_rows(S: Subspace) -> list[Any]:
    columns = [column.components for column in S]
    return [column[i] for i in range(len(Force.basis())) for column in columns]


def _skew(r: Array) -> Array:
    x, y, z = r.T
    o = np.zeros_like(x)
    return np.stack([np.stack([o, -z, y], -1), np.stack([z, o, -x], -1), np.stack([-y, x, o], -1)], -2)
