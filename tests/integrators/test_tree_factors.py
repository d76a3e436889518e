"""H = Lᵀ L of trees: the factors are those of linear algebra, and zero wherever H is (Tables 6.3 and 6.5)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.integrators.contact_loops.step_room import ContactScene
from knuckle.integrators.contact_loops.tree_factors import act, coloured, factored, map_body, whitened
from knuckle.integrators.contact_loops.trees import trees

TREE = [-1, 0, 1, 1, 3, 0, 5]
"""λ of seven variables on three branches."""


def inertia(rng: np.random.Generator, above: list[int] = TREE) -> np.ndarray:
    """A positive definite matrix with entries only where one variable is on the path of the other."""
    n = len(above)
    paths = np.zeros((n, n))
    for i in range(n):
        for j in path(above, i):
            paths[i, j] = rng.normal() + 2.0 * (i == j)
    return paths.T @ paths


def path(above: list[int], i: int) -> list[int]:
    """The variables from one to the base."""
    found = list[int]()
    while i >= 0:
        found.append(i)
        i = above[i]
    return found


def random_paths(rng: np.random.Generator, bodies: int) -> tuple[list[int], list[int]]:
    """λ of the variables of a tree with joints of none to six freedoms, and the last variable of each body."""
    above, last = list[int](), list[int]()
    for i in range(bodies):
        before = last[int(rng.integers(max(0, i - 3), i))] if i else -1
        for _ in range(int(rng.choice([1, 1, 2, 3, 6, 0]) if i else 6)):
            above.append(before)
            before = len(above) - 1
        last.append(before)
    return above, last


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


@pytest.mark.parametrize("seed", range(4))
def test_maps_are_what_forces_do_in_their_trees(seed: int):
    """L⁻ᵀ Sᵀ of the variables on the path to a body and nothing of others, in the second of two trees, by NumPy."""
    rng = np.random.default_rng(seed)
    above, last = random_paths(rng, 7)
    n, before = len(above), 3
    H = inertia(rng, above)
    room = np.concatenate([rng.normal(size=before**2), H.reshape(-1)])
    factored.python(n, np.array(above, np.int64), room[before**2 :])
    L = np.tril(room[before**2 :].reshape(n, n))
    screws = rng.normal(size=(before + n, 6))
    for body, i in enumerate(last):
        m: Any = SimpleNamespace(
            part=np.array([-1, 0, *[1] * len(last)]), part_size=np.array([before, n]), v_at=np.array([0, before]),
            block_at=np.array([0, before**2]), last=np.array([-1, before - 1, *last]),
            above=np.array([-1, *range(before - 1), *above]), map_at=np.array([0, 0, *[6 * before] * len(last)]),
        )  # fmt: skip
        s: Any = SimpleNamespace(
            H=room.copy(), maps=np.zeros(6 * (before + n)), screws=screws.reshape(-1), is_mapped=np.zeros(9, int)
        )
        map_body.python(m, s, 2 + body)
        on_path = np.zeros(n)
        on_path[path(above, i)] = 1
        expected = np.linalg.solve(L.T, on_path[:, None] * screws[before:])
        np.testing.assert_allclose(s.maps[6 * before :].reshape(n, 6), expected, atol=1e-10 * np.abs(expected).max())
        assert not s.maps[: 6 * before].any()
        assert s.is_mapped.tolist() == [k == 2 + body for k in range(9)]
        f, y = rng.normal(size=6), rng.normal(size=n)
        pushed = y.copy()
        act.python(m, s, 2 + body, -1.0, f, pushed)
        np.testing.assert_allclose(pushed, y - expected @ f, atol=1e-10 * max(1.0, np.abs(expected).max()))
