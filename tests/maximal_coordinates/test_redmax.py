"""RedMax's matrices (notes 2.1-2.6): what reduced coordinates have follows from bodies in maximal ones and from J."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import Builder, solid_box
from knuckle.testing import random_state, random_tree


def inertias(model: kn.Model) -> np.ndarray:
    M = np.zeros((6 * model.nb, 6 * model.nb))
    for i, I in enumerate(model.I):
        M[6 * i : 6 * i + 6, 6 * i : 6 * i + 6] = [[float(x) for x in row] for row in I.matrix.rows]
    return M


@pytest.mark.parametrize("seed", [1, 2])
def test_the_equation_of_motion_is_that_of_the_bodies_through_j(seed: int):
    """JᵀMJ q̈ = Jᵀ(f − M J̇ q̇) (notes 2.12-2.17), with f of bodies that are free."""
    model = random_tree(seed, nb=4, types=["revolute", "spherical", "prismatic"], resistance=False).replace(
        couplings=()
    )
    state = random_state(model, seed)
    q, v = np.array(state.q), np.array(state.v)
    J, rate, M = (
        kn.jacobian_products.body_jacobian(model, q),
        kn.jacobian_products.body_jacobian_rate(model, q, v),
        inertias(model),
    )
    free = kn.maximal(model, drop=["rotor_inertia", "limits"]).without_loops()
    f = -kn.bias_force(free, *kn.maximal_state(model, q, v))
    rotors = np.diag([float(x) for joint in model.joints for x in joint.rotor_inertia])
    np.testing.assert_allclose(J.T @ M @ J + rotors, kn.mass_matrix(model, q), atol=1e-11)
    np.testing.assert_allclose(J.T @ (f - M @ rate @ v), -kn.bias_force(model, q, v), atol=1e-10)


def test_hyper_reduced_coordinates_are_couplings():
    """Notes 2.76-2.79: q = f(y) with J_rR = ∂f/∂y takes M_r to J_rRᵀ M_r J_rR."""

    def built(coupled: bool) -> kn.Model:
        b, last = Builder("finger"), None
        for i in range(3):
            last = b.body(
                f"bone{i}",
                last,
                Revolute("y"),
                (0, 0, 0.1 * (i > 0)),
                inertia=solid_box(0.1, (0.02, 0.02, 0.1), at=(0, 0, 0.05)),
            )
        if coupled:
            b.mimic("bone1_joint", "bone0_joint", ratio=0.5)
            b.mimic("bone2_joint", "bone0_joint", ratio=0.25)
        return b.build()

    hyper, reduced = built(True), built(False)
    to_reduced = np.array([[1.0], [0.5], [0.25]])
    y, dy = np.array([0.7]), np.array([1.3])
    q, v = to_reduced @ y, to_reduced @ dy
    np.testing.assert_allclose(
        kn.mass_matrix(hyper, y), to_reduced.T @ kn.mass_matrix(reduced, q) @ to_reduced, atol=1e-14
    )
    np.testing.assert_allclose(kn.bias_force(hyper, y, dy), to_reduced.T @ kn.bias_force(reduced, q, v), atol=1e-14)
    bodies = kn.jacobian_products.body_jacobian(hyper, y)
    np.testing.assert_allclose(bodies, kn.jacobian_products.body_jacobian(reduced, q) @ to_reduced, atol=1e-15)


def test_the_page_of_the_notes_names_what_there_is():
    """Every test and every function of docs/book/sueda.md, and every section of the notes from 1.1 to 2.13."""
    root = Path(__file__).parents[2]
    page = (root / "docs" / "book" / "sueda.md").read_text("utf-8")
    last = ""
    for file, _, name in re.findall(r"`(tests/[\w/]+\.py)?(::(\w+))?`", page):
        last = file or last
        if not (file or name):
            continue
        assert (root / last).exists(), last
        assert not name or f"def {name}(" in (root / last).read_text("utf-8"), (last, name)
    for name in re.findall(r"`(knuckle(?:\.\w+)+)", page):
        found = importlib.import_module("knuckle")
        path = name.split(".")[1:]
        for k, part in enumerate(path):
            if not hasattr(found, part):
                found = importlib.import_module(".".join(["knuckle", *path[: k + 1]]))
            else:
                found = getattr(found, part)
    sections = page.partition("## What is different")[0]
    ranges = re.findall(r"^\| (\d)\.(\d+)(?:-\1\.(\d+))?,", sections, re.MULTILINE)
    there = {(int(a), k) for a, first, end in ranges for k in range(int(first), int(end or first) + 1)}
    assert there >= {(1, k) for k in range(1, 14)} | {(2, k) for k in range(1, 14)}
