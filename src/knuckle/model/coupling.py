"""Joints that follow others (RBDA 9.6): gears, belts, differentials, cams, mimic joints; q = γ(y), v = G ẏ.

All variables of the tree follow from the independent ones: q by the laws, v = G ẏ with a row of G for each variable of
the tree, a = G ÿ + g with g = Ġ ẏ, and forces by Gᵀ. Chains of Jacobians to ever fewer variables ("hyper-reduced
coordinates", notes 2.76-2.79) are this: J_rR is G.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from knuckle.errors import ModelError

from .coupling_laws import CouplingLaw, Linear

if TYPE_CHECKING:
    from .model import Model


@dataclass(frozen=True)
class Coupling:
    """The variable of `joint` follows those of `sources` by a law, q[joint] = γ(q[sources]); all of one freedom."""

    joint: int
    sources: tuple[int, ...]
    law: CouplingLaw

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", tuple(self.sources))


def mimic(joint: int, source: int, ratio: float = 1.0, offset: float = 0.0) -> Coupling:
    """The simplest coupling: q[joint] = ratio q[source] + offset."""
    return Coupling(joint, (source,), Linear((ratio,), offset))


def renumbered(couplings: Iterable[Coupling], number: Mapping[int, int]) -> tuple[Coupling, ...]:
    """The couplings of joints that have other numbers now."""
    return tuple(
        dataclasses.replace(c, joint=number[c.joint], sources=tuple(number[s] for s in c.sources)) for c in couplings
    )


def check_couplings(model: Model) -> None:
    """Each coupling ties joints of one freedom, and every one of them follows joints that follow none."""
    names, coupled = model.joint_names, model.coupled
    for c in model.couplings:
        for k in (c.joint, *c.sources):
            if not 0 <= k < model.nb:
                raise ModelError(f"a coupling names joint {k}, which does not exist", element=f"joint {k}")
            if (model.joints[k].type.nq, model.joints[k].type.nv) != (1, 1):
                raise ModelError("only joints of one freedom follow others or are followed", element=names[k])
    if len(coupled) != len(model.couplings):
        joints = [c.joint for c in model.couplings]
        twice = next(k for k in joints if joints.count(k) > 1)
        raise ModelError("it follows other joints by two laws", element=names[twice])
    for c in model.couplings:
        name = names[c.joint]
        if not c.sources or len(set(c.sources)) < len(c.sources):
            raise ModelError(f"it follows {len(c.sources)} joints: one or more, each once", element=name)
        for s in c.sources:
            if s in coupled:
                text = f"it follows {names[s]!r}, which follows others itself: name an independent source"
                raise ModelError(text, element=name)
        if c.law.arity is not None and c.law.arity != len(c.sources):
            raise ModelError(f"its law is one of {c.law.arity} joints, and it follows {len(c.sources)}", element=name)


def described(coupling: Coupling, joint_names: Sequence[str]) -> str:
    """A coupling in words: whom it follows and how."""
    names = [joint_names[s] for s in coupling.sources]
    return f"follows {', '.join(map(repr, names))}: q = {coupling.law.said(names)}"
