"""Sliders stand for positions, one to one."""

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Cylindrical, Free, Joint, Planar, Prismatic, Revolute, Spherical
from knuckle.model import Builder, solid_box
from knuckle.model.labels import velocity_labels
from knuckle.testing import general_chain, random_tree
from knuckle.viewer.controls.sliders import is_plain, position_of, sliders, values_of


def one_body(joint: Joint) -> kn.Model:
    b = Builder("one")
    b.body("body", joint=joint, inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    return b.build()


@pytest.mark.parametrize("seed", range(4))
def test_values_and_positions_are_one_to_one(seed: int):
    model = random_tree(seed, 6)
    q = kn.random_configuration(model, seed)
    again = position_of(model, values_of(model, q))
    assert np.allclose(kn.body_poses(model, again), kn.body_poses(model, q), atol=1e-10)


def test_ranges_are_the_limits():
    arm = kn.robots.load("arm")
    made = sliders(arm)
    assert [s.name for s in made] == list(arm.joint_names)
    assert [(s.low, s.high) for s in made] == [(j.limits.lower[0], j.limits.upper[0]) for j in arm.joints]
    assert [s.unit for s in made] == ["rad"] * 7


def test_without_limits_there_is_a_turn_and_a_metre():
    (turn,), (shift,) = sliders(one_body(Revolute("z"))), sliders(one_body(Prismatic("x")))
    assert (turn.unit, turn.low, turn.high) == ("rad", -np.pi, np.pi)
    assert (shift.unit, shift.low, shift.high) == ("m", -1.0, 1.0)


def test_a_free_joint_has_turns_and_shifts():
    model = one_body(Free())
    assert [s.name for s in sliders(model)] == list(velocity_labels(model)), "as plots and files call them"
    assert [s.name.rpartition(".")[2] for s in sliders(model)] == ["wx", "wy", "wz", "vx", "vy", "vz"]
    q = position_of(model, np.array([0, 0, 0, 0.1, 0.2, 0.3]))
    assert np.allclose(q, [1, 0, 0, 0, 0.1, 0.2, 0.3])


def test_angles_beyond_half_a_turn_stay_what_they_are():
    model = general_chain(2)
    q = np.array([4.0, -5.0])
    assert np.array_equal(values_of(model, q), q)
    assert np.array_equal(position_of(model, q), q)


def test_plain_joints():
    assert is_plain(Revolute("z"))
    assert is_plain(Cylindrical("z"))
    assert not is_plain(Planar())
    assert not is_plain(Spherical())
    assert not is_plain(Free())


def test_mimic_joints_have_no_slider():
    b = Builder("three")
    for name, on in (("a", None), ("b", "a"), ("c", "b")):
        b.body(name, on=on, joint=Revolute("z"), at=(0.3, 0.0, 0.0), inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    b.mimic("c_joint", "a_joint", ratio=0.5)
    assert [s.variable for s in sliders(b.build())] == [0, 1]
