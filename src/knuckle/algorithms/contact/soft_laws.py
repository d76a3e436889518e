"""Forces of soft contact: normal laws, friction, and the spring that friction winds up (RBDA 11.73-11.79).

A surface yields by the depth δ where shapes overlap. At the depth d every law has the spring force K d and the damping
D, so that K and D are in N/m and N s/m whatever the law. None of them pulls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from knuckle.scalar import ZERO, exp, less, maximum, select, sqrt
from knuckle.spatial.three import Vec3, add, dot, scale, sub


@dataclass(frozen=True)
class SoftSurface:
    """What holds between two surfaces: K (N/m), D (N s/m), μ, the depth d (m) at which K and D hold.

    `across` is the part of K and D that acts across the normal.
    """

    stiffness: Any
    damping: Any
    friction: Any
    depth: Any = 1.0
    across: Any = 1.0


class Squeeze(NamedTuple):
    """The normal force, and the part of K and D that acts across it."""

    force: Any
    share: Any


def linear(surface: SoftSurface, depth: Any, rate: Any) -> Squeeze:
    """K δ + D δ̇ (11.74, where the ground has come back up before the next contact)."""
    return Squeeze(surface.stiffness * depth + surface.damping * rate, 1.0)


def featherstone(surface: SoftSurface, depth: Any, rate: Any) -> Squeeze:
    """√(δ/d) (K δ + D δ̇): no jump when shapes touch, and the same loss at every depth."""
    share = sqrt(depth / surface.depth)
    return Squeeze(share * (surface.stiffness * depth + surface.damping * rate), share)


def hunt_crossley(surface: SoftSurface, depth: Any, rate: Any) -> Squeeze:
    """√(δ/d) (K δ + (δ/d) D δ̇): Hertz's law with a damping that goes like its force (Hunt and Crossley 1975)."""
    share, part = sqrt(depth / surface.depth), depth / surface.depth
    return Squeeze(share * (surface.stiffness * depth + surface.damping * part * rate), share)


NormalLaw = Callable[[SoftSurface, Any, Any], Squeeze]
LAWS: Mapping[str, NormalLaw] = {"featherstone": featherstone, "linear": linear, "hunt-crossley": hunt_crossley}


def squeezed(law: NormalLaw, surface: SoftSurface, gap: Any, rate: Any) -> Squeeze:
    """The normal force at a gap that opens with `rate`: nothing where there is no overlap, and never a pull."""
    touches = less(gap, 0.0)
    force, share = law(surface, select(touches, -gap, surface.depth), -rate)
    return Squeeze(select(touches, maximum(force, 0.0), 0.0), select(touches, share, 0.0))


def regularized(friction: Any, normal: Any, slip: Vec3, speed: Any) -> Vec3:
    """−μ f_n s/√(s² + s₀²): Coulomb's law made smooth. It creeps under any load."""
    return scale(-friction * normal / sqrt(dot(slip, slip) + speed * speed), slip)


class Rubbing(NamedTuple):
    """Friction at a place, and 1 where it slides, else 0."""

    force: Vec3
    slides: Any


def gripped(surface: SoftSurface, squeeze: Squeeze, spring: Vec3, slip: Vec3) -> Rubbing:
    """f_stick = −K x − D s, at most μ f_n (11.76-11.78): in a disc, the same in every direction."""
    K, D = (squeeze.share * surface.across * k for k in (surface.stiffness, surface.damping))
    stick = scale(-1.0, add(scale(K, spring), scale(D, slip)))
    most, size = surface.friction * squeeze.force, dot(stick, stick)
    slides = less(most * most, size)
    part = select(slides, most / sqrt(select(slides, size, 1.0)), 1.0)
    return Rubbing(scale(part, stick), select(slides, 1.0, 0.0))


def relaxed(surface: SoftSurface, squeeze: Squeeze, grip: Rubbing, before: Vec3, stuck: Vec3, dt: Any) -> Vec3:
    """The spring after a step: where it stuck, the way that it was carried along.

    Where it slides or is free D ẋ = −(K x + f_t) (11.79), solved exactly for the friction at the end of the step: it
    goes to −f_t/K however short D/K is against the step.
    """
    touches = less(0.0, squeeze.share)
    K = surface.across * surface.stiffness * select(touches, squeeze.share, 1.0)
    rest = scale(-1 / K, grip.force)
    left = ZERO if surface.damping is ZERO else exp(-(surface.stiffness / surface.damping) * dt)
    slid = add(rest, scale(left, sub(before, rest)))
    keeps = select(touches, less_than_half(grip.slides), 0.0)
    a, b, c = (select(less(0.5, keeps), x, y) for x, y in zip(stuck, slid, strict=True))
    return a, b, c


def less_than_half(x: Any) -> Any:
    """1 below a half, else 0."""
    return select(less(x, 0.5), 1.0, 0.0)


def carried_over(x: Vec3, before: Vec3, after: Vec3) -> Vec3:
    """x across a normal, turned with it the short way."""
    both = maximum(1 + dot(before, after), 1e-3)
    return sub(x, scale(dot(x, after) / both, add(before, after)))
