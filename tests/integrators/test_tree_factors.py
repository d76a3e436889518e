"""H = Lᵀ L of trees: the factors are those of linear algebra, and zero wherever H is (Tables 6.3 and 6.5)."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.contact_loops.step_room import ContactScene
from knuckle.integrators.contact_loops.tree_factors import coloured, factored, whitened
from knuckle.integrators.contact_loops.trees import trees

TREE = [-1, 0, 1, 1, 3, 0, 5]
"""λ of seven variables on three branches."""


def inertia(rng: np.random.Generator) -> np.ndarray:
    """A positive definite matrix with entries only where one variable is on the path of the other."""
    n = len(TREE)
    paths = np.zeros((n, n))
    for i in range(n):
        j = i
        while j >= 0:
            paths[i, j] = rng.normal() + 2.0 * (i == j)
            j = TREE[j]
    return paths.T @ paths


@pytest.mark.parametrize("seed", range(3))
def test_factors_are_as_sparse_as_the_tree(seed: int):
    rng = np.random.default_rng(seed)
    H, above, n = inertia(rng), np.array(TREE, np.int64), len(TREE)
    room = H.reshape(-1).copy()
    factored.python(n, above, room)
    L = np.tril(room.reshape(n, n))
    assert pytest.approx(H, abs=1e-12) == L.T @ L
    assert not L[np.tril(H == 0)].any()
    assert (H == 0).any()
    x = rng.normal(size=n)
    up, down = x.copy(), x.copy()
    whitened.python(n, above, room, up)
    coloured.python(n, above, room, down)
    assert L.T @ up == pytest.approx(x)
    assert L @ down == pytest.approx(x)


def test_paths_are_those_of_the_model():
    model = kn.model.edit.with_ground(kn.robots.load("quadruped"))
    scene = ContactScene.__new__(ContactScene)  # its tables of paths need neither codes nor pairs
    for name, value in (("model", model), ("trees", tuple(trees(model)))):
        object.__setattr__(scene, name, value)
    paths = scene._paths(np.array([-1, *[0] * model.nb]))
    H = kn.mass_matrix(model, kn.random_configuration(model, np.random.default_rng(0)))
    for i in range(model.nv):
        on_path, j = set(), i
        while j >= 0:
            on_path.add(int(j))
            j = paths["above"][j]
        assert {k for k in range(i + 1) if abs(H[i, k]) > 1e-12} <= on_path
    assert [paths["last"][1 + i] for i in range(model.nb)] == [x.stop - 1 for x in model.v_slices]
