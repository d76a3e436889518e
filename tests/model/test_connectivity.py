"""Trees by their parent arrays (RBDA 4.1, 6.4; inventory F-09 to F-12, D-02, D-05, E-12)."""

from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest

from knuckle.joints import Revolute, Universal
from knuckle.model import Body, Builder, Connection
from knuckle.model.connectivity import (
    ROOT,
    ancestors,
    children,
    expand_parents,
    is_regular,
    regular_numberings,
    spanning_tree,
    subtree,
)
from knuckle.spatial import Inertia

CRANK_SLIDER = [(ROOT, 0), (0, 1), (1, 2), (2, ROOT)]
"""Crank, connecting rod and slider in a ring with the base: NB = 3, NJ = 4, one loop."""


def tree_of(order: tuple[int, ...], parents: tuple[int, ...]) -> frozenset[frozenset[int]]:
    """The pairs of bodies that a numbering joins."""
    return frozenset(frozenset((body, order[p] if p != ROOT else ROOT)) for body, p in zip(order, parents, strict=True))


def random_parents(seed: int, n: int = 12) -> list[int]:
    rng = np.random.default_rng(seed)
    return [int(rng.integers(-1, i)) for i in range(n)]


def test_crank_slider_has_four_spanning_trees_and_eight_numberings() -> None:
    numberings = list(regular_numberings(3, CRANK_SLIDER))
    assert len(numberings) == len(set(numberings)) == 8
    assert all(is_regular(parents) for _, parents in numberings)
    per_tree = Counter(itertools.starmap(tree_of, numberings))
    assert sorted(per_tree.values()) == [1, 1, 3, 3]
    # the parent arrays of figure 4.5, (0, 1, 2) and (0, 0, 1) with the base as 0
    assert {(-1, 0, 1), (-1, -1, 0)} <= {parents for _, parents in numberings}


def test_cutting_the_ring_next_to_the_base_leaves_one_numbering() -> None:
    """The chain of three has one regular numbering; the tree of one and two bodies has three: 1, 3, 3, 1."""
    counts = {}
    for cut in range(4):
        edges = [edge for k, edge in enumerate(CRANK_SLIDER) if k != cut]
        counts[cut] = len(list(regular_numberings(3, edges)))
    assert [counts[k] for k in range(4)] == [1, 3, 3, 1]


def test_the_chosen_spanning_tree_is_the_flattest() -> None:
    order, parents, used = spanning_tree(3, CRANK_SLIDER)
    assert is_regular(parents)
    assert max(len(ancestors(parents, i)) for i in range(3)) == 2
    assert len(used) == 3
    assert tree_of(order, parents) <= {frozenset(edge) for edge in CRANK_SLIDER}


def test_spanning_tree_leaves_out_what_is_not_connected() -> None:
    order, _, _ = spanning_tree(4, [(ROOT, 0), (2, 3)])
    assert order == (0,)


def test_satellite_with_dish() -> None:
    """F-10: two bodies, a joint of two freedoms, nothing on the ground: 6 + n_s freedoms."""
    parts = [Body(name, Inertia.of(1.0, (0, 0, 0), np.eye(3).tolist())) for name in ("satellite", "dish")]
    model = Builder.from_graph(parts, [Connection("aim", Universal(), "satellite", "dish")]).build()
    assert (model.nb, model.nv, model.loops) == (2, 6 + 2, ())
    assert [type(joint.type).__name__ for joint in model.joints] == ["Free", "Universal"]


@pytest.mark.parametrize("seventh", [3, 5])
def test_the_tree_of_figure_4_6(seventh: int) -> None:
    """F-11 with bodies counted from 0; the parent of body 7 is lost in the figure, and nothing depends on it."""
    parents = [-1, 0, 0, -1, 2, 3, seventh, 3]
    assert is_regular(parents)
    assert [set(ancestors(parents, i)) for i in (0, 1, 2, 7)] == [{0}, {0, 1}, {0, 2}, {3, 7}]
    assert [set(children(parents, i)) for i in (ROOT, 0, 1, 7)] == [{0, 3}, {1, 2}, set(), set()]
    assert [set(subtree(parents, i)) for i in (0, 1, 7)] == [{0, 1, 2, 4}, {1}, {7}]


