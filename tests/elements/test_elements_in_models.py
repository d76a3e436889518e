"""Force elements as parts of models: built, edited, written, read, refused; and in simulations."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle import elements
from knuckle.elements import Bushing, Cable, Drag, Line, LinePoint, PointForce, Spring, TensionLaw
from knuckle.errors import ModelError
from knuckle.model import Model, edit
from knuckle.testing import random_state

from .elements_on_trees import random_with_elements, with_elements


def arm() -> kn.Builder:
    b = kn.Builder("arm", base="world")
    rod = kn.model.rod(1.0, 0.5, at=(0, 0, -0.25))
    b.body("upper", on="world", joint=kn.joints.Revolute("y"), inertia=rod)
    b.body("lower", on="upper", joint=kn.joints.Revolute("y"), at=(0, 0, -0.5), inertia=rod)
    b.frame("hand", on="lower", at=(0, 0, -0.5))
    return b


def test_a_spring_is_at_rest_where_the_mechanism_starts():
    b = arm()
    b.spring("spring", ("world", (0.3, 0.0, 0.0)), "hand", stiffness=20.0)
    model = b.build()
    q = kn.neutral(model)
    assert elements.lengths(model, q) == pytest.approx([np.hypot(0.3, 1.0)])
    assert elements.tensions(model, q, np.zeros(2)) == pytest.approx([0.0], abs=1e-13)
    assert elements.energies(model, q + 0.3)[0] > 0


@pytest.mark.parametrize("seed", range(3))
def test_edits_take_elements_along(seed: int):
    model = random_with_elements(seed)
    s = random_state(model, seed)
    expected = elements.joint_forces(model, s.q, s.v)
    order = list(model.body_names)
    for changed in (
        edit.merge_fixed(model),
        edit.permute(model, order),
        edit.rename(model, bodies=lambda name: f"x_{name}", elements=lambda name: f"y_{name}"),
        kn.formats.read_json(kn.formats.to_json(model)),
    ):
        assert len(changed.elements) == len(model.elements)
        np.testing.assert_allclose(elements.joint_forces(changed, s.q, s.v), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_another_root_makes_no_difference(seed: int):
    """Frames of bodies move with the root, and the points of elements do not."""
    model = random_with_elements(seed, types=["revolute", "prismatic", "spherical"])
    turned, states = kn.model.reroot(model, model.body_names[-1], base="floating")
    s = random_state(model, seed)
    q, v = (np.array(part, float) for part in states(s.q.tolist(), s.v.tolist()))
    np.testing.assert_allclose(elements.lengths(turned, q), elements.lengths(model, s.q), rtol=0, atol=1e-12)
    np.testing.assert_allclose(elements.tensions(turned, q, v), elements.tensions(model, s.q, s.v), rtol=0, atol=1e-11)
    np.testing.assert_allclose(elements.energies(turned, q), elements.energies(model, s.q), rtol=0, atol=1e-11)


def test_two_models_on_each_other():
    """Elements on the base of the second one stay where that base is now."""
    first, second = arm(), arm()
    first.spring("spring", "world", "hand", stiffness=1.0, rest=0.2)
    second.spring("spring", ("world", (0.1, 0, 0)), "hand", stiffness=2.0, rest=0.1)
    both = edit.merge(first.build(), second.build(), "hand", (0, 0, 0.05), prefix="b_")
    q, v = np.array([0.1, 0.2, 0.3, 0.4]), np.zeros(4)
    assert [x.name for x in both.elements] == ["spring", "b_spring"]
    expected = elements.lengths(second.build(), q[2:])[0]
    assert elements.lengths(both, q)[1] == pytest.approx(expected)
    plain = edit.rename(second.build(), bodies={"upper": "u", "lower": "l", "hand": "h"}, joints=lambda n: f"b_{n}")
    plain = edit.rename(plain, elements={"spring": "other"})
    nameless = edit.merge(first.build(), plain, "hand", (0, 0, 0.05))
    assert elements.lengths(nameless, q)[1] == pytest.approx(expected)
    np.testing.assert_allclose(elements.joint_forces(nameless, q, v), elements.joint_forces(both, q, v), atol=1e-12)


def test_a_part_of_a_model_keeps_what_lies_in_it():
    b = arm()
    b.spring("inside", "upper", "hand", stiffness=1.0)
    b.spring("across", "world", "hand", stiffness=1.0)
    part = edit.submodel(b.build(), "upper")
    assert [x.name for x in part.elements] == ["inside"]
    assert any("across" in note.subject for note in part.provenance.notes)


def test_a_floating_base_takes_elements_along(tmp_path: Any):
    b = arm()
    b.spring("spring", ("world", (0.1, 0.2, 0.3)), "hand", stiffness=1.0)
    model = b.build()
    kn.save(model, tmp_path / "arm.json")
    there = kn.load(tmp_path / "arm.json", base="floating")
    q = kn.neutral(there)
    assert elements.lengths(there, q) == pytest.approx(elements.lengths(model, kn.neutral(model)))
    f = elements.wrenches(there, q + 0 * q, np.zeros(there.nv))
    assert f.shape == (3, 6)


@dataclass(frozen=True)
class Cubic(TensionLaw):
    """A law of a user's own."""

    factor: float

    def tension(self, length: Any, rate: Any) -> Any:
        return self.factor * length * length * length

    def energy(self, length: Any) -> Any:
        return self.factor * length * length * length * length / 4


