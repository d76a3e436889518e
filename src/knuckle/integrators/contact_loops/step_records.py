"""A mechanism and a state of it in memory, as routines of contact steps read and write them."""

from __future__ import annotations

from dataclasses import dataclass

from knuckle.engine.routines import Reals, Record, Wholes


@dataclass(frozen=True)
class Mechanism(Record):
    """A mechanism in memory. Bodies are counted from the base on, which is 0."""

    bodies: int
    nv: int
    parent: Wholes
    at: Wholes
    """where the variables of a body's joint begin"""
    size: Wholes
    part: Wholes
    """the tree of a body; −1 for the base"""
    map_at: Wholes
    """where the map of a body begins"""
    parts: int
    part_size: Wholes
    part_at: Wholes
    """where a tree begins in z"""
    block_at: Wholes
    """where its block begins in H"""
    q_at: Wholes
    q_size: Wholes
    v_at: Wholes
    """where its variables begin"""
    kind: Wholes
    """the number of its code"""
    first_member: Wholes
    member: Wholes
    """its bodies"""
    first_shape: Wholes
    shape: Wholes
    """its shapes, by their numbers among the pairs'"""
    loop_rows: Wholes
    loop_at: Wholes
    """how many rows its loops have, and where they begin"""
    surface: Reals
    pair_of: Wholes
    """the pair of each place"""
    places: int
    rows: int
    """rows of a place"""
    slides: int
    turns: int
    rolls: int
    joints: int
    joint: Wholes
    friction: Reals
    """variables with dry friction, and how much"""
    loops: int
    loop_part: Wholes
    loop_row: Wholes
    """the tree of each row of a loop, and where it is"""
    joint_part: Wholes
    springs: Reals
    dampers: Reals
    held: Reals
    """inertia that holds variables"""
    above: Wholes
    """the variable before each one on the path to the base, counted in its tree; −1 for none"""
    last: Wholes
    """the last variable on the path from the base to a body, counted in its tree; −1 for none"""


@dataclass(frozen=True)
class StateTerms(Record):
    """What a step needs of a state: velocities before it and without impulses, and what the mechanism's text gives."""

    q: Reals
    v: Reals
    a: Reals
    t: Reals
    dt: Reals
    free: Reals
    turns: Reals
    """what bodies that nothing holds turn less by, as half of what coasting changes comes later"""
    screws: Reals
    """of each variable, in base coordinates"""
    H: Reals
    """block by block, and its factors afterwards"""
    K: Reals
    """rows of loops, for the variables of their trees"""
    V: Reals
    W: Reals
    U: Reals
    """of bodies, before the step, without impulses and with them, in base coordinates"""
    changes: Reals
    """of velocities of bodies"""
    maps: Reals
    """for bodies that touch, what forces on them do in their trees"""
    is_mapped: Wholes
    out: Reals
    """for the terms of one tree"""
    work: Reals
    force: Reals
