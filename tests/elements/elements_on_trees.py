"""Random mechanisms with one element of every kind, and more lines, between random frames."""

from __future__ import annotations

import numpy as np

from knuckle.elements import (
    Bushing,
    Cable,
    ConstantTension,
    Drag,
    ForceElement,
    JointLine,
    Line,
    LinePoint,
    PointForce,
    Spring,
    TensionLaw,
    Winding,
)
from knuckle.model import Model
from knuckle.testing import random_tree


def with_elements(model: Model, seed: int = 0) -> Model:
    """The model with elements between its bodies, its frames and its base."""
    rng = np.random.default_rng(seed)
    names = model.frame_names

    def frame() -> str:
        return str(rng.choice(names))

    def line(name: str, law: TensionLaw, count: int) -> Line:
        return Line(name, tuple(LinePoint(frame(), _three(rng)) for _ in range(count)), law)

    one, other = rng.choice(names, 2, replace=False)
    two = str(one), str(other)
    elements: tuple[ForceElement, ...] = (
        line("spring", Spring(40.0, 0.3, 2.0), 2),
        line("cable", Cable(60.0, 0.2, 1.0), 4),
        line("slack", Cable(60.0, 1e3, 1.0), 2),
        line("weight", ConstantTension(5.0), 3),
        Bushing("bushing", *two, tuple(rng.uniform(1.0, 20.0, 6)), tuple(rng.uniform(1.0, 20.0, 6))),
        Drag("drag", str(rng.choice(model.body_names)), _three(rng, 0.1), _three(rng, 0.1)),
        PointForce("push", LinePoint(frame(), _three(rng)), _three(rng)),
        PointForce("jet", LinePoint(frame(), _three(rng)), _three(rng), "body"),
    )
    hinges = [b for b, joint in zip(model.body_names, model.joints, strict=True) if joint.type.nv == 1]
    windings = tuple(Winding(body, c) for body, c in zip(hinges, (0.3, -0.7), strict=False))
    wound = (JointLine("wound", windings, Spring(30.0, 0.2, 1.5)),) if windings else ()
    return model.replace(elements=(*elements, *wound))


def random_with_elements(seed: int, *, floating: bool = False, types: list[str] | None = None) -> Model:
    """A random tree with elements."""
    return with_elements(random_tree(seed, 5, floating=floating, types=types, resistance=False), seed)


def _three(rng: np.random.Generator, least: float = -1.0) -> tuple[float, float, float]:
    a, b, c = rng.uniform(least, 1.0, 3).tolist()
    return a, b, c
