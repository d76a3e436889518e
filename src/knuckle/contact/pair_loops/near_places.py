"""A loop over pairs of shapes: balls around them say which are near, and their texts where these touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from knuckle.contact.contact_pairs import ContactPair
from knuckle.engine.routines import Code, Codes, Reals, Record, Wholes, apply, routine
from knuckle.model import Box, Capsule, Cylinder, Ellipsoid, Geometry, Mesh, Plane, Sphere
from knuckle.model.parts import Shape
from knuckle.spatial import Transform

from .pair_codes import NUMBERS, PLACEMENT, PairText, kinds_of, numbers_of, pair_code

PAIR = 6
KIND, FIRST, SECOND, PLACE, PLACES, IS_FLAT = 0, 1, 2, 3, 4, 5
"""Its code, or −1 where another library computes it; its shapes; its first place and how many; whether the second is a
plane."""
PLACE_SIZE = 7
"""Gap, point and normal."""
FAR = 1e30
"""The gap of places that were not looked at."""
REACH, AHEAD = 0.1, 4.0
"""Pairs are looked at that are nearer than this part of the smaller ball, and than so many steps bring them."""


@dataclass(frozen=True)
class Pairs(Record):
    """Pairs of shapes in memory; bodies are counted from the base on, which is 0."""

    count: int
    pair: Wholes
    codes: Codes
    shapes: int
    numbers: Reals
    ball: Reals
    body: Wholes
    placed: Reals
    """axes and origin of each shape"""
    speed: Reals
    """how fast a point of each shape is at most"""
    places: Reals
    is_near: Wholes


@dataclass(frozen=True)
class PairTable:
    """What does not change of pairs: shapes, codes, and where the places of each pair are."""

    shapes: tuple[tuple[int, Geometry], ...]
    """(body, shape), each of them once"""
    texts: tuple[PairText, ...]
    rows: tuple[tuple[int, ...], ...]
    size: int
    """how many places there are"""

    @classmethod
    def of(cls, pairs: Sequence[ContactPair], counts: Sequence[int]) -> PairTable:
        """The table of pairs with so many places each."""
        number: dict[tuple[int, int], int] = {}
        shapes: list[tuple[int, Geometry]] = []
        texts: dict[PairText, int] = {}
        rows: list[tuple[int, ...]] = []
        place = 0
        for pair, count in zip(pairs, counts, strict=True):
            both: list[int] = []
            for body, shape in ((pair.first, pair.first_shape), (pair.second, pair.second_shape)):
                key = body, id(shape)
                if key not in number:
                    number[key] = len(shapes)
                    shapes.append((body, shape))
                both.append(number[key])
            kind = -1
            if pair.is_compiled:
                kind = texts.setdefault(kinds_of(pair.first_shape.shape, pair.second_shape.shape), len(texts))
            rows.append((kind, *both, place, count, int(isinstance(pair.second_shape.shape, Plane))))
            place += count
        return cls(tuple(shapes), tuple(texts), tuple(rows), place)

    @property
    def placements(self) -> tuple[tuple[int, Transform], ...]:
        """The body of each shape, and where it is on it."""
        return tuple((i, shape.X) for i, shape in self.shapes)

    def room(self, codes: list[Code], placed: Reals | None = None) -> Pairs:
        """Memory for the places of one state."""
        shapes = [shape for _, shape in self.shapes]
        numbers = np.array([numbers_of(x.shape) for x in shapes]).reshape(-1)
        return Pairs(
            count=len(self.rows), pair=np.array(self.rows, np.int64).reshape(-1), codes=codes, shapes=len(shapes),
            numbers=numbers, ball=np.array([ball_around(x.shape) for x in shapes]),
            body=np.array([1 + i for i, _ in self.shapes], np.int64),
            placed=np.zeros(PLACEMENT * len(shapes)) if placed is None else placed, speed=np.zeros(len(shapes)),
            places=np.zeros(PLACE_SIZE * self.size), is_near=np.zeros(len(self.rows), np.int64),
        )  # fmt: skip

    def codes(self) -> list[Code]:
        """The code of each two kinds of shapes, compiled now."""
        return [pair_code(text) for text in self.texts]


def ball_around(shape: Shape) -> float:
    """The radius of a ball about the origin of a shape that has all of it; infinite where none is known."""
    match shape:
        case Sphere():
            return shape.radius
        case Capsule():
            return shape.radius + shape.length / 2
        case Box():
            return math.hypot(*shape.size) / 2
        case Cylinder():
            return math.hypot(shape.radius, shape.length / 2)
        case Ellipsoid():
            return max(shape.radii)
        case Mesh(hull=hull) if hull:
            return max(math.hypot(*corner) for corner in hull)
        case _:
            return math.inf


@routine
def speeds(s: Pairs, V: Reals, W: Reals) -> None:
    """How fast shapes are, with both of two velocities of the bodies in base coordinates."""
    for k in range(s.shapes):
        r, v, w = s.placed[PLACEMENT * k + 9 :], V[6 * s.body[k] :], W[6 * s.body[k] :]
        s.speed[k] = max(speed(v, r, s.ball[k]), speed(w, r, s.ball[k]))


@routine
def speed(v: Reals, r: Reals, ball: float) -> float:
    """How fast a ball about r is at most."""
    turn = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    x = v[3] + v[1] * r[2] - v[2] * r[1]
    y = v[4] + v[2] * r[0] - v[0] * r[2]
    z = v[5] + v[0] * r[1] - v[1] * r[0]
    return sqrt(x * x + y * y + z * z) + (turn * ball if turn > 0.0 else 0.0)


@routine
def near_places(s: Pairs, dt: float) -> int:
    """The places of pairs that may touch within steps of dt; how many of these pairs have no code."""
    others = 0
    for k in range(s.count):
        pair = s.pair[PAIR * k :]
        i, j = pair[FIRST], pair[SECOND]
        X, Y, out = s.placed[PLACEMENT * i :], s.placed[PLACEMENT * j :], s.places[PLACE_SIZE * pair[PLACE] :]
        x, y, z = X[9] - Y[9], X[10] - Y[10], X[11] - Y[11]
        smaller = s.ball[i]
        if pair[IS_FLAT] == 1:
            apart = x * Y[6] + y * Y[7] + z * Y[8] - s.ball[i]
        else:
            apart = sqrt(x * x + y * y + z * z) - s.ball[i] - s.ball[j]
            smaller = min(smaller, s.ball[j])
        s.is_near[k] = 1
        if apart > REACH * smaller + AHEAD * dt * (s.speed[i] + s.speed[j]):
            s.is_near[k] = 0
            for p in range(pair[PLACES]):
                out[PLACE_SIZE * p] = FAR
        elif pair[KIND] < 0:
            others += 1
        else:
            apply(s.codes[pair[KIND]], out, s.numbers[NUMBERS * i :], X, s.numbers[NUMBERS * j :], Y)
    return others
