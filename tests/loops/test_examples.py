"""The worked examples of RBDA chapter 8 (X5 to X10)."""

import math

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Builder, solid_box
from knuckle.model.loop_clusters import clusters
from knuckle.testing.loops.linkages import ladder

L1, L2 = 0.7, 0.45
BOX = solid_box(1.0, (0.3, 0.1, 0.05), at=(0.1, 0.02, 0.01))


def piston_arm() -> kn.Model:
    """Figure 8.3: a shoulder moved by a piston whose other end is on the base, and a joint further out."""
    b = Builder("piston arm", gravity=(0, -9.81, 0))
    b.body("upper", joint=Revolute("z"), inertia=BOX, joint_name="q1")
    b.body("cylinder", joint=Revolute("z"), at=(L1, 0, 0), inertia=BOX, joint_name="q2")
    b.body("piston", on="cylinder", joint=Prismatic("x"), inertia=BOX, joint_name="q3")
    b.body("lower", on="upper", joint=Revolute("z"), at=(0.8, 0, 0), inertia=BOX, joint_name="q4")
    b.close_loop("pin", Revolute("z"), "piston", "upper", (0, 0, 0), (L2, 0, 0))
    return b.build()


def gamma(y1: float, y2: float) -> np.ndarray:
    d = math.sqrt(L1**2 + L2**2 - 2 * L1 * L2 * math.cos(y1))
    return np.array([y1, math.atan2(L2 * math.sin(y1), L2 * math.cos(y1) - L1), d, y2])


@pytest.mark.parametrize("y1", [0.3, 1.2, 2.5, -0.8])
def test_piston_arm(y1: float):
    """X5: G and g as printed."""
    model, q = piston_arm(), gamma(y1, 0.4)
    assert np.abs(kn.loops.gap(model, q)).max() < 1e-7
    rate = np.array([0.9, -0.6])
    d = q[2]
    u1 = (L2**2 - L1 * L2 * math.cos(y1)) / d**2
    u2 = L1 * L2 * math.sin(y1) / d
    u3 = (L1**2 - L2**2) * L1 * L2 * math.sin(y1) / d**4 * rate[0] ** 2
    u4 = (L1 * L2 * math.cos(y1) - u2**2) / d * rate[0] ** 2
    choice = kn.loops.independent_variables(model, q, joints=["q1", "q4"])
    G = kn.loops.null_space(model, q, choice=choice)
    np.testing.assert_allclose(G, [[1, 0], [u1, 0], [u2, 0], [0, 1]], atol=1e-12)
    g = kn.loops.null_space_bias(model, q, G @ rate, choice=choice)
    np.testing.assert_allclose(g, [0, u3, u4, 0], atol=1e-11)


def test_actuators_of_the_piston_arm():
    """X6: with drives at the piston and the outer joint, u = [[1/u2, u1/u2, 1, 0], [0, 0, 0, 1]] τ_ID."""
    model, q = piston_arm(), gamma(1.2, 0.4)
    d = q[2]
    u1, u2 = (L2**2 - L1 * L2 * math.cos(1.2)) / d**2, L1 * L2 * math.sin(1.2) / d
    choice = kn.loops.independent_variables(model, q, joints=["q1", "q4"])
    G = kn.loops.null_space(model, q, choice=choice)
    v = G @ [0.9, -0.6]
    a = G @ [0.3, 0.8] + kn.loops.null_space_bias(model, q, v, choice=choice)
    tau = kn.inverse_dynamics(model.without_loops(), q, v, a)
    u = np.array([[1 / u2, u1 / u2, 1, 0], [0, 0, 0, 1]]) @ tau
    np.testing.assert_allclose(kn.forward_dynamics(model, q, v, [0, 0, u[0], u[1]]), a, atol=1e-10)


def test_clusters_of_figure_8_1():
    """X9: twenty tree joints and four loops, the first two coupled: clusters of joints 3-7, 10-12 and 19-20."""
    parents = [0, 1, 2, 3, 2, 5, 5, 1, 8, 9, 10, 9, 8, 13, 14, 14, 0, 17, 18, 18]  # of bodies 1 … 20; 0 is the base
    b = Builder("figure 8.1")
    for k, parent in enumerate(parents, start=1):
        b.body(f"b{k}", on=f"b{parent}" if parent else "base", joint=Revolute("z"), at=(1, 0, 0), inertia=BOX)
    for k, (p, s) in enumerate([(4, 6), (3, 7), (11, 12), (19, 20)], start=21):
        b.close_loop(f"j{k}", Revolute("z"), f"b{p}", f"b{s}")
    found = clusters(b.build())
    assert [c.loops for c in found] == [(0, 1), (2,), (3,)]
    assert [tuple(j + 1 for j in c.joints) for c in found] == [(3, 4, 5, 6, 7), (10, 11, 12), (19, 20)]


def test_clusters_make_the_equations_fall_apart():
    """K has no entry outside the joints of a loop's cluster (RBDA 8.9)."""
    made = ladder(3)
    model = made.model
    (only,) = clusters(model)
    K = kn.loops.jacobian(model, made.q)
    touched = {i for i in range(model.nb) if np.abs(K[:, model.v_slices[i]]).max() > 0}
    assert touched <= set(only.joints)
    assert touched
