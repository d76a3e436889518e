"""Couplings tie branches together, and no more than they tie: the mass matrix keeps the zeros of the others."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.algorithms.dynamics import branch_sparsity
from knuckle.functions.loops.closed_response import tree_parents
from knuckle.model.connectivity import elimination_parents
from knuckle.spatial import Matrix, Vector
from knuckle.testing import random_tree


def _with_grippers(seed: int) -> kn.Model:
    """A tree in which joints follow others: of their own limb, and of another."""
    rng = np.random.default_rng(seed)
    b = kn.Builder("hands")
    inertia = kn.model.solid_box(1.0, (0.1, 0.2, 0.3), at=(0.1, 0, 0.1))
    trunk = b.body("trunk", joint=kn.joints.Free() if seed % 2 else kn.joints.Revolute("z"), inertia=inertia)
    for limb in range(3):
        last = trunk
        for k in range(3):
            at = tuple(rng.uniform(-0.3, 0.3, 3))
            last = b.body(f"limb{limb}{k}", on=last, joint=kn.joints.Revolute("xyz"[k]), inertia=inertia, at=at)
        for finger in range(2):
            b.body(
                f"finger{limb}{finger}", on=last, joint=kn.joints.Revolute("x"), inertia=inertia, at=(0.1, finger, 0)
            )
        b.mimic(f"finger{limb}1_joint", f"finger{limb}0_joint", ratio=-0.7)
    if seed > 1:
        b.mimic("limb22_joint", "limb02_joint", ratio=0.5)
    return b.build()


@pytest.mark.parametrize("seed", range(4))
def test_entries_are_with_ancestors_only(seed: int):
    model = _with_grippers(seed)
    parents = tree_parents(model)
    q = kn.random_configuration(model, np.random.default_rng(seed))
    H = kn.mass_matrix(model, q)
    for k in range(model.nv):
        above, j = {k}, parents[k]
        while j >= 0:
            above.add(j)
            j = parents[j]
        assert {j for j in range(k + 1) if H[k, j] != 0} <= above
    rng = np.random.default_rng(seed)
    v, tau = rng.normal(size=(2, model.nv))
    a = kn.forward_dynamics(model, q, v, tau)
    np.testing.assert_allclose(kn.inverse_dynamics(model, q, v, a), tau, rtol=1e-9, atol=1e-10)
    assert branch_sparsity.cost(parents).density < 0.8
    if seed == 0:  # fingers follow within their limbs: there is no entry that is always zero
        assert branch_sparsity.cost(parents).nonzeros == np.count_nonzero(H)


def test_a_tree_without_couplings_is_its_own():
    model = random_tree(np.random.default_rng(0), 12)
    groups = [{*range(model.v_slices[i].start, model.v_slices[i].stop)} for i in range(model.nb)]
    together = []
    for i in range(model.nb):
        group, k = set(), i
        while k >= 0:
            group |= groups[k]
            k = model.parents[k]
        together.append(group)
    assert elimination_parents(model.nv, together) == tree_parents(model)


@pytest.mark.parametrize("seed", range(5))
def test_any_groups_are_solved_without_touching_a_zero(seed: int):
    """Also where one variable ties two others together that have nothing to do with each other."""
    rng, n = np.random.default_rng(seed), 9
    together = [{0, 2}, {1, 2}, *({*rng.choice(n, 3, replace=False).tolist()} for _ in range(4))]
    H = 10 * np.eye(n)
    for group in together:
        x = np.zeros(n)
        x[[*group]] = rng.normal(size=len(group))
        H += np.outer(x, x)
    b = rng.normal(size=n)
    found = branch_sparsity.solve(Matrix(H.tolist(), n), elimination_parents(n, together), Vector(b.tolist()))
    np.testing.assert_allclose(list(found), np.linalg.solve(H, b), rtol=1e-10)
