"""Dynamic equivalence (RBDA 9.7): other inertias, the same equation of motion.

An inertia I_D can go from a body to its parent where the joint between them does not notice (RBDA 9.30): it takes no
force to accelerate (I_D S = 0), it looks the same from both bodies (X_Jᵀ I_D X_J = I_D), and its velocity-product force
does no work (Sᵀ(v ×* I_D v) = 0 for every v). The parent's frame is not the joint's, so it arrives there as
X_treeᵀ I_D X_tree; the book's pseudocode, which adds I_D itself, is right where the two frames are one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

from knuckle.errors import ModelError
from knuckle.joints import Fixed, Joint
from knuckle.model.edit.places import is_weld
from knuckle.model.inertia_parameters import to_parameters, unit_inertias
from knuckle.model.model import Model
from knuckle.model.parts import ROOT
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import SPATIAL, Inertia, Sym3
from knuckle.spatial.three import ZERO3, transpose

from .body_frames import TURNING, alignment
from .inertia_transfer import ABOUT_CENTRE, WITH_SLIDING, WITHOUT_TURNING, lightened, split
from .snapping import turned

_ROUNDING = 1e-12


def unfelt(kind: Joint) -> tuple[Inertia, ...]:
    """A basis of the inertias that a joint lets pass, in the frame of its body (RBDA table 9.7).

    Turning about an axis: a mass on it, its first moment along it, and the same moment about every axis across it.
    Turning about a point: a mass there. Not turning: every rotational inertia. Sliding and turning: the moment across
    the axis or, in a plane, across its normal. Fixed: everything. None for other joints.
    """
    if is_weld(kind):
        return unit_inertias(SPATIAL)
    across = Inertia(ZERO, ZERO3, Sym3(ONE, ZERO, ONE, ZERO, ZERO, ZERO))
    mass = Inertia(ONE, ZERO3, Sym3.zero())
    if type(kind) in ABOUT_CENTRE:
        return (mass,)
    if type(kind) in WITHOUT_TURNING:
        units = ([ONE if i == k else ZERO for i in range(6)] for k in range(6))
        return tuple(Inertia(ZERO, ZERO3, Sym3(*unit)) for unit in units)
    if type(kind) not in TURNING | WITH_SLIDING:
        return ()
    E = transpose(alignment(kind)[0].E)
    along = Inertia(ZERO, (ZERO, ZERO, ONE), Sym3.zero())
    return tuple(turned(I, E) for I in ((mass, along, across) if type(kind) in TURNING else (across,)))


def moved(model: Model, joint: str, I: Inertia) -> Model:
    """The model with the inertia `I`, in the frame of the joint's body, taken from there and given to its parent.

    The base forgets what it is given. τ, H, C and accelerations stay; energy, momentum and single bodies do not.

    Raises:
        ModelError: the joint would notice (RBDA 9.30).
    """
    i = model.joint_index(joint)
    _check_spatial(model)
    size = max(abs(float(x)) for x in to_parameters(I))
    stays, _ = split(model.joints[i].type, I)
    if not is_weld(model.joints[i].type) and any(abs(float(x)) > _ROUNDING * size for x in to_parameters(stays)):
        kind = type(model.joints[i].type).__name__
        raise ModelError(f"a {kind} joint notices such an inertia: see `unfelt` for those it does not", element=joint)
    bodies = list(model.bodies)
    bodies[i] = dataclasses.replace(bodies[i], inertia=bodies[i].inertia - I)
    if (p := model.parents[i]) != ROOT:
        X = model.X_tree[i]
        bodies[p] = dataclasses.replace(bodies[p], inertia=bodies[p].inertia + X.T @ I @ X)
    return model.replace(bodies=tuple(bodies))


def simplified(model: Model) -> Model:
    """The model with as many inertia parameters as possible made zero, from the leaves inward (RBDA 9.7).

    Bodies may be left with no mass and with negative moments. Recursive Newton-Euler, composite and articulated bodies
    do not mind; energy, momentum and whatever inverts the inertia of one body (divide and conquer) do.
    """
    _check_spatial(model)
    return lightened(model)


def augmented(model: Model, *, floating: bool = False) -> tuple[Inertia, ...]:
    """The augmented bodies: each with a particle at every joint that carries others, of the mass it carries there.

    With `floating` also one at its own joint, of the mass of all other bodies: every augmented body then has the mass
    of the mechanism (Hooker and Margulies), and its centre is the barycentre of the body. Take the particle of its own
    subtree's mass off each (fixed) augmented body, and the equation of motion is that of the model.

    Raises:
        ModelError: a joint does not turn about a point or an axis: there is no one place for its particle.
    """
    _check_spatial(model)
    alone = model.parents.count(ROOT) == 1
    for joint in model.joints:
        if joint.parent == ROOT and (alone or not floating):
            continue  # nothing to place there
        if type(joint.type) not in TURNING | ABOUT_CENTRE | {Fixed}:
            text = f"a {type(joint.type).__name__} joint has no point that stays, and augmented bodies need one"
            raise ModelError(text, element=joint.name)
    carried = [sum((model.I[j].mass for j in model.subtree(i)), ZERO) for i in range(model.nb)]
    whole = sum((I.mass for I in model.I), ZERO)
    bodies = list(model.I)
    for i, p in enumerate(model.parents):
        if p != ROOT:
            bodies[p] = bodies[p] + particle(carried[i], model.X_tree[i].r)
        if floating:
            bodies[i] = bodies[i] + particle(whole - carried[i], ZERO3)
    return tuple(bodies)


def particle(mass: Any, at: Sequence[Any]) -> Inertia:
    """The inertia of a point mass."""
    return Inertia.of(mass, at, ((ZERO,) * 3,) * 3)


def _check_spatial(model: Model) -> None:
    if model.algebra is not SPATIAL:
        raise ModelError("dynamic equivalence knows spatial models: use it before `to_planar`", element=model.name)
