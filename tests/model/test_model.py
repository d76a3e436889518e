"""The model as a value: equality, hash, pickle, immutability, and the rules it checks (RBDA 4.1.2)."""

from __future__ import annotations

import dataclasses
import os
import pickle
import subprocess
import sys

import pytest

import knuckle as kn
from knuckle.joints import Driven, Fixed, Prismatic, Revolute, Sinusoid, Spherical
from knuckle.model import (
    Body,
    Builder,
    Frame,
    LoopJoint,
    Model,
    Note,
    Provenance,
    TreeJoint,
    audit,
    edit,
    mimic,
    solid_box,
    to_planar,
)
from knuckle.spatial import Inertia, Transform
from knuckle.testing import random_tree

MAKE = """
from knuckle.testing import random_tree
print(random_tree(3, nb=6).content_hash)
"""


def arm(mass: float = 1.0) -> Model:
    b = Builder("arm")
    b.body("upper", joint=Revolute("y"), inertia=solid_box(mass, (0.1, 0.1, 0.4)))
    b.body("lower", "upper", Prismatic("z"), (0, 0, 1), mass=2.0, inertia=(1, 1, 1))
    b.frame("tip", "lower", (0, 0, 2))
    return b.build()


def test_equal_models_are_equal_and_hash_alike() -> None:
    assert arm() == arm()
    assert hash(arm()) == hash(arm())
    assert arm().content_hash == arm().content_hash
    assert arm() != arm(1.5)
    assert arm().content_hash != arm(1.5).content_hash


def test_equality_looks_through_the_kind_of_number() -> None:
    """Structural ones, ints and floats of the same value are the same model, hash included."""
    one, other = (
        Model((Body("a", Inertia(m, (z, z, z), Inertia.zero().I)),), (TreeJoint("j", Revolute("z"), -1),))
        for m, z in ((2, 0), (2.0, -0.0))
    )
    assert one == other
    assert hash(one) == hash(other)
    assert one.content_hash == other.content_hash


@pytest.mark.parametrize(
    "change",
    [
        {"gravity": (0.0, 0.0, -1.62)},
        {"frames": ()},
        {"base": Body("base", solid_box(1.0, (1, 1, 1)))},
        {"loops": (LoopJoint("l", Revolute("z"), 0, 1),)},
    ],
)
def test_every_part_counts(change: dict[str, object]) -> None:
    model, other = arm(), arm().replace(**change)
    assert model != other
    assert model.content_hash != other.content_hash


def test_provenance_does_not_count() -> None:
    noted = arm().replace(provenance=Provenance("a.urdf", "urdf", (Note("info", "x", "y"),)))
    assert noted == arm()
    assert noted.content_hash == arm().content_hash


