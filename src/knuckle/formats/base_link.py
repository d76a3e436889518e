"""What the base of a model is: a link that stands still, or the world under a free joint."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Literal, TypeAlias

from knuckle.errors import ModelError
from knuckle.joints import Free
from knuckle.model import ROOT, Body, Frame, Model, Note, TreeJoint
from knuckle.model.coupling import renumbered

FLOATING_BASE = "floating_base"
Base: TypeAlias = Literal["fixed", "floating"]
"""A link that stands still, or one on a free joint."""


def check_base(base: str) -> None:
    """Refuse anything but the two words."""
    if base not in ("fixed", "floating"):
        raise ValueError(f'base={base!r}; it is "fixed" or "floating"')


def free_name(taken: Iterable[str], what: str, *names: str) -> str:
    """The first of `names` that is not taken."""
    used = set(taken)
    for name in names:
        if name not in used:
            return name
    raise ModelError(f"there is no name left for {what}: {', '.join(names)} are taken")


def floating(model: Model) -> Model:
    """The model with its base as the first moving body, on a free joint "floating_base" to the base "world".

    Where these names are taken, the joint is called "root_joint" and the base "universe".
    A base that weighs nothing and carries a free joint of the file's own stays as it is: the robot floats already.
    """
    if model.nb and model.algebra.name != "spatial":
        raise ModelError(f"a {model.algebra.name} model has no floating base", element=model.name)
    already = [joint for joint in model.joints if joint.parent == ROOT and isinstance(joint.type, Free)]
    if already and float(model.base.inertia.mass) == 0:
        return _noted(model, already[0].name, "the file says that the robot floats: no joint added")
    names = (*model.joint_names, *(loop.name for loop in model.loops))
    name = free_name(names, "a joint", FLOATING_BASE, "root_joint", "free_base")
    first = TreeJoint(name, Free(), ROOT)
    return model.replace(
        base=Body(
            free_name(model.frame_names, "the base", "world", "universe", "ground"), model.algebra.Inertia.zero()
        ),
        bodies=(model.base, *model.bodies),
        joints=(first, *(dataclasses.replace(joint, parent=joint.parent + 1) for joint in model.joints)),
        frames=tuple(Frame(frame.name, frame.body + 1, frame.X) for frame in model.frames),
        loops=tuple(
            dataclasses.replace(loop, predecessor=loop.predecessor + 1, successor=loop.successor + 1)
            for loop in model.loops
        ),
        couplings=renumbered(model.couplings, {i: i + 1 for i in range(model.nb)}),
    )


def _noted(model: Model, subject: str, text: str) -> Model:
    provenance = model.provenance
    notes = (*provenance.notes, Note("info", subject, text))
    return model.replace(provenance=dataclasses.replace(provenance, notes=notes))
