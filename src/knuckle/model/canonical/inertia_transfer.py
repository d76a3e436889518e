"""Inertia moved across joints (RBDA 9.7): different bodies, the same equation of motion.

An inertia I_D that the joint does not feel (I_D S = 0), that looks the same from both sides (X_Jᵀ I_D X_J = I_D) and
that has no velocity-product force along S can go from a body to its parent (RBDA 9.30). On its way it passes X_tree:
I_λ ← I_λ + X_treeᵀ I_D X_tree. What reaches the fixed base is gone.
"""

from __future__ import annotations

import dataclasses

from knuckle.joints import (
    Cylindrical,
    Euler,
    ExponentialSpherical,
    Helical,
    Joint,
    Planar,
    PlanarLocal,
    Prismatic,
    Spherical,
    Translational,
    Universal,
    YawPitchRoll,
)
from knuckle.model.edit.exact_constants import exactly, is_plain, rounded, shortened
from knuckle.model.model import Model
from knuckle.model.parts import ROOT
from knuckle.scalar import ZERO
from knuckle.spatial import SPATIAL, Inertia, Sym3
from knuckle.spatial.three import ZERO3, transpose

from .body_frames import TURNING, alignment
from .offset_joint import Offset
from .snapping import brought_back, snapped, turned

ABOUT_CENTRE = {Spherical, YawPitchRoll, Euler, ExponentialSpherical, Universal}
WITHOUT_TURNING = {Prismatic, Translational}
WITH_SLIDING = {Helical, Cylindrical, Planar, PlanarLocal}


def lightened(model: Model) -> Model:
    """The model with as much inertia as possible moved towards the base (RBDA 9.7): same τ, H and accelerations.

    The masses and moments of all that hangs on a body come to rest on it: they are added up exactly and rounded once.

    The bodies that remain may have no mass or negative moments. The equation of motion does not notice, as recursive
    Newton-Euler, composite and articulated bodies compute it; energy, momentum, centre of mass and algorithms that
    invert the inertia of single bodies do.
    """
    if model.algebra is not SPATIAL:
        return model
    I = {ROOT: Inertia.zero(), **{i: exactly(J) for i, J in enumerate(model.I) if is_plain(J)}}
    for i, p, kind in model.inward():
        X = model.X_tree[i]
        if is_plain(X) and i in I and p in I:
            I[i], moved = split(kind, I[i])
            I[p] = shortened(I[p] + brought_back(moved, exactly(X)))
    bodies = (
        dataclasses.replace(body, inertia=rounded(I[i])) if i in I else body for i, body in enumerate(model.bodies)
    )
    return model.replace(bodies=tuple(bodies))


def split(kind: Joint, I: Inertia) -> tuple[Inertia, Inertia]:
    """A body's inertia as what stays on it and what the joint to its parent lets pass (RBDA table 9.7).

    - turning about an axis: particles on the axis, of the body's mass and first moment along it, and of its I_xx,
      where z is the axis;
    - turning about the origin: a particle there;
    - no turning: all rotational inertia;
    - sliding too, along the axis or across it: a massless I_xx = I_yy.
    """
    if isinstance(kind, Offset):
        return split(kind.joint, I)
    if type(kind) in ABOUT_CENTRE:
        return Inertia(ZERO, I.h, I.I), Inertia(I.mass, ZERO3, Sym3.zero())
    if type(kind) in WITHOUT_TURNING:
        return Inertia(I.mass, I.h, Sym3.zero()), Inertia(ZERO, ZERO3, I.I)
    if type(kind) not in TURNING | WITH_SLIDING:
        return I, Inertia.zero()
    E = exactly(alignment(kind)[0]).E
    stays, goes = _split_about_z(turned(I, E), type(kind) in TURNING)
    return turned(stays, transpose(E)), turned(goes, transpose(E))


def _split_about_z(I: Inertia, turns_only: bool) -> tuple[Inertia, Inertia]:
    (hx, hy, hz), (xx, xy, yy, xz, yz, zz) = I.h, I.I
    across = Sym3(xx, ZERO, xx, ZERO, ZERO, ZERO)
    rest = Sym3(ZERO, xy, snapped(yy - xx, abs(float(xx))), xz, yz, zz)
    if turns_only:
        return Inertia(ZERO, (hx, hy, ZERO), rest), Inertia(I.mass, (ZERO, ZERO, hz), across)
    return Inertia(I.mass, I.h, rest), Inertia(ZERO, ZERO3, across)
