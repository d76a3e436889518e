"""The arrays that the loops over bodies read and write."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.engine.routines import Reals, Record, Wholes


@dataclass
class BodyTable(Record):
    """A mechanism: body 0 is the base, and every body comes after its parent."""

    bodies: int
    nv: int
    parent: Wholes
    kind: Wholes
    """the kind of a body's joint: the number of its code"""
    q_at: Wholes
    q_size: Wholes
    v_at: Wholes
    v_size: Wholes
    block_at: Wholes
    """where the joint's square matrices begin"""
    placement: Reals
    """X_T of each joint, twelve numbers"""
    inertia: Reals
    """m, m c and the six moments about the origin, in the body's axes"""
    gravity: Reals
    springs: Reals
    dampers: Reals
    """of each velocity variable"""
    rest: Reals
    """of each position variable"""
    elements: int
    make: Wholes
    """the make of an element: the number of its code"""
    number_at: Wholes
    """where its numbers begin"""
    numbers: Reals
    member_at: Wholes
    """where its bodies begin"""
    member_size: Wholes
    member: Wholes
    directions: Wholes
    """how many directions its slopes have"""
    slopes_at: Wholes
    """where these begin, and the square matrix along them"""


@dataclass
class TreeState(Record):
    """A mechanism in a state, in axes of the base, at the origins of the bodies."""

    t: Reals
    dt: Reals
    q: Reals
    v: Reals
    tau: Reals
    """the forces of a controller at the velocity variables"""
    applied: Reals
    """forces on bodies from outside, in their axes"""
    rotor: Reals
    """rotor inertia, and what holds a joint"""
    R: Reals
    p: Reals
    r: Reals
    """from the origin of the parent"""
    S: Reals
    V: Reals
    c: Reals
    """accelerations without those of the joints, relative to the parent"""
    I: Reals
    """m, m c, six moments"""
    F: Reals
    W: Reals
    """motions and forces on bodies, on the way"""
    spring: Reals
    """forces of the joints' springs"""
    joint: Reals
    """rotor inertia + dt D + dt² K of each joint: square matrices"""
    slopes: Reals
    """dt D + dt² K of each element: directions, and square matrices along them"""
    rhs: Reals
    out: Reals
    along: Reals
    """motions along the directions of an element"""
    near: Reals
    moving: Reals
    """what an element's text takes and gives"""


@dataclass
class TreeFactors(Record):
    """The inertia of articulated bodies, factored (notes, algorithm 10, lines 1-12)."""

    M: Reals
    """6 × 6 of each body"""
    U: Reals
    Psi: Reals
    u: Reals
    B: Reals
    A: Reals


@dataclass
class Closing(Record):
    """Rows K of closed loops in a state: K x = k, by Z = P⁻¹Kᵀ and (K P⁻¹ Kᵀ)⁺."""

    rows: int
    K: Reals
    k: Reals
    """what K x must be"""
    Z: Reals
    inverse: Reals
    work: Reals


@dataclass
class GradientRoom(Record):
    """Vectors of conjugate gradients."""

    x: Reals
    """a guess before, the solution afterwards"""
    r: Reals
    z: Reals
    p: Reals
    y: Reals
    left: Reals
    """the residual that is left, and that of the right-hand side alone"""
