"""Soft contact as data: which law, and which friction."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from knuckle.public_names import public_in

LAWS = ("featherstone", "linear", "hunt-crossley")
FRICTION = ("spring", "regularized", None)


@public_in("contact")
@dataclass(frozen=True)
class CompliantContacts:
    """Contacts that give way: a force law for bodies that overlap, for any integrator (RBDA 11.73-11.79).

    Surfaces say how stiff they are (N/m), how they damp (N s/m), and their friction; two of them act in series. Every
    law has just that stiffness and damping at the overlap `depth`, and never pulls.

    Args:
        law: "featherstone", √(δ/d) (K δ + D δ̇), which begins without a jump; "linear", K δ + D δ̇ (RBDA 11.74);
            "hunt-crossley", √(δ/d) (K δ + (δ/d) D δ̇), whose damping goes like its force.
        friction: "spring", Coulomb's law with a spring that is wound up until it slides (RBDA 11.75-11.79): what stands
            stays; "regularized", −μ f_n s/√(s² + s₀²), which needs no state, and creeps; None for no friction.
        depth: d, the overlap in metres at which a surface has its stiffness and damping.
        across: the part of stiffness and damping that the spring of friction has.
        slip_speed: s₀ in m/s, of the regularized law.
    """

    law: Literal["featherstone", "linear", "hunt-crossley"] = "featherstone"
    friction: Literal["spring", "regularized"] | None = "spring"
    depth: float = 1e-3
    across: float = 1.0
    slip_speed: float = 1e-3

    def __post_init__(self) -> None:
        if self.law not in LAWS:
            raise ValueError(f"law is {', '.join(map(repr, LAWS))}, not {self.law!r}")
        if self.friction not in FRICTION:
            raise ValueError(f"friction is 'spring', 'regularized' or None, not {self.friction!r}")
        for name in ("depth", "across", "slip_speed"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
                raise ValueError(f"{name} is a number above zero, not {value!r}")
            object.__setattr__(self, name, float(value))