def test_the_algebra_counts() -> None:
    b = Builder(gravity=(0, 0, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    model = b.build()
    assert to_planar(model) != model
    assert to_planar(model).content_hash != model.content_hash


@pytest.mark.slow
def test_the_content_hash_is_the_same_in_another_process() -> None:
    """Python salts its own hashes anew in every process; this one must not follow."""
    found = {
        subprocess.run(
            [sys.executable, "-c", MAKE],
            capture_output=True,
            text=True,
            check=True,
            env={**os.environ, "PYTHONHASHSEED": seed},
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert found == {random_tree(3, nb=6).content_hash}


@pytest.mark.parametrize("seed", range(5))
def test_pickle_brings_back_the_same_model(seed: int) -> None:
    model = random_tree(seed, nb=8)
    again = pickle.loads(pickle.dumps(model))
    assert again == model
    assert again.content_hash == model.content_hash
    assert again.algebra is model.algebra


def test_a_planar_model_pickles_too() -> None:
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    flat = to_planar(b.build())
    again = pickle.loads(pickle.dumps(flat))
    assert again == flat
    assert again.algebra is flat.algebra


def test_nothing_can_be_changed_in_place() -> None:
    model = arm()
    for owner, name in ((model, "gravity"), (model.bodies[0], "name"), (model.joints[0], "damping")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(owner, name, None)
    assert isinstance(model.bodies, tuple)


def test_edits_leave_their_argument_alone() -> None:
    model = arm()
    before = model.content_hash
    edit.lock(model, {"upper_joint": 0.3})
    edit.attach(model, "tip", solid_box(1.0, (1, 1, 1)))
    kn.model.reroot(model, "lower", "fixed")
    audit(model)
    assert model.content_hash == before


def body(name: str) -> Body:
    return Body(name, Inertia.zero())


def joint(name: str, parent: int, kind: object = None) -> TreeJoint:
    return TreeJoint(name, kind or Revolute("z"), parent)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("bodies", "joints", "others", "message"),
    [
        (("a", "b"), (("i", -1),), {}, "2 bodies but 1 tree joints"),
        (("a", "b"), (("i", 1), ("j", -1)), {}, "parent 1 of body 0 is not numbered before it"),
        (("a", "b"), (("i", -2), ("j", -1)), {}, "parent -2 of body 0"),
        (("a", "a"), (("i", -1), ("j", -1)), {}, "two frames are called 'a'"),
        (("a", "b"), (("i", -1), ("i", -1)), {}, "two joints are called 'i'"),
        (("a",), (("i", -1),), {"frames": (Frame("base", 0),)}, "two frames are called 'base'"),
        (("a",), (("i", -1),), {"frames": (Frame("f", 1),)}, "body 1 does not exist"),
        (("a",), (("i", -1),), {"loops": (LoopJoint("i", Fixed(), 0, -1),)}, "two joints are called 'i'"),
        (("a",), (("i", -1),), {"loops": (LoopJoint("l", Fixed(), 3, -1),)}, "body 3 does not exist"),
        (("a",), (("i", -1),), {"couplings": (mimic(0, 0),)}, "independent source"),
        (("a", "b"), (("i", -1), ("j", -1)), {"couplings": (mimic(0, 1), mimic(0, 1))}, "by two laws"),
        (("a", "b"), (("i", -1), ("j", -1)), {"couplings": (mimic(0, 5),)}, "joint 5, which does not exist"),
    ],
)
def test_what_a_model_refuses(
    bodies: tuple[str, ...], joints: tuple[tuple[str, int], ...], others: dict[str, object], message: str
) -> None:
    with pytest.raises(kn.ModelError, match=message):
        Model(tuple(map(body, bodies)), tuple(joint(*j) for j in joints), **others)  # type: ignore[arg-type]


def test_only_joints_of_one_freedom_mimic() -> None:
    with pytest.raises(kn.ModelError, match="one freedom"):
        Model((body("a"), body("b")), (joint("i", -1), joint("j", -1, Spherical())), couplings=(mimic(1, 0),))


def test_properties_need_an_entry_per_freedom() -> None:
    with pytest.raises(ValueError, match="'j': damping needs 3 entries"):
        TreeJoint("j", Spherical(), -1, damping=(1.0, 2.0))


def test_unknown_names_come_with_the_nearest_known() -> None:
    with pytest.raises(KeyError, match="did you mean 'upper'"):
        arm().body_index("uper")
    with pytest.raises(KeyError, match="no joint is called 'elbow'"):
        arm().joint_index("elbow")
    with pytest.raises(KeyError, match="no frame is called"):
        arm().frame("zzz")


def test_frames_of_a_planar_model_are_planar() -> None:
    b = Builder(gravity=(0, -9.81, 0))
    b.body("a", joint=Revolute("z"), mass=1.0)
    b.frame("f", "a", (1, 2, 0))
    flat = to_planar(b.build())
    for name in ("base", "a", "f"):
        assert isinstance(flat.frame(name).X, flat.algebra.Transform)


def test_loop_joints_follow_time_too() -> None:
    loop = LoopJoint("l", Driven(Revolute("z"), Sinusoid(0.5, 2.0)), 0, 1)
    now = arm().replace(loops=(loop,)).at_time(0.25)
    assert now.loops[0].type == loop.type.at_time(0.25) != loop.type


def test_mimic_variables() -> None:
    b = Builder()
    for name in "abc":
        b.body(name, joint=Revolute("z"), mass=1.0)
    b.mimic("a_joint", "c_joint", ratio=-2.0, offset=0.25)
    model = b.build()
    assert (model.nq, model.nv) == (2, 2)
    assert [x[0] for x in model.positions([0.5, 3.0])] == [-2.0 * 3.0 + 0.25, 0.5, 3.0]
    assert [x[0] for x in model.velocities([0.5, 3.0], [0.5, 3.0])] == [-6.0, 0.5, 3.0]
    assert model.without_couplings().nq == 3


def test_transforms_of_a_model_are_exact_where_they_are_simple() -> None:
    """Structural zeros survive building, so that they cost nothing later."""
    X = arm().joints[1].X_tree
    assert repr(X) == repr(Transform.translation((0, 0, 1)))