def test_a_law_of_ones_own():
    b = arm()
    b.line("cubic", ["world", ("upper", (0.1, 0, 0)), "hand"], Cubic(3.0))
    model = b.build()
    q, v = np.array([0.4, 0.5]), np.array([0.3, -0.2])
    slope = [np.imag(kn.potential_energy(model.with_gravity((0, 0, 0)), q + 1e-30j * e)) / 1e-30 for e in np.eye(2)]
    assert elements.joint_forces(model, q, v) == pytest.approx(-np.array(slope), rel=1e-12)
    again = kn.formats.read_json(kn.formats.to_json(model), joint_types=[Cubic])
    assert again == model
    motion = kn.simulate(model, q, v, 0.5)
    assert motion.energy == pytest.approx(np.full(len(motion.times), motion.energy[0]), abs=1e-6)


def test_what_is_refused():
    b = arm()
    with pytest.raises(ModelError, match="no body or frame added so far is; did you mean 'hand'"):
        b.spring("s", "world", "hnd", stiffness=1.0)
    with pytest.raises(ModelError, match="stiffness of a Spring is a finite number, zero or more, not -1"):
        b.spring("s", "world", "hand", stiffness=-1.0)
    with pytest.raises(ModelError, match="needs two points or more, and has 1"):
        b.cable("c", ["hand"], stiffness=1.0)
    with pytest.raises(ModelError, match="six finite numbers"):
        b.bushing("b", "world", "hand", stiffness=(1.0, 2.0))
    with pytest.raises(ModelError, match="three finite numbers, zero or more"):
        b.drag("d", "hand", linear=(-1.0, 0.0, 0.0))
    with pytest.raises(ModelError, match='"base" or "body"'):
        b.point_force("p", "hand", (1, 2, 3), axes="world")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="force"):
        b.point_force("p", "hand", (1, 2, float("nan")))
    b.spring("s", "world", "hand", stiffness=1.0)
    with pytest.raises(ModelError, match="called 's' already"):
        b.drag("s", "hand", linear=1.0)
    with pytest.raises(ModelError, match=r"needs one of kn\.elements"):
        b.element("s")  # type: ignore[arg-type]
    model = b.build()
    with pytest.raises(ModelError, match="no body or frame is called 'foot'"):
        model.replace(elements=(Drag("d", "foot"),))
    with pytest.raises(ModelError, match="two elements are called"):
        model.replace(elements=(Drag("d", "hand"), Drag("d", "hand")))


def test_files_that_have_no_word_for_elements_say_so():
    b = arm()
    b.drag("drag", "hand", linear=1.0)
    model = b.build()
    with pytest.raises(ModelError, match=r"drag: URDF cannot say: a force element \(Drag\)"):
        kn.formats.to_urdf(model)


