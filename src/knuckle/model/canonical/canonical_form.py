"""The canonical form of a model (RBDA 9.7, 10.3): equivalent, with as few constants as possible.

It is what kernels are compiled from. Each constant that is zero or one saves the operations it would take part in.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from knuckle.model.edit.places import Place, is_weld, placed_frames, placed_loops, re_expressed, unused
from knuckle.model.edit.weld import merge_fixed
from knuckle.model.model import Model
from knuckle.model.parts import ROOT, Frame
from knuckle.spatial import IDENTITY, SPATIAL, Vector

from .body_frames import Placing
from .inertia_transfer import lightened


@dataclass(frozen=True)
class Canonical:
    """A model in canonical form, and the way to it from the model as it was.

    q, v and joint forces keep their meaning and order, joint by joint. Bodies do not: body i of the old model is part
    of body `bodies[i]` of the new ones, ROOT where it is fixed to the base, and `moves[i]` leads from its frame to that
    body's frame. Names keep their meaning for everything that looks for a frame: a body whose frame moved has another
    name, and its old name is that of a frame where the body's frame was.
    """

    model: Model
    """The same bodies, those on fixed joints merged, in other frames. What was fixed to the base is part of the base,
    and no longer counts where moving bodies are added up: total mass, centre of mass, potential energy."""
    light: Model
    """`model` with inertia moved across joints: the same equation of motion (τ, H, C, accelerations, Coriolis matrix),
    but not the same bodies. Do not ask it for energy, momentum or centres of mass, or divide and conquer it."""
    moves: tuple[Any, ...]
    bodies: tuple[int, ...]
    joints: tuple[int, ...]
    """the joints of the old model that move, in the order that the new ones have"""

    def forces(self, f_ext: Sequence[Any]) -> list[Any]:
        """Forces on the bodies of the new models from one on each of the old model's, in their own frames: Σ X*f."""
        total = [self.model.zero_force for _ in range(self.model.nb)]
        for k, X, f in zip(self.bodies, self.moves, f_ext, strict=True):
            if k != ROOT:
                total[k] = total[k] + X @ f
        return total

    def per_joint(self, x: Sequence[Any]) -> dict[int, Any]:
        """What belongs to the joints of the old model, by the numbers of the new ones."""
        return {k: x[i] for k, i in enumerate(self.joints)}

    def per_old_joint(self, x: Mapping[int, Vector]) -> dict[int, Vector]:
        """What belongs to the new joints, by the numbers of the old ones; nothing for those that do not move."""
        still: dict[int, Vector] = dict.fromkeys(range(len(self.bodies)), Vector())
        return still | {i: x[k] for k, i in enumerate(self.joints)}

    def place(self, body: int, X: Any) -> Place:
        """Where a place of the old model is: on which body, and `X` from that one's frame."""
        return Place(ROOT, X) if body == ROOT else Place(self.bodies[body], X @ self.moves[body].inverse())


def canonical(model: Model) -> Canonical:
    """The canonical form of a model.

    Fixed joints are merged; frames are chosen so that joint axes are z axes and one child per body is placed in the
    manner of Denavit and Hartenberg; inertia is moved across joints as dynamic equivalence allows (RBDA 9.30).
    Constants within rounding of 0 and ±1 become exactly that; constants that are not plain numbers stay as they are.
    Planar models are merged only.
    """
    merged = merge_fixed(model)
    placed = _placed(merged) if model.algebra is SPATIAL else merged
    kept = {body.name: Frame(body.name, i, model.algebra.Transform.identity()) for i, body in enumerate(placed.bodies)}
    kept |= {frame.name: frame for frame in placed.frames}
    own = [kept[name] for name in model.body_names]
    joints = tuple(i for i, joint in enumerate(model.joints) if not is_weld(joint.type))
    return Canonical(placed, lightened(placed), tuple(f.X.inverse() for f in own), tuple(f.body for f in own), joints)


def _placed(model: Model) -> Model:
    """The model with its bodies in the frames that suit it best."""
    placing = Placing(model)
    back = {i: Place(i, X.inverse()) for i, X in placing.moves.items()}
    taken, names = {*model.frame_names}, {name: name for name in (model.base.name, *model.body_names)}
    bodies, origins = list(model.bodies), list[Frame]()
    for i, body in enumerate(model.bodies):
        if placing.moves[i] != IDENTITY:
            name = unused(f"{body.name}_moved", taken)
            taken.add(name)
            names[body.name] = name
            moved = re_expressed(body, placing.moves[i])
            bodies[i] = dataclasses.replace(moved, name=name, inertia=placing.inertia(i))
            origins.append(Frame(body.name, i, back[i].X))
    return model.replace(
        bodies=tuple(bodies),
        joints=placing.joints,
        frames=(*placed_frames(model.frames, back), *origins),
        loops=placed_loops(model.loops, back),
        contact=model.contact.with_bodies(names.get),
    )
