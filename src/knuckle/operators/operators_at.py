"""All spatial operators of a mechanism at a configuration."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from knuckle.engine.arrays.base import scalars_of
from knuckle.engine.arrays.result_layout import Layout, Single
from knuckle.engine.calls.choose_container import container_of, unpacked
from knuckle.engine.calls.numpy_arrays import NumPyArrays, numbers
from knuckle.errors import ModelError
from knuckle.functions.line_inertia import must_have_no_armature
from knuckle.model import ROOT, Frame, Model
from knuckle.scalar import is_inside
from knuckle.spatial import Matrix, Vector

from . import symbols
from .application import Parts
from .operator import Operator
from .operator_entries import Configuration
from .operator_expression import Constant, OperatorExpression
from .spaces import FORCE, MOTION, Space
from .spaces import numbers as numbers_space

Array: TypeAlias = Any


def at(model: Model, q: ArrayLike, v: ArrayLike | None = None, *, points: Iterable[str | Frame] = ()) -> Operators:
    """The spatial operators of a mechanism at the position q, and at the velocity v for its `a`, `b` and `C`.

    Args:
        model: a tree of bodies: no loop joints and no couplings.
        q: one position (nq,).
        v: one velocity (nv,).
        points: frames, or their names, for B, J and Λ: the paper's points of closure.
    """
    return Operators(model, q, v, points)


class Operators:
    """E_phi, phi, H, M, … as attributes, which multiply to further operators: `mass = H @ phi @ M @ phi.T @ H.T`."""

    def __init__(self, model: Model, q: ArrayLike, v: ArrayLike | None, points: Iterable[str | Frame]) -> None:
        check(model)
        self.model = model
        self.points = placed(model, points)
        self.given = _given("q", q, model.nq)
        self._v = None if v is None else _given("v", v, model.nv)
        numeric = isinstance(self.given, np.ndarray) and self.given.dtype != object
        self.dtype = np.result_type(self.given.dtype, np.float32) if numeric else np.dtype(object)
        self.configuration = Configuration(model, _scalars("q", self.given, model.nq), self.points)

    def __getattr__(self, name: str) -> Operator:
        if name in symbols.SYMBOLS:
            return Operator(self, symbols.SYMBOLS[name])
        raise AttributeError(f"there is no operator {name!r}; there are {', '.join(symbols.SYMBOLS)}")

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *symbols.SYMBOLS})

    def __repr__(self) -> str:
        return f"<knuckle operators of {self.model.name}: {self.model.nb} bodies, {len(self.points)} points>"

    def __call__(self, expression: OperatorExpression) -> Operator:
        """An expression of `knuckle.operators.symbols` as an operator of this mechanism."""
        return Operator(self, expression)

    def constant(
        self, matrix: ArrayLike, name: str = "A", *, of: Space | None = None, to: Space | None = None
    ) -> Operator:
        """A matrix of numbers as an operator: A of the closure constraints, from the motions of the points (0.20)."""
        rows = np.atleast_2d(np.asarray(matrix))
        domain, codomain = of or symbols.J.codomain, to or numbers_space(rows.shape[0])
        for space, size, what in ((domain, rows.shape[1], "columns"), (codomain, rows.shape[0], "rows")):
            needed = sum(space.sizes(self.model, self.points))
            if needed != size:
                raise ValueError(f"{name} has {size} {what}, and must have {needed}: {space.name}")
        return Operator(self, Constant(name, Matrix(rows.tolist(), rows.shape[1]), domain, codomain))

    @property
    def has_rotors(self) -> bool:
        """Whether rotors add to D, which the paper does not know."""
        return any(any(map(float, rotor)) for rotor in self.model.rotor)

    # terms of velocity (0.2)

    @cached_property
    def _moving(self) -> tuple[Parts, Parts]:
        if self._v is None:
            raise ValueError("a and b need a velocity: operators.at(model, q, v)")
        v = _scalars("v", self._v, self.model.nv)
        return motion_terms(self.configuration, self.model.velocities(self.configuration.q, v))

    @property
    def a(self) -> Array:
        """a (0.2): the accelerations of the bodies without those of the joint variables, gravity upward included."""
        return self._flat(MOTION, self._moving[0])

    @property
    def b(self) -> Array:
        """b: the gyroscopic forces v ×* M v."""
        return self._flat(FORCE, self._moving[1])

    @property
    def C(self) -> Array:
        """𝓒 = Hφ(Mφ*a + b) (0.14): the joint forces of no acceleration, of a mechanism without friction and springs."""
        s = symbols
        return self(s.H @ s.phi) @ (self(s.M @ s.phi.T) @ self.a + self.b)

    def _flat(self, space: Space, parts: Parts) -> Array:
        flat = space.flat(parts)
        if is_inside():
            return flat
        dtype = self.dtype if self._v is None else np.result_type(self.dtype, np.asarray(self._v).dtype)
        return np.array(scalars_of(flat), dtype)

    def admittance(self) -> Array:
        """Λ as a matrix, by the recursion for Υ (.43) in O(n), not by applying it."""
        blocks = self.configuration.admittance()
        if is_inside():
            return Matrix([x for block in row for x in block[k]] for row in blocks for k in range(row[0].nrows))
        rows = [scalars_of(Vector(x for block in row for x in block[k])) for row in blocks for k in range(row[0].nrows)]
        size = self.model.algebra.dimension * len(self.points)
        return np.array(rows, self.dtype).reshape(size, size)


def motion_terms(c: Configuration, v: Any, gravity: bool = True) -> tuple[Parts, Parts]:
    """a and b of each body (0.2), in spatial accelerations and body coordinates.

    The paper's α is the rate of V in an inertial frame; here a = c_J + v × v_J and b = v ×* I v (RBDA table 7.1), which
    give the same joint forces. The base accelerates upward instead of gravity acting on the bodies.
    """
    model = c.model
    V = {ROOT: model.zero_motion}
    a, b = [], []
    for i, p, joint in model.outward():
        _, _, vJ, cJ = joint.motion(c.positions[i], v[i])
        V[i] = c.X[i] @ V[p] + vJ
        a.append(cJ + V[i].cross(vJ) + (c.X[i] @ -model.g if gravity and p == ROOT else model.zero_motion))
        b.append(V[i].cross(model.I[i] @ V[i]))
    return a, b


def check(model: Model) -> None:
    """An error unless the mechanism is a tree of independent joints."""
    if not isinstance(model, Model):
        raise TypeError(f"operators are of a knuckle.Model, not of {type(model).__name__}")
    if model.loops:
        raise ModelError(
            "operators know trees, and this mechanism has loop joints "
            f"({', '.join(loop.name for loop in model.loops)}): operators.at(model.without_loops(), q) are those of "
            "its spanning tree, and operators.forward_dynamics closes the loops"
        )
    must_have_no_armature(model, "operators")
    if model.couplings:
        names = ", ".join(model.joint_names[c.joint] for c in model.couplings)
        raise ModelError(
            f"operators know independent joints, and here some follow others ({names}): "
            "model.without_couplings() has them independent"
        )


def placed(model: Model, points: Iterable[str | Frame]) -> tuple[Frame, ...]:
    """Points by name or as frames, as frames."""
    if isinstance(points, str):
        raise TypeError(f'points is a sequence of frames: points=("{points}",)')
    return tuple(model.frame(point) if isinstance(point, str) else point for point in points)


def _given(name: str, value: Any, size: int) -> Any:
    """One vector, as an array if it is of numbers; an error for a batch of them."""
    value = unpacked(value)
    if not isinstance(container_of((value,)), NumPyArrays):
        return value
    array = numbers(name, value, (size,))
    if array.ndim != 1:
        raise ValueError(
            f"{name} has shape {array.shape}, and operators are at one position, of shape ({size},); "
            "a kernel takes batches"
        )
    return array.astype(float) if array.dtype.kind in "iu" else array


def _scalars(name: str, value: Any, size: int) -> Any:
    """The scalars of one vector, whatever kind of array it is."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    taken: list[Any] = []

    def take(scalars: Mapping[str, Any]) -> tuple[list[Any], Layout]:
        taken.append(scalars[name])
        return list(scalars[name]), Single((size,))

    container_of((value,)).compute(take, {name: (value, (size,))})
    return taken[0]
