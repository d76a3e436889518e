"""Where a model starts, and its keyframes, through every edit."""

from __future__ import annotations

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.joints import Free, InPlane, Prismatic, Revolute, Spherical, YawPitchRoll
from knuckle.model import Builder, Connection, Keyframe, Model, TreeJoint, edit, solid_box
from knuckle.testing import random_state

TURNED = (0.5, 0.5, -0.5, 0.5)
BOX = solid_box(1.0, (0.1, 0.2, 0.3))


def walker() -> Model:
    """A floating body with a leg, of which the toe follows the knee, and a head on a ball; and two keyframes."""
    b = Builder("walker")
    b.body("trunk", joint=Free(), joint_name="root", inertia=BOX, start=(*TURNED, 1.0, 2.0, 3.0))
    b.body("thigh", on="trunk", joint=Revolute("y"), joint_name="hip", at=(0, 0, -0.3), inertia=BOX, start=0.4)
    b.body("shank", on="thigh", joint=Revolute("y"), joint_name="knee", at=(0.1, 0, -0.3), inertia=BOX, start=[-0.8])
    b.body("toe", on="shank", joint=Revolute("x"), joint_name="toe", at=(0, 0, -0.3), inertia=BOX, start=0.1)
    b.body("head", on="trunk", joint=Spherical(), joint_name="neck", at=(0, 0, 0.3), inertia=BOX, start=TURNED)
    b.mimic("toe", "knee", ratio=-0.5)
    b.frame("eye", on="head", at=(0.1, 0, 0))
    model = b.build()
    s = random_state(model, 3)
    keys = (Keyframe("jump", tuple(s.q), tuple(s.v), (1.0, 2.0), 0.5), Keyframe("sit", model.start, (1.0,) * model.nv))
    return model.replace(keyframes=keys)


def same_place(old: Model, new: Model, q_old: object, q_new: object, names: tuple[str, ...]) -> None:
    for name in names:
        np.testing.assert_allclose(kn.pose(new, q_new, name), kn.pose(old, q_old, name), atol=1e-12, err_msg=name)


def test_neutral_is_the_start():
    model = walker()
    assert kn.neutral(model).tolist() == [*TURNED, 1, 2, 3, 0.4, -0.8, *TURNED]
    np.testing.assert_allclose(kn.pose(model, kn.neutral(model), "trunk")[:3, 3], [1, 2, 3])
    assert kn.simulate(model, None, None, 0.001).q[0].tolist() == kn.neutral(model).tolist()
    assert "keyframes: jump, sit" in str(kn.audit(model))


def test_without_a_start_a_joint_starts_neutral():
    joint = TreeJoint("j", Spherical(), -1)
    assert joint.start == (1.0, 0.0, 0.0, 0.0)
    assert TreeJoint("j", InPlane(Revolute("z")), -1, start=0.5).start == (0.5,)  # type: ignore[arg-type]
    assert joint == TreeJoint("j", Spherical(), -1, start=(1, 0, 0, 0))


@pytest.mark.parametrize(
    ("start", "words"),
    [
        ((1.0,), "needs 4 entries"),
        ((1.0, 1.0, 0.0, 0.0), "a quaternion of length 1"),
        ((np.nan, 0.0, 0.0, 0.0), "finite"),
        ("up", "start"),
    ],
)
def test_a_start_that_is_no_position_is_refused(start: object, words: str):
    b = Builder()
    with pytest.raises(ModelError, match=f"n: start.*{words}|n: start"):
        b.body("a", joint=Spherical(), joint_name="n", start=start)
    if start != "up":
        with pytest.raises(ValueError, match=f"joint 'n': start {words}|joint 'n': start needs {words}"):
            TreeJoint("n", Spherical(), -1, start=start)  # type: ignore[arg-type]


def test_keyframes_are_checked():
    model = walker()
    for wrong, words in (
        (Keyframe("k", (0.0,), (0.0,) * model.nv), "q of the keyframe has 1 entries; expected 13"),
        (Keyframe("k", model.start, ()), "v of the keyframe has 0 entries; expected 11"),
        (Keyframe("k", (np.inf,) * model.nq, (0.0,) * model.nv), "not finite"),
    ):
        with pytest.raises(ModelError, match=words):
            model.replace(keyframes=(wrong,))
    with pytest.raises(ModelError, match="two keyframes are called 'sit'"):
        model.replace(keyframes=model.keyframes[1:] * 2)


def test_couplings_come_and_go():
    model = walker()
    free = model.without_couplings()
    assert free.nq == 14
    assert kn.neutral(free)[9] == 0.1  # the toe's own
    for old, new in zip(model.keyframes, free.keyframes, strict=True):
        same_place(model, free, old.q, new.q, model.frame_names)
        np.testing.assert_allclose(
            kn.velocity(free, new.q, new.v, "toe"), kn.velocity(model, old.q, old.v, "toe"), atol=1e-12
        )
        assert (new.ctrl, new.time) == (old.ctrl, old.time)
    again = edit.couple(free, "toe", "knee", -0.5)
    assert again.keyframes == model.keyframes


