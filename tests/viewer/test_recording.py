"""Motions: what is accepted, what is refused, and moments between moments."""

from types import SimpleNamespace

import numpy as np
import pytest

import knuckle as kn
from knuckle.joints import Free, Joint, Revolute
from knuckle.model import Builder, solid_box
from knuckle.testing import general_chain
from knuckle.viewer.recording import Recording, recording, recordings, variable_names


def one_body(joint: Joint) -> kn.Model:
    b = Builder("one")
    b.body("body", joint=joint, inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    return b.build()


def turning() -> tuple[kn.Model, np.ndarray, np.ndarray, np.ndarray]:
    """A free body that turns and moves evenly, at uneven times."""
    model = one_body(Free())
    times = np.array([0.0, 0.3, 0.4, 1.0])
    v = np.array([0.5, -0.7, 0.9, 0.3, 0.2, -0.1])
    q = np.asarray(kn.integrate(model, np.broadcast_to(kn.neutral(model), (4, 7)), times[:, None] * v))
    return model, times, q, np.broadcast_to(v, (4, 6))


def test_between_moments_the_motion_goes_on_evenly():
    """On the manifold: a screw motion sampled at other times is the same screw motion."""
    model, times, q, v = turning()
    when = np.linspace(0.0, 1.0, 23)
    motion = Recording(model, times, q, v).at(when)
    expected = kn.integrate(model, np.broadcast_to(kn.neutral(model), (23, 7)), when[:, None] * v[0])
    assert np.allclose(motion.q, expected, atol=1e-14)
    assert motion.v is not None
    assert np.allclose(motion.v, v[0])


def test_a_jump_is_two_moments_of_one_time():
    model = general_chain(1)
    motion = Recording(model, [0.0, 1.0, 1.0, 2.0], [[0.0], [1.0], [3.0], [3.0]])
    assert np.allclose(motion.at([0.5, 1.0, 1.5, 2.0]).q[:, 0], [0.5, 3.0, 3.0, 3.0])
    ends = Recording(model, [0.0, 1.0, 1.0], [[0.0], [1.0], [3.0]])
    assert np.allclose(ends.at([1.0]).q, 3.0)


def test_thinning_keeps_the_ends_and_the_motion():
    model, times, q, v = turning()
    fine = Recording(model, times, q, v).at(np.linspace(0, 1, 1001))
    thin = fine.thinned(60.0)
    assert len(thin.times) == 61
    assert (thin.times[0], thin.times[-1]) == (0.0, 1.0)
    assert thin.thinned(60.0) is thin
    assert Recording(model, times[:1], q[:1]).thinned(60.0).at([0.0, 1.0]).q.shape == (1, 7)


def test_energies_and_names():
    model, times, q, v = turning()
    motion = Recording(model, times, q, v)
    energies = motion.energies()
    assert np.allclose(energies["kinetic"], kn.kinetic_energy(model, q, v))
    assert np.allclose(energies["total"], energies["kinetic"] + kn.potential_energy(model, q))
    assert set(Recording(model, times, q).energies()) == {"potential"}
    assert [unit for _, unit in variable_names(model)] == ["1"] * 4 + ["m"] * 3
    name = model.joint_names[0]
    assert variable_names(model)[4][0] == f"{name}.px"
    values = motion.joint_values()
    assert len(values) == 7
    assert np.array_equal(values[6][2], q[:, 6])


def test_mimic_joints_have_no_variable_of_their_own():
    b = Builder("three")
    for name, on in (("a", None), ("b", "a"), ("c", "b")):
        b.body(name, on=on, joint=Revolute("z"), at=(0.3, 0.0, 0.0), inertia=solid_box(2.0, (0.1, 0.2, 0.3)))
    b.mimic("c_joint", "a_joint", ratio=0.5)
    assert [name for name, _ in variable_names(b.build())] == ["a_joint", "b_joint"]


def test_what_can_be_shown():
    model, times, q, v = turning()
    assert recording((model, times, q)).v is None
    assert np.array_equal(recording((model, times, q, v)).v, v)
    assert recording(SimpleNamespace(model=model, times=times, q=q, v=v)).v is not None
    assert recording(SimpleNamespace(model=model, times=times, q=q)).v is None
    one = recording((model, times, q))
    assert recordings(one) == [one]
    assert len(recordings([(model, times, q), one])) == 2


def test_what_cannot():
    model, times, q, v = turning()
    with pytest.raises(ValueError, match=r"times has shape \(2, 2\); it needs one axis"):
        Recording(model, np.zeros((2, 2)), q)
    with pytest.raises(ValueError, match="never decrease"):
        Recording(model, times[::-1], q)
    with pytest.raises(ValueError, match="finite"):
        Recording(model, times * np.nan, q)
    with pytest.raises(ValueError, match=r"q has shape \(4, 6\);.* needs \(4, 7\)"):
        Recording(model, times, v)
    with pytest.raises(ValueError, match=r"v has shape \(4, 7\);.* needs \(4, 6\)"):
        Recording(model, times, q, q)
    wrong = q.copy()
    wrong[2, 0] = np.nan
    with pytest.raises(ValueError, match=r"q is not finite at t = 0\.4 s: show the part before that"):
        Recording(model, times, wrong)
    with pytest.raises(TypeError, match=r"a trajectory or a tuple .* is needed, not int"):
        recording(3)
    with pytest.raises(ValueError, match="nothing to show"):
        recordings([])
