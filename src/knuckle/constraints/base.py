"""What a constraint is: φ, its derivatives in time, and the forces of unit multipliers (notes 2.98, 2.100)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, cast

from knuckle.algorithms.kinematics import body_motions, frame_relations
from knuckle.algorithms.loops import constraint_rank
from knuckle.functions.loops.loop_terms import spread_sizes
from knuckle.functions.per_joint import as_vector, drift
from knuckle.model import ROOT, Model
from knuckle.scalar import ZERO, absolute
from knuckle.spatial import IDENTITY, Matrix, Subspace, Vector

Bound = Literal["=", ">=", "<="]
POSITION, VELOCITY, ACCELERATION = range(3)
"""What a constraint bounds."""


class Terms(NamedTuple):
    """φ, φ̇, φ̈ without acceleration, and how φ̈ depends on it: by forces on bodies (G_mᵀ) or rows (G_r)."""

    error: Vector
    rate: Vector
    bias: Vector
    forces: tuple[tuple[int, Subspace], ...]
    rows: Matrix | None


@dataclass(frozen=True)
class ConstraintState:
    """A state of a mechanism, with what constraints ask of it."""

    model: Model
    q: Vector
    v: Vector

    @classmethod
    def of(cls, model: Model, q: Any, v: Any) -> ConstraintState:
        return cls(model, as_vector(q), as_vector(v))

    @cached_property
    def Q(self) -> tuple[Vector, ...]:
        """q of each joint of the tree."""
        return self.model.positions(self.q)

    @cached_property
    def V(self) -> tuple[Vector, ...]:
        """v of each joint of the tree."""
        return self.model.velocities(self.q, self.v)

    @cached_property
    def g(self) -> tuple[Vector, ...]:
        """The acceleration of the tree's joints while the variables have none (RBDA 8.42)."""
        return drift(self.model, self.q, self.v)

    @cached_property
    def bodies(self) -> frame_relations.Bodies:
        """Where the bodies are and how they move."""
        model, Q, V = self.model, self.Q, self.V
        velocities, accelerations = (
            body_motions.velocities(model, Q, V),
            body_motions.accelerations(model, Q, V, self.g),
        )
        return frame_relations.Bodies(body_motions.positions(model, Q), velocities, accelerations)


@dataclass(frozen=True)
class Constraint(ABC):
    """Something to hold on a mechanism. `bound` says how: "=" is zero, ">=" not below it, "<=" not above it."""

    _: KW_ONLY
    bound: Bound = "="
    level: ClassVar[int] = POSITION

    @abstractmethod
    def unsigned(self, state: ConstraintState) -> Terms:
        """The terms of what is bounded."""

    def terms(self, state: ConstraintState) -> Terms:
        """The terms of what is to be zero, or not negative."""
        if self.bound not in ("=", ">=", "<="):
            raise ValueError(f'bound is "=", ">=" or "<=", not {self.bound!r}')
        unsigned = self.unsigned(state)
        if self.bound != "<=":
            return unsigned
        forces = tuple((body, -F) for body, F in unsigned.forces)
        rows = (
            None
            if unsigned.rows is None
            else Matrix(((-x for x in row) for row in unsigned.rows.rows), unsigned.rows.ncols)
        )
        return Terms(-unsigned.error, -unsigned.rate, -unsigned.bias, forces, rows)

    def bodies(self, model: Model) -> tuple[int, int] | None:
        """The two bodies on which its forces act; None if it is about the variables."""
        return None

    @property
    def is_equality(self) -> bool:
        """Whether it is to be zero."""
        return self.bound == "="

    def _triples(self, *names: str) -> None:
        """Points as three numbers each, or an error that names the argument."""
        for name in names:
            values = tuple(float(x) for x in cast("tuple[Any, ...]", getattr(self, name)))
            if len(values) != 3:
                raise ValueError(f"{name} has {len(values)} entries, and a point has 3")
            object.__setattr__(self, name, values)


def jacobian(state: ConstraintState, terms: Terms) -> list[list[Any]]:
    """Ḡ (notes 2.98): the rows of a constraint over the velocity variables."""
    model, size = state.model, len(terms.error)
    total = [Vector.zero(size)] * model.nv if terms.rows is None else [terms.rows.column(k) for k in range(model.nv)]
    shared = _shared(model, [body for body, _ in terms.forces])
    for body, F in terms.forces:
        blocks = frame_relations.rows(model, state.Q, body, F)
        columns = {j: map(block.column, range(block.ncols)) for j, block in blocks.items() if j not in shared}
        total = [x + y for x, y in zip(total, model.columns(state.q, columns, Vector.zero(size)), strict=True)]
    return [[column[i] for column in total] for i in range(size)]


def sizes(state: ConstraintState, terms: Terms) -> list[list[Any]]:
    """The sizes of the terms of the rows of `jacobian`; rows over the variables are taken for what they are."""
    model, size = state.model, len(terms.error)
    total = [[ZERO] * model.nv for _ in range(size)]
    if terms.rows is not None:
        total = [[absolute(x) for x in row] for row in terms.rows.rows]
    bodies = [body for body, _ in terms.forces]
    shared, around = _shared(model, bodies), way(state, terms)
    for body, F in terms.forces:
        path = () if body == ROOT else model.ancestors(body)
        sized = [(n + around * f, f) for n, f in constraint_rank.sizes_of(F, IDENTITY)]
        blocks = constraint_rank.sizes_along(model, state.Q, path, sized)
        mine = spread_sizes(model, state.q, {j: block for j, block in blocks.items() if j not in shared}, size)
        total = [[x + y for x, y in zip(*rows, strict=True)] for rows in zip(total, mine, strict=True)]
    return total


def openness(constraint: Constraint, state: ConstraintState, terms: Terms) -> Vector:
    """(φ/r)² of each row of a constraint on positions of frames that is to be zero; zero of all others."""
    if constraint.level != POSITION or not constraint.is_equality or not terms.forces:
        return Vector.zero(len(terms.error))
    return constraint_rank.openness(
        terms.error, constraint_rank.sizes_of(terms.forces[0][1], IDENTITY), way(state, terms)
    )


def way(state: ConstraintState, terms: Terms) -> Any:
    """How long the ways from the base to the bodies of a constraint are: their places are known to rounding of that."""
    bodies = [body for body, _ in terms.forces if body != ROOT]
    return sum((constraint_rank.reach(state.model, state.Q, state.model.ancestors(body)) for body in bodies), ZERO)


def _shared(model: Model, bodies: list[int]) -> set[int]:
    """The joints that carry all of the bodies: forces between these do not act on them."""
    ways = [set(model.ancestors(body)) if body != ROOT else set[int]() for body in bodies]
    return set[int].intersection(*ways) if ways else set()