def test_expanded_parents_of_table_6_4() -> None:
    """F-12: λ = (0, 1, 1, 2, 2, 3), n_2 = 3: λ' = (0, 1, 2, 3, 1, 4, 4, 5), counted from 1."""
    assert expand_parents([-1, 0, 0, 1, 1, 2], [1, 3, 1, 1, 1, 1]) == (-1, 0, 1, 2, 0, 3, 3, 4)


def test_expansion_over_a_joint_without_freedom() -> None:
    """E-12: λ = (0, 0, 1, 3), n = (1, 1, 0, 1): the printed algorithm gives (0, 0, 2), right is (0, 0, 1)."""
    assert expand_parents([-1, -1, 0, 2], [1, 1, 0, 1]) == (-1, -1, 0)


def test_expansion_when_the_first_joints_have_no_freedom() -> None:
    assert expand_parents([-1, 0, 1], [0, 2, 0]) == (-1, 0)


@pytest.mark.parametrize("seed", range(30))
def test_identities_of_the_sets(seed: int) -> None:
    """D-05: μ ⊆ ν; j ∈ κ(i) ⇔ i ∈ ν(j); equation 4.3; ν(i) ∩ ν(j) is one of them or empty (6.9)."""
    parents = random_parents(seed)
    n = len(parents)
    kappa, nu = [set(ancestors(parents, i)) for i in range(n)], [set(subtree(parents, i)) for i in range(n)]
    assert set(subtree(parents, ROOT)) == set(range(n))
    for i in range(n):
        assert set(children(parents, i)) <= nu[i]
        for j in range(n):
            assert (j in kappa[i]) == (i in nu[j])
            assert nu[i] & nu[j] in (nu[i], nu[j], set())
    weight = np.random.default_rng(seed).integers(-9, 9, (n, n))
    by_support = sum(weight[i, j] for i in range(n) for j in kappa[i])
    by_subtree = sum(weight[i, j] for j in range(n) for i in nu[j])
    assert by_support == by_subtree


@pytest.mark.parametrize("seed", range(10))
def test_expanded_parents_are_those_of_a_tree_of_single_joints(seed: int) -> None:
    """λ' must give each variable the nearest variable towards the base: by brute force over κ."""
    rng = np.random.default_rng(seed)
    parents = random_parents(seed, 8)
    sizes = rng.integers(0, 4, 8).tolist()
    owner = [i for i, n in enumerate(sizes) for _ in range(n)]
    expected = []
    for k, i in enumerate(owner):
        towards_base = [m for m in range(k) if owner[m] in ancestors(parents, i)]
        expected.append(max(towards_base, key=lambda m: (len(ancestors(parents, owner[m])), m), default=-1))
    assert expand_parents(parents, sizes) == tuple(expected)


@pytest.mark.parametrize("parents", [[0], [-1, 1], [-1, -2], [1, -1]])
def test_irregular_numberings_are_seen(parents: list[int]) -> None:
    assert not is_regular(parents)


def test_a_reversed_tree_joint_keeps_its_parent_the_smaller_number() -> None:
    """D-05, λ(i) = min(p(i), s(i)): joint 2 is given from the outer body to the inner one."""
    parts = [Body(name, Inertia.zero()) for name in "ab"]
    joints = [Connection("one", Revolute("z"), "base", "a"), Connection("two", Revolute("z"), "b", "a")]
    model = Builder.from_graph(parts, joints).build()
    assert model.parents == (-1, 0)
    assert model.joints[1].type == Revolute("z").reversed()
