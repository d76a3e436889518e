"""<inertial>: a link's mass, centre of mass and moments, and whether a real body can have them."""

from __future__ import annotations

from typing import Any

from knuckle.formats.xml import Element
from knuckle.spatial import Inertia, Sym3
from knuckle.spatial.three import transpose

from .number_attributes import number
from .origin_element import origin
from .urdf_source import UrdfSource, called

_MOMENTS = ("ixx", "ixy", "iyy", "ixz", "iyz", "izz")
_ROUNDING = 1e-6
_POINT = 1e-6  # a radius of gyration, in metres, below which a body is a point


def inertial(source: UrdfSource, link: Element, name: str) -> Inertia:
    """The inertia of a link about its frame (RBDA 2.63); zero without an <inertial>."""
    owner = called("link", name)
    element = source.child(link, "inertial", owner)
    if element is None:
        source.note("info", link, name, "no <inertial>: the link has no mass")
        return Inertia.zero()
    source.account(element, name, ("origin", "mass", "inertia"), ())
    mass_element = source.required(element, "mass", owner)
    moments_element = source.required(element, "inertia", owner)
    source.account(mass_element, name, (), ("value",))
    source.account(moments_element, name, (), _MOMENTS)
    X = origin(source, element, owner, name)
    mass = number(source, mass_element, "value", owner)
    moments = Sym3(*(number(source, moments_element, key, owner) for key in _MOMENTS))
    for level, text in complaints(mass, moments):
        source.note(level, element, name, text)
    return Inertia.of(mass, X.r, moments.rotated(transpose(X.E)).matrix)


def complaints(mass: float, I_com: Sym3) -> list[tuple[str, str]]:
    """What is unphysical about a mass and the rotational inertia about the centre of mass: (level, text) each."""
    import numpy as np

    found: list[tuple[str, str]] = []
    a, b, c = sorted(float(x) for x in np.linalg.eigvalsh(np.array(I_com.matrix, dtype=float)))
    size = max(abs(a), abs(c))
    size = size if size > abs(mass) * _POINT**2 else 0.0
    moments = f"({a:.6g}, {b:.6g}, {c:.6g})"
    if mass < 0:
        found.append(("error", f"negative mass {mass:g}"))
    if mass == 0 and size > 0:
        found.append(("warning", "moments of inertia without a mass"))
    if mass == 0 and size == 0:
        found.append(("info", "an <inertial> of zeros: the link has no mass"))
    if mass != 0 and size == 0:
        found.append(("warning", "a mass without moments of inertia: a point"))
    if size > 0 and a < -_ROUNDING * size:
        found.append(("error", f"the inertia is not positive definite: principal moments {moments}"))
    elif size > 0 and c > (a + b) * (1 + _ROUNDING):
        text = f"no body has these principal moments: {moments}; the largest exceeds the sum of the others"
        found.append(("warning", text))
    elif size > 0 and a <= _ROUNDING * size:
        found.append(("info", f"the smallest principal moment is zero: {moments}"))
    return found


def is_zero(inertia: Any) -> bool:
    """Whether an inertia vanishes altogether."""
    return not any(float(x) for x in (inertia.mass, *inertia.h, *inertia.I))
