"""Quantities that do not mix: each illegal operation is a TypeError that names both sides (RBDA A.2)."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from knuckle.spatial import (
    ArticulatedInertia,
    Force,
    Inertia,
    Matrix,
    Motion,
    PlanarArticulatedInertia,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Subspace,
    Transform,
    Vector,
    line_and_free,
    project,
)

m, f = Motion.of((1, 2, 3, 4, 5, 6)), Force.of((6, 5, 4, 3, 2, 1))
X, I = Transform.translation((1, 2, 3)), Inertia.of(2.0, (0.1, 0.2, 0.3), np.diag([1.0, 2.0, 2.5]))
A, Phi = ArticulatedInertia.of(I), I.inverse
S, T = Subspace(Motion, [m]), Subspace(Force, [f])
pm, pf = PlanarMotion(1, 2, 3), PlanarForce(3, 2, 1)
pX, pI = PlanarTransform.translation((1, 2)), PlanarInertia.of(2.0, (0.1, 0.2), 3.0)
pA, pPhi = PlanarArticulatedInertia.of(pI), pI.inverse
pS, pT = Subspace(PlanarMotion, [pm]), Subspace(PlanarForce, [pf])
x, H = Vector([1.0]), Matrix([[1.0]])

ILLEGAL: dict[str, Callable[[], Any]] = {
    # a motion is no force
    "motion + force": lambda: m + f,
    "force + motion": lambda: f + m,
    "motion - force": lambda: m - f,
    "force - motion": lambda: f - m,
    "motion . motion": lambda: m.dot(m),  # type: ignore[arg-type]
    "force . force": lambda: f.dot(f),  # type: ignore[arg-type]
    "force x force": lambda: f.cross(f),
    "force x motion": lambda: f.cross(m),
    "force x number": lambda: f.cross(2.0),
    "motion x number": lambda: m.cross(2.0),
    "motion x transform": lambda: m.cross(X),
    "motion x inertia": lambda: m.cross(I),
    "motion + number": lambda: m + 1.0,
    "number + motion": lambda: 1.0 + m,
    "motion * motion": lambda: m * m,
    "motion * force": lambda: m * f,
    "motion / motion": lambda: m / m,
    "motion * inertia": lambda: m * I,
    "motion * vector": lambda: m * x,
    "motion * subspace": lambda: m * S,
    "motion @ force": lambda: m @ f,
    # inertia maps motions to forces and nothing else
    "inertia @ force": lambda: I @ f,
    "inertia @ forces": lambda: I @ T,
    "inertia @ no forces": lambda: I @ Subspace(Force),
    "inertia @ inertia": lambda: I @ I,
    "inertia @ vector": lambda: I @ x,
    "inertia * motion": lambda: I * m,
    "inertia * inertia": lambda: I * I,
    "inertia + force": lambda: I + f,
    "inertia + number": lambda: I + 1.0,
    "inertia - motion": lambda: I - m,
    "articulated @ force": lambda: A @ f,
    "articulated @ forces": lambda: A @ T,
    "articulated + motion": lambda: A + m,
    "articulated - motion": lambda: A - m,
    "articulated * articulated": lambda: A * A,
    "inverse inertia @ motion": lambda: Phi @ m,
    "inverse inertia @ motions": lambda: Phi @ S,
    "inverse inertia @ no motions": lambda: Phi @ Subspace(Motion),
    "inertia + inverse inertia": lambda: I + Phi,
    # transforms
    "X.T @ motion": lambda: X.T @ m,
    "X.T @ motions": lambda: X.T @ S,
    "X.T @ no motions": lambda: X.T @ Subspace(Motion),
    "X.T @ transform": lambda: X.T @ X,
    "X.T @ inverse inertia": lambda: X.T @ Phi,
    "X @ vector": lambda: X @ x,
    "X @ number": lambda: X @ 2.0,
    "X * motion": lambda: X * m,
    "X + X": lambda: X + X,
    "X.inv @ number": lambda: X.inv @ 2.0,
    "motion @ X": lambda: m @ X,
    # subspaces
    "motions + forces": lambda: S + T,
    "motions - forces": lambda: S - T,
    "motions + motion": lambda: S + m,
    "motions joined with forces": lambda: S.join(T),
    "motions.T @ motion": lambda: S.T @ m,
    "motions.T @ motions": lambda: S.T @ S,
    "no motions.T @ motion": lambda: Subspace(Motion).T @ m,
    "no motions.T @ motions": lambda: Subspace(Motion).T @ S,
    "forces.T @ force": lambda: T.T @ f,
    "motions * motions": lambda: S * S,
    "motions @ motion": lambda: S @ m,
    "forces of motions": lambda: Subspace(Force, [m]),
    "vectors of numbers": lambda: Subspace(Motion, [1.0]),
    # the plane is another world
    "motion + planar motion": lambda: m + pm,
    "planar motion + motion": lambda: pm + m,
    "planar motion - motion": lambda: pm - m,
    "motion . planar force": lambda: m.dot(pf),  # type: ignore[arg-type]
    "planar motion . force": lambda: pm.dot(f),  # type: ignore[arg-type]
    "motion x planar motion": lambda: m.cross(pm),
    "planar motion x force": lambda: pm.cross(f),
    "motion x planar motions": lambda: m.cross(pS),
    "motion x no planar motions": lambda: m.cross(Subspace(PlanarMotion)),
    "planar motion x no motions": lambda: pm.cross(Subspace(Motion)),
    "motion * planar motion": lambda: m * pm,
    "X @ planar motion": lambda: X @ pm,
    "X @ planar force": lambda: X @ pf,
    "X @ planar transform": lambda: X @ pX,
    "X @ planar inertia": lambda: X @ pI,
    "X @ planar articulated": lambda: X @ pA,
    "X @ planar inverse inertia": lambda: X @ pPhi,
    "X @ planar motions": lambda: X @ pS,
    "X @ no planar motions": lambda: X @ Subspace(PlanarMotion),
    "X.T @ planar force": lambda: X.T @ pf,
    "X.T @ planar inertia @ X": lambda: X.T @ pI @ X,
    "X.inv @ planar motion": lambda: X.inv @ pm,
    "X.inv @ planar inertia": lambda: X.inv @ pI,
    "planar X @ motion": lambda: pX @ m,
    "planar X @ transform": lambda: pX @ X,
    "planar X @ inertia": lambda: pX @ I,
    "planar X @ no motions": lambda: pX @ Subspace(Motion),
    "planar X.inv @ inertia": lambda: pX.inv @ I,
    "planar X.inv @ motion": lambda: pX.inv @ m,
    "planar X.T @ force": lambda: pX.T @ f,
    "planar X.T @ planar motion": lambda: pX.T @ pm,
    "planar X.T @ planar transform": lambda: pX.T @ pX,
    "inertia @ planar motion": lambda: I @ pm,
    "planar inertia @ motion": lambda: pI @ m,
    "inertia + planar inertia": lambda: I + pI,
    "planar inertia + inertia": lambda: pI + I,
    "articulated + planar articulated": lambda: A + pA,
    "planar articulated + inertia": lambda: pA + I,
    # and has the same rules
    "planar motion + planar force": lambda: pm + pf,
    "planar motion - planar force": lambda: pm - pf,
    "planar motion . planar motion": lambda: pm.dot(pm),  # type: ignore[arg-type]
    "planar force . planar force": lambda: pf.dot(pf),  # type: ignore[arg-type]
    "planar force x planar force": lambda: pf.cross(pf),
    "planar motion x number": lambda: pm.cross(2.0),
    "planar motion * planar motion": lambda: pm * pm,
    "planar motion / planar motion": lambda: pm / pm,
    "planar inertia @ planar force": lambda: pI @ pf,
    "planar inertia * planar inertia": lambda: pI * pI,
    "planar inertia + planar force": lambda: pI + pf,
    "planar articulated @ planar force": lambda: pA @ pf,
    "planar articulated + planar motion": lambda: pA + pm,
    "planar articulated * planar motion": lambda: pA * pm,
    "planar inverse inertia @ planar motion": lambda: pPhi @ pm,
    # joint space
    "vector + number": lambda: x + 1.0,
    "vector * matrix": lambda: x * H,
    "vector * motion": lambda: x * m,
    "matrix * matrix": lambda: H * H,
    "matrix + vector": lambda: H + x,
    "matrix @ motion": lambda: H @ m,
    "vector @ matrix": lambda: x @ H,
    # functions of a motion or a force
    "lines in the plane": lambda: line_and_free(pm),  # type: ignore[type-var]
    "no planar twin of a number": lambda: project(2.0),
    "no planar twin of a vector": lambda: project(x),
}


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal_operations_are_refused(name: str):
    with pytest.raises(TypeError):
        ILLEGAL[name]()


@pytest.mark.parametrize(
    ("operation", "message"),
    [
        (lambda: m + f, "the sum of Motion and Force has no meaning"),
        (lambda: m - f, "the difference of Motion and Force has no meaning"),
        (lambda: m.dot(m), "the scalar product of Motion and Motion has no meaning"),
        (lambda: f.cross(m), "the cross product of Force and Motion has no meaning"),
        (lambda: m * m, "the product of Motion and Motion has no meaning"),
        (lambda: I @ f, "an inertia applies to a motion, not to Force"),
        (lambda: Phi @ m, "an inverse inertia applies to a force, not to Motion"),
        (lambda: X.T @ m, "Xᵀ transforms forces and inertias; Motion goes back with X.inv"),
        (lambda: S.T @ m, "Motion pairs with Force, not with Motion"),
        (lambda: S + T, "a subspace of Motion goes here, not one of Force"),
        (lambda: Subspace(Force, [m]), "a subspace of Force has no column of type Motion"),
        (lambda: m + pm, "the sum of Motion and PlanarMotion has no meaning"),
        (lambda: H * H, "the matrix product is @"),
    ],
)
def test_messages_name_both_sides(operation: Callable[[], Any], message: str):
    with pytest.raises(TypeError, match=message):
        operation()


@pytest.mark.parametrize("quantity", [m, f, X, I, A, Phi, S, T, pm, pf, pX, pI, pA, pPhi, pS, x, H], ids=repr)
def test_numpy_leaves_quantities_alone(quantity: Any):
    """An array on the left neither takes a quantity apart nor makes an array of objects of it."""
    for operation in (lambda a: a + quantity, lambda a: a @ quantity):
        with pytest.raises(TypeError):
            operation(np.ones(3))


@pytest.mark.parametrize("quantity", [m, f, I, A, S, pm, pf, pI, pA, x, H], ids=lambda q: type(q).__name__)
def test_lanes_scale_quantities(quantity: Any):
    lanes = np.array([2.0, 3.0])
    for scaled in (lanes * quantity, quantity * lanes):
        assert type(scaled) is type(quantity)


@pytest.mark.parametrize("quantity", [m, f, X, I, A, Phi, pm, pf, pX, pI, pA, pPhi], ids=lambda q: type(q).__name__)
def test_quantities_are_frozen_and_pickle(quantity: Any):
    import dataclasses
    import pickle

    name = dataclasses.fields(quantity)[0].name
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(quantity, name, 1.0)
    assert pickle.loads(pickle.dumps(quantity)) == quantity
    assert not hasattr(quantity, "__dict__")


@pytest.mark.parametrize("quantity", [S, T, pS, x, H], ids=lambda q: type(q).__name__)
def test_vectors_matrices_and_subspaces_pickle(quantity: Any):
    import pickle

    assert pickle.loads(pickle.dumps(quantity)) == quantity
