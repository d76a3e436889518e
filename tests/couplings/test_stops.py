"""Limits of joints that follow others: stops hold γ(y) within them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Revolute
from knuckle.model import Builder, Model, Powers, solid_box
from knuckle.scalar import sin
from knuckle.spatial import Vector
from knuckle.testing.compare import close

from ..seeds import quick

BOX = solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0.01, 0.02))
Q0, V0 = np.array([0.3, 0.1]), np.array([2.0, 1.0])


def limited(law: Any, to: Any, damping: float = 0.0) -> Model:
    """Two links and a third that follows; only its own range is limited, to ±0.5. There is no gravity."""
    b = Builder("limited", gravity=(0, 0, 0))
    for on, name in ((None, "a"), ("a", "b"), ("b", "c")):
        limits = (-0.5, 0.5) if name == "c" else None
        b.body(name, on=on, joint=Revolute("y"), at=(0.3, 0, 0), inertia=BOX, limits=limits, damping=damping)
    b.couple("c_joint", to, law)
    return b.build()


LAWS = {
    "ratio": (0.5, "a_joint"),
    "differential": ((0.5, 1.0), ("a_joint", "b_joint")),
    "curve": (Powers((0.0, 1.0, 0.5)), "a_joint"),
    "function": (lambda x, y: sin(x) + 0.5 * y, ("a_joint", "b_joint")),
}


@pytest.mark.parametrize("name", quick(LAWS, ["ratio", "function"]))
def test_rigid_stops_of_what_follows(name: str):
    """The follower comes to its limit, does not pass it, and bounces: no energy is lost with e = 1."""
    model = limited(*LAWS[name])
    motion = kn.simulate(model, Q0, V0, 0.8, joint_limits=kn.simulation.RigidStops(restitution=1.0))
    c = kn.couplings.tree_positions(model, motion.q)[:, 2]
    assert np.abs(c).max() < 0.5 + 1e-8
    assert np.abs(c).max() > 0.499
    assert any(event.kind == "impact" for event in motion.events)
    E = kn.kinetic_energy(model, motion.q, motion.v)
    assert np.abs(E - E[0]).max() < 1e-8 * E[0]


@pytest.mark.parametrize("name", quick(LAWS, ["differential"]))
def test_what_follows_rests_on_its_limit(name: str):
    """With e = 0 it stays there while forces press, and the others move on: γ(y) = 0.5 holds to rounding."""
    model = limited(*LAWS[name], damping=1.0)
    motion = kn.simulate(model, Q0, V0, 0.6, dt=2e-3, joint_limits="rigid", controller=[2.0, 1.0])
    c = kn.couplings.tree_positions(model, motion.q)[:, 2]
    np.testing.assert_allclose(c[-20:], 0.5, rtol=0, atol=1e-9)
    assert np.abs(motion.v[-1]).max() > 1e-3


@pytest.mark.parametrize("name", LAWS)
def test_compliant_stops_of_what_follows(name: str):
    """The force is that of a spring at the follower, −k (γ − 0.5) γ', in the independent variables."""
    law, to = LAWS[name]
    model = limited(law, to)
    stops = kn.simulation.CompliantStops(stiffness=2000.0, damping=0.0)
    q = np.array([1.2, 0.5])
    x = kn.couplings.tree_positions(model, q)[2]
    wanted = -2000.0 * max(x - 0.5, 0.0) * kn.couplings.matrix(model, q)[2]
    close([float(f) for f in stops.force(model, Vector(q.tolist()), Vector([0.1, 0.2]))], wanted, 10)
    motion = kn.simulate(model, Q0, V0, 0.8, joint_limits=stops)
    depth = kn.couplings.tree_positions(model, motion.q)[:, 2].max() - 0.5
    assert 0.0 < depth < 0.2
