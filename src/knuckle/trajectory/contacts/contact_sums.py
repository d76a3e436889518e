"""The force that a body receives from others: sums over the contacts of a motion."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.model import ROOT, Body, Frame, Model

from .body_states import BodyStates
from .motion_contacts import MotionContacts

Array: TypeAlias = NDArray[Any]
Axes = Literal["base", "frame"]


@dataclass(frozen=True)
class Named:
    """A body with all that it touches with, by its name or that of a frame on it; or one of its shapes."""

    frame: Frame
    body: str
    shape: str | None = None

    @classmethod
    def of(cls, model: Model, name: str, what: str) -> Named:
        """What a name means; an error lists those that there are."""
        bodies: list[tuple[int, Body]] = [(ROOT, model.base), *enumerate(model.bodies)]
        if name in model.frame_names:
            frame = model.frame(name)
            body = model.base if frame.body == ROOT else model.bodies[frame.body]
            if not body.collisions:
                rest = ", ".join(repr(x.name) for _, x in bodies if x.collisions) or "none"
                raise ValueError(
                    f"{what} {name!r}: the body {body.name!r} has no shapes that collide; those that do: {rest}"
                )
            return cls(frame, body.name)
        owners = [(i, body) for i, body in bodies if any(name and x.name == name for x in body.collisions)]
        if len(owners) > 1:
            raise ValueError(
                f"{what} {name!r} is the name of shapes on {', '.join(repr(x.name) for _, x in owners)}: give a body"
            )
        if owners:
            i, body = owners[0]
            return cls(Frame(body.name, i, model.algebra.Transform.identity()), body.name, name)
        shapes = [x.name for _, body in bodies for x in body.collisions if x.name]
        touching = [body.name for _, body in bodies if body.collisions]
        near = difflib.get_close_matches(str(name), [*model.frame_names, *shapes], n=3)
        hint = f"did you mean {', '.join(map(repr, near))}? " if near else ""
        listed = ", ".join(map(repr, dict.fromkeys([*touching, *shapes])))
        raise KeyError(
            f"no body, frame or shape is called {name!r} ({what}); {hint}What collides: {listed or 'nothing'}"
        )

    def sides(self, contacts: MotionContacts) -> Array:
        """(pairs,) 1 where the first of a pair is this, −1 where the second is, else 0."""
        found = np.zeros(len(contacts.bodies), int)
        for k, (bodies, shapes) in enumerate(zip(contacts.bodies, contacts.shapes, strict=True)):
            is_this = [
                body == self.body and self.shape in (None, shape) for body, shape in zip(bodies, shapes, strict=True)
            ]
            found[k] = int(is_this[0]) - int(is_this[1])
        return found


def chosen_sides(model: Model, contacts: MotionContacts, name: str, against: str | None) -> Array:
    """(m,) 1 and −1 for contacts of which a body is the first and the second, against another one; else 0."""
    sides = Named.of(model, name, "contact_force of").sides(contacts)
    if against is not None:
        other = Named.of(model, against, "against=").sides(contacts)
        sides = np.where(sides * other < 0, sides, 0)
    return sides[contacts.pair] if len(contacts.bodies) else np.zeros(len(contacts), int)


def contact_force(
    model: Model,
    contacts: MotionContacts,
    q: Array,
    name: str,
    against: str | None,
    wrench: bool,
    axes: Axes,
) -> Array:
    """(n, 3) or (n, 6): what a body receives at the rows of a motion; see `Trajectory.contact_force`."""
    if axes not in ("base", "frame"):
        raise ValueError(f'axes is "base" or "frame", not {axes!r}')
    sides = chosen_sides(model, contacts, name, against)
    which = np.flatnonzero(sides)
    force, moment = (sides[which, None] * x[which] for x in (contacts.force, contacts.moment))
    total = np.zeros((len(contacts.times), 6))
    rows, frame = contacts.row[which], Named.of(model, name, "contact_force of").frame
    if wrench or axes == "frame":
        E, r = _frame_states(model, contacts.times, q, frame)
        moment = moment + np.cross(contacts.point[which] - r[rows], force)
        if axes == "frame":
            force, moment = (np.einsum("kij,kj->ki", E[rows], x) for x in (force, moment))
    np.add.at(total, rows, np.concatenate([moment, force], axis=1))
    return total if wrench else total[:, 3:]


def _frame_states(model: Model, times: Array, q: Array, frame: Frame) -> tuple[Array, Array]:
    """The axes (n, 3, 3), as rows, and the origin (n, 3) of a frame."""
    bodies = BodyStates.of(model, times, q)
    E, r = bodies.E[frame.body], bodies.r[frame.body]
    own = np.array([[float(x) for x in row] for row in frame.X.E])
    place = np.array([float(x) for x in frame.X.r])
    return own @ E, r + np.einsum("kij,i->kj", E, place)