def test_names_and_order():
    model = walker()
    renamed = edit.rename(model, joints=lambda name: f"left_{name}")
    assert (renamed.start, renamed.keyframes) == (model.start, model.keyframes)
    order = ("trunk", "head", "thigh", "shank", "toe")
    other = edit.permute(model, order)
    same_place(model, other, kn.neutral(model), kn.neutral(other), model.frame_names)
    for old, new in zip(model.keyframes, other.keyframes, strict=True):
        same_place(model, other, old.q, new.q, model.frame_names)
    assert edit.permute(other, model.body_names) == model


def test_parts_and_wholes():
    model = walker()
    head = edit.submodel(model, "head", moving=True)
    assert head.start == TURNED
    assert head.keyframes[0].q == model.keyframes[0].q[-4:]
    locked = edit.lock(model, {"hip": 0.4})
    assert locked.start == (*model.start[:7], *model.start[8:])
    assert locked.keyframes[1].q == locked.start
    same_place(model, locked, kn.neutral(model), kn.neutral(locked), model.frame_names)
    arm = kn.robots.load("arm").replace(keyframes=(Keyframe("sit", (0.1,) * 7, (0.2,) * 7, (9.0,)),))
    both = edit.merge(model, arm, onto="eye", prefix="its_")
    assert both.start == (*model.start, *(0.0,) * 7)
    assert [key.name for key in both.keyframes] == ["jump", "sit"]
    assert both.keyframe("sit").q == (*model.keyframes[1].q, *(0.1,) * 7)
    assert both.keyframe("jump").q[-7:] == (0.0,) * 7
    assert both.keyframe("sit").ctrl == (9.0,)


@pytest.mark.parametrize("body", ["shank", "head", "trunk"])
def test_another_root(body: str):
    """The mechanism stands and moves as it did, at the start and in every keyframe."""
    model = walker()
    new, states = kn.model.reroot(model, body)
    names = tuple(name for name in model.frame_names[1:] if name not in states.moved)
    same_place(model, new, kn.neutral(model), kn.neutral(new), names)
    assert len(new.keyframes) == 2
    for old, key in zip(model.keyframes, new.keyframes, strict=True):
        same_place(model, new, old.q, key.q, names)
        np.testing.assert_allclose(
            kn.velocity(new, key.q, key.v, "toe"), kn.velocity(model, old.q, old.v, "toe"), atol=1e-12
        )


def test_another_root_of_an_arm_stands_where_it_stood():
    arm = kn.robots.load("arm")
    new, _ = kn.model.reroot(arm, "flange")
    same_place(arm, new, kn.neutral(arm), kn.neutral(new), ("tool0",))
    np.testing.assert_allclose(kn.pose(new, kn.neutral(new), "base_link_origin"), np.eye(4), atol=1e-12)


def test_properties_of_one_joint():
    model = walker()
    assert edit.with_joint(model, "hip", start=0.9).joints[1].start == (0.9,)
    assert edit.with_joint(model, "hip", type=Prismatic("x")).joints[1].start == (0.4,)
    assert edit.with_joint(model, "hip", type=YawPitchRoll()).joints[1].start == (0.0, 0.0, 0.0)
    assert len(edit.with_joint(model, "hip", type=YawPitchRoll()).keyframe("sit").q) == model.nq + 2
    with pytest.raises(ModelError, match="hip: start needs 1 entries"):
        edit.with_joint(model, "hip", start=(1, 2))


def test_in_the_plane_from_a_graph_and_on_a_floating_base():
    bodies = [kn.model.Body("a", BOX)]
    b = Builder.from_graph(bodies, [Connection("j", Revolute("z"), "base", "a", start=0.7)])
    model = b.build().replace(keyframes=(Keyframe("k", (0.2,), (0.3,)),))
    flat = kn.model.to_planar(model)
    assert (flat.start, flat.keyframes) == ((0.7,), model.keyframes)
    floating = kn.formats.loads(kn.formats.to_json(model), base="floating")
    assert floating.start == (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.7)
    assert floating.keyframes[0].q == (1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.2)


def test_the_canonical_form_starts_where_the_model_does():
    from knuckle.model.canonical.canonical_form import canonical

    model = walker()
    form = canonical(model).model
    same_place(model, form, kn.neutral(model), kn.neutral(form), model.frame_names)
    assert form.keyframes == model.keyframes


def test_starts_are_part_of_what_a_model_is():
    model = walker()
    other = edit.with_joint(model, "hip", start=0.41)
    assert other != model
    assert other.content_hash != model.content_hash
    assert model.replace(keyframes=()) != model


def test_the_audit_looks_at_the_start():
    b = Builder()
    b.body("a", joint=Revolute("z"), joint_name="inside", inertia=BOX, limits=(1.0, 2.0), start=1.5)
    b.body("b", joint=Revolute("z"), joint_name="outside", inertia=BOX, limits=(1.0, 2.0))
    (note,) = (n for n in kn.audit(b.build()).infos if "outside the limits" in n.text)
    assert note.subject == "outside"