def test_wrong_files_name_the_place():
    b = arm()
    b.point_force("push", "hand", (1, 0, 0))
    text = kn.formats.to_json(b.build())
    with pytest.raises(ModelError, match=r"elements\[0\]"):
        kn.formats.read_json(text.replace('"PointForce"', '"PointForces"'))
    with pytest.raises(ModelError, match="hand"):
        kn.formats.read_json(text.replace('"frame": "hand"', '"frame": "foot"'))


def test_a_model_tells_of_them():
    b = arm()
    b.spring("spring", "world", "hand", stiffness=1.0)
    assert "force elements: 1" in str(kn.audit(b.build()))


def sprung(stiffness: float) -> Model:
    b = arm()
    b.spring("spring", ("world", (0.3, 0.0, 0.0)), "hand", stiffness=stiffness, damping=0.0)
    return b.build()


def test_energy_is_kept_in_simulations():
    model = sprung(200.0)
    q, v = np.array([0.8, -0.5]), np.array([1.0, 2.0])
    motion = kn.simulate(model, q, v, 2.0, dt=1e-3, integrator="rk4")
    assert np.abs(motion.energy - motion.energy[0]).max() < 1e-6 * np.abs(motion.energy).max()
    kept = kn.simulate(model, q, v, 20.0, dt=5e-3, integrator="variational")
    assert np.abs(kept.energy - kept.energy[0]).max() < 2e-2 * np.abs(kept.kinetic_energy).max()


@pytest.mark.parametrize(("integrator", "order"), [("euler", 1), ("implicit", 1), ("bdf1", 1), ("bdf2", 2), ("rk4", 4)])
def test_integrators_keep_their_order(integrator: str, order: int):
    model = replace_damping(sprung(50.0), 0.5)
    q, v = np.array([0.8, -0.5]), np.array([1.0, 2.0])
    exact = kn.simulate(model, q, v, 0.4, dt=5e-4, integrator="rk4").q[-1]
    coarse, fine = (
        np.abs(kn.simulate(model, q, v, 0.4, dt=dt, integrator=integrator).q[-1] - exact).max() for dt in (8e-3, 4e-3)
    )
    assert np.log2(coarse / fine) == pytest.approx(order, abs=0.25)


def replace_damping(model: Model, damping: float) -> Model:
    line = model.elements[0]
    assert isinstance(line, Line)
    assert isinstance(line.law, Spring)
    return model.replace(elements=(replace(line, law=replace(line.law, damping=damping)),))


def test_stiff_springs_choose_the_steps():
    """As stiff joints do: by default a simulation copes, and says how."""
    model = replace_damping(sprung(2e6), 100.0)
    motion = kn.simulate(model, np.array([0.02, 0.01]), None, 0.05)
    assert "stiff" in motion.message
    fine = kn.simulate(model, np.array([0.02, 0.01]), None, 0.05, dt=1e-5, integrator="rk4")
    assert np.abs(motion.q[-1] - fine.q[-1]).max() < 1e-3


def test_rollouts_do_what_simulations_do():
    model = with_elements(arm().build(), 4)
    q, v = np.array([[0.3, 0.2], [0.5, -0.4]]), np.array([[1.0, 0.0], [0.0, -1.0]])
    together = kn.rollout(model, q, v, duration=0.3, dt=1e-3, integrator="rk4")
    for k in range(2):
        alone = kn.simulate(model, q[k], v[k], 0.3, dt=1e-3, integrator="rk4")
        np.testing.assert_allclose(together.q[k, -1], alone.q[-1], rtol=0, atol=1e-11)


def test_kinds_of_elements_are_frozen_data():
    made = (
        Line("a", (LinePoint("x"), LinePoint("y")), Cable(1.0)),
        Bushing("b", "x", "y", (1.0,) * 6),
        Drag("c", "x", 1.0, 2.0),  # type: ignore[arg-type]
        PointForce("d", LinePoint("x"), (1.0, 2.0, 3.0)),
    )
    assert all(hash(x) == hash(replace(x)) and x == replace(x) for x in made)
    assert made[2].linear == (1.0, 1.0, 1.0)
