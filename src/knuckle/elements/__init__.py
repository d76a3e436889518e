"""Forces between bodies, as `kn.elements`: springs, cables, bushings, drag, forces at points, and what they do."""

from knuckle.model.elements import (
    Bushing,
    Cable,
    ConstantTension,
    Drag,
    ForceElement,
    Line,
    LinePoint,
    PointForce,
    Spring,
    TensionLaw,
)

from .element_terms import (
    damping,
    energies,
    joint_forces,
    lengths,
    moment_arms,
    powers,
    rates,
    stiffness,
    tensions,
    wrenches,
)

__all__ = [
    "Bushing",
    "Cable",
    "ConstantTension",
    "Drag",
    "ForceElement",
    "Line",
    "LinePoint",
    "PointForce",
    "Spring",
    "TensionLaw",
    "damping",
    "energies",
    "joint_forces",
    "lengths",
    "moment_arms",
    "powers",
    "rates",
    "stiffness",
    "tensions",
    "wrenches",
]
