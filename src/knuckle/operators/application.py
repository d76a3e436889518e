"""What an operator expression does to a vector: one pass over the bodies for each symbol, in O(n)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from knuckle.model import ROOT
from knuckle.spatial import Vector

from .operator_entries import Configuration, lower_solve, upper_solve
from .operator_expression import Adjoint, Constant, Identity, OperatorExpression, Product, Scaled, Sum, Symbol
from .spaces import Space

Parts: TypeAlias = list[Any]
"""One motion, force or small vector per body, joint or point."""


def apply(x: OperatorExpression, c: Configuration, y: Parts) -> Parts:
    """x y at the configuration c."""
    match x:
        case Identity():
            return y
        case Scaled(factor, of):
            return [part * factor for part in apply(of, c, y)]
        case Sum(terms):
            first, *others = (apply(term, c, y) for term in terms)
            for other in others:
                first = [a + b for a, b in zip(first, other, strict=True)]
            return first
        case Product(factors):
            for factor in reversed(factors):
                y = apply(factor, c, y)
            return y
        case Symbol(definition=OperatorExpression() as definition):
            return apply(definition, c, y)
        case Adjoint(Symbol(definition=OperatorExpression() as definition)):
            return apply(definition.T, c, y)
        case Constant(_, matrix, of, to):
            return _parts(to, c, matrix @ of.flat(y))
        case Adjoint(Constant(_, matrix, of, to)):
            return _parts(of.dual, c, matrix.T @ to.dual.flat(y))
        case Symbol(name):
            return RULES[name](c, y)
        case Adjoint(Symbol(name)):
            return ADJOINTS[name](c, y)
        case _:
            raise TypeError(f"{x} is no operator expression")


def applied(x: OperatorExpression, c: Configuration, y: Any) -> Vector:
    """x y for flat vectors."""
    if x.domain is None or x.codomain is None:
        return Vector(y)
    return x.codomain.flat(apply(x, c, _parts(x.domain, c, y)))


def _parts(space: Space, c: Configuration, y: Any) -> Parts:
    return space.parts(c.model, c.points, y)


def _each(f: Callable[[Configuration, int, Any], Any]) -> Callable[[Configuration, Parts], Parts]:
    """A block diagonal operator by what it does to the part of each body."""
    return lambda c, y: [f(c, i, y[i]) for i, _, _ in c.model.outward()]


def _carry_inward(c: Configuration, y: Parts) -> Parts:
    """𝓔_φ: the forces on the children, at their parent."""
    total = _forces(c, [c.model.zero_force] * len(y))
    for i, p, _ in c.model.inward():
        total[p] = total[p] + c.X[i].T @ y[i]
    return _without_root(total)


def _carry_outward(c: Configuration, y: Parts) -> Parts:
    """𝓔_φ*: the motion of the parent, at the body."""
    m = _motions(c, y)
    return [c.X[i] @ m[p] for i, p, _ in c.model.outward()]


def _sum_inward(c: Configuration, y: Parts) -> Parts:
    """φ y: z(k) = φ(k, k−1) z(k−1) + y(k)."""
    z = _forces(c, y)
    for i, p, _ in c.model.inward():
        z[p] = z[p] + c.X[i].T @ z[i]
    return _without_root(z)


def _sum_outward(c: Configuration, y: Parts) -> Parts:
    """φ* y: z(k) = φ*(k+1, k) z(k+1) + y(k)."""
    z = _motions(c, [])
    for i, p, _ in c.model.outward():
        z[i] = c.X[i] @ z[p] + y[i]
    return _without_root(z)


def _filter(c: Configuration, y: Parts) -> Parts:
    """ψ y: z(k) = ψ(k, k−1) z(k−1) + y(k)."""
    z = _forces(c, y)
    for i, p, _ in c.model.inward():
        z[p] = z[p] + c.articulated_force(i, z[i])
    return _without_root(z)


def _smooth(c: Configuration, y: Parts) -> Parts:
    """ψ* y: z(k) = ψ*(k+1, k) z(k+1) + y(k)."""
    z = _motions(c, [])
    for i, p, _ in c.model.outward():
        z[i] = c.articulated_motion(i, z[p]) + y[i]
    return _without_root(z)


def _at_bodies(c: Configuration, y: Parts) -> Parts:
    """B: the forces at the points, each on the body that has it."""
    total = _forces(c, [c.model.zero_force] * c.model.nb)
    for point, f in zip(c.points, y, strict=True):
        total[point.body] = total[point.body] + point.X.T @ f
    return _without_root(total)


def _at_points(c: Configuration, y: Parts) -> Parts:
    """B*: the motions of the bodies, at the points."""
    m = _motions(c, y)
    return [point.X @ m[point.body] for point in c.points]


def _upsilon(c: Configuration, i: int, f: Any) -> Any:
    return c.model.algebra.Motion.of(c.Upsilon[i] @ Vector(f.components))


def _forces(c: Configuration, y: Parts) -> dict[int, Any]:
    return {ROOT: c.model.zero_force} | dict(enumerate(y))


def _motions(c: Configuration, y: Parts) -> dict[int, Any]:
    return {ROOT: c.model.zero_motion} | dict(enumerate(y))


def _without_root(z: dict[int, Any]) -> Parts:
    return [z[i] for i in range(len(z) - 1)]


RULES: dict[str, Callable[[Configuration, Parts], Parts]] = {
    "E_phi": _carry_inward,
    "phi": _sum_inward,
    "psi": _filter,
    "B": _at_bodies,
    "H": _each(lambda c, i, f: c.S[i].T @ f),
    "M": _each(lambda c, i, m: c.model.I[i] @ m),
    "R": _each(lambda c, i, x: c.model.rotor[i] * x),
    "P": _each(lambda c, i, m: c.P[i] @ m),
    "D": _each(lambda c, i, x: c.D[i] @ x),
    "D.inverse": _each(lambda c, i, x: c.D_inverse[i] @ x),
    "D_root": _each(lambda c, i, x: c.D_root[i] @ x),
    "D_root.inverse": _each(lambda c, i, x: lower_solve(c.D_root[i], x)),
    "G": _each(lambda c, i, x: c.U[i] @ (c.D_inverse[i] @ x)),
    "tau_bar": _each(lambda c, i, f: c.passed(i, f)),
    "Upsilon": _each(_upsilon),
}
"""The operators without a definition."""

ADJOINTS: dict[str, Callable[[Configuration, Parts], Parts]] = {
    "E_phi": _carry_outward,
    "phi": _sum_outward,
    "psi": _smooth,
    "B": _at_points,
    "H": _each(lambda c, i, x: c.S[i] @ x),
    "D_root": _each(lambda c, i, x: c.D_root[i].T @ x),
    "D_root.inverse": _each(lambda c, i, x: upper_solve(c.D_root[i], x)),
    "G": _each(lambda c, i, m: c.D_inverse[i] @ (c.U[i].T @ m)),
    "tau_bar": _each(lambda c, i, m: c.followed(i, m)),
}
"""Their adjoints, of those that are not symmetric."""
