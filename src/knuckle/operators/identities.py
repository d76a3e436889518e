"""Inverses that are known: those of the paper, and what follows from them for adjoints and products."""

from __future__ import annotations

from functools import cache

from . import symbols as s
from .operator_expression import Adjoint, Identity, OperatorExpression, Product, Scaled, Sum, Symbol, product, scaled


@cache
def _known() -> dict[OperatorExpression, OperatorExpression]:
    """What each of these is the inverse of, both ways."""
    newton_euler = s.H @ s.phi @ s.M @ s.phi.T @ s.H.T + s.R
    pairs: tuple[tuple[OperatorExpression, OperatorExpression], ...] = (
        (s.phi, s.I - s.E_phi),  # (0.6)
        (s.psi, s.I - s.E_psi),  # (0.27)
        (s.D, s.D_inverse),
        (s.D_root, s.D_root_inverse),
        (s.innovations, s.whitening),  # lemma 0.2
        (s.mass, s.mass_inverse),  # lemma 0.3
        (newton_euler, s.mass_inverse),
    )
    return {a: b for a, b in pairs} | {b: a for a, b in reversed(pairs)}


def inverse(x: OperatorExpression) -> OperatorExpression:
    """x⁻¹; an error that says which inverses there are, if it is none of them."""
    found = _found(x)
    if found is None:
        raise ValueError(
            f"no inverse of {x} is known; there are those of phi, psi, D, mass, I - E_phi, I - E_psi, "
            "I + H @ phi @ K, I - H @ psi @ K, of their adjoints and of products of these"
        )
    return found


def _found(x: OperatorExpression) -> OperatorExpression | None:
    known = _known()
    if isinstance(x, Identity):
        return x
    if x in known:
        return known[x]
    if isinstance(x, Adjoint | Sum) and x.T in known:
        return known[x.T].T
    if isinstance(x, Scaled):
        of = _found(x.x)
        return None if of is None else scaled(1 / x.factor, of)
    if isinstance(x, Product):
        parts = [_found(factor) for factor in reversed(x.factors)]
        return None if None in parts else product(part for part in parts if part is not None)
    if isinstance(x, Symbol) and x.definition is not None:
        return _found(x.definition)
    return None
