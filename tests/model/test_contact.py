"""Surfaces, ground and terrain, which shapes may touch, and what edits do with all of that."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.joints import Free, Prismatic, Revolute, Spherical
from knuckle.model import (
    Body,
    Box,
    Builder,
    ContactRules,
    Geometry,
    HeightField,
    Model,
    Plane,
    Sphere,
    Surface,
    SurfacePair,
    contact_candidates,
    edit,
    solid_box,
)
from knuckle.spatial import Inertia
from knuckle.testing import random_state

CUBE = solid_box(1.0, (1.0, 1.0, 1.0))


def crawler() -> Builder:
    """A free trunk with a leg of two links and a foot welded to it, on ice."""
    b = Builder("crawler", base="world")
    b.surface("rubber", friction=0.9, torsional=0.01, restitution=0.1)
    b.surface("ice", friction=0.1, stiffness=1e5, damping=100.0)
    b.surface_pair("rubber", "ice", friction=0.4)
    b.ground(surface="ice")
    b.body("trunk", joint=Free(), inertia=CUBE, collisions=Box((1.0, 1.0, 1.0)))
    b.body("thigh", on="trunk", joint=Revolute("y"), inertia=CUBE, collisions=Sphere(0.1))
    b.body("shank", on="thigh", joint=Revolute("y"), inertia=CUBE, collisions=Sphere(0.1))
    b.body(
        "foot",
        on="shank",
        inertia=CUBE,
        collisions=[Sphere(0.1), Geometry(Sphere(0.2), surface="ice")],
        surface="rubber",
    )
    return b


def touching(model: Model) -> list[tuple[str, str]]:
    names = {-1: model.base.name, **dict(enumerate(model.body_names))}
    return [(names[a.body], names[b.body]) for a, b in contact_candidates(model)]


# surfaces


def test_of_two_surfaces_the_larger_coefficients_count_and_springs_are_in_series() -> None:
    one = Surface("one", 0.5, 0.1, 0.0, 0.2, stiffness=300.0, damping=30.0)
    two = Surface("two", 0.4, 0.2, 0.1, 0.3, stiffness=600.0)
    both = one.against(two)
    assert (both.friction, both.torsional, both.rolling, both.restitution) == (0.5, 0.2, 0.1, 0.3)
    assert both.stiffness == pytest.approx(200.0)
    assert both.damping == 30.0
    assert dataclasses.replace(two.against(one), name="") == dataclasses.replace(both, name="")


def test_a_pair_takes_what_it_is_not_given_from_its_surfaces() -> None:
    rules = crawler().build().contact
    here = rules.between("ice", "rubber")
    assert here == Surface("rubber on ice", 0.4, 0.01, 0.0, 0.1, 1e5, 100.0)
    assert rules.between("rubber", "rubber").friction == 0.9


def test_the_default_surface_can_be_given() -> None:
    b = crawler()
    b.surface("default", friction=0.2)
    model = b.build()
    assert model.contact.between("", "").friction == 0.2
    assert model.contact.between("", "ice").friction == 0.2


def test_numpy_numbers_become_plain_ones() -> None:
    b = Builder()
    b.surface("a", friction=np.float32(0.5), restitution=np.array(0.25))  # type: ignore[arg-type]
    assert repr(b.build().contact.surface("a")) == repr(Surface("a", 0.5, restitution=0.25))


def test_shapes_get_the_surface_of_their_body_unless_they_have_one() -> None:
    model = crawler().build(merge_fixed=False)
    assert [g.surface for g in model.bodies[3].collisions] == ["rubber", "ice"]
    assert [g.surface for g in model.bodies[0].collisions] == [""]


# ground and terrain


@pytest.mark.parametrize("normal", [(0, 0, 1), (0, 0, 3.0), (0, 0, -1), (1, 0, 0), (0, 2, 0), (0.3, -0.4, 1.2)])
def test_the_ground_is_at_its_height_along_its_normal(normal: tuple[float, float, float]) -> None:
    b = Builder()
    assert b.ground(normal=normal, height=0.7) == "ground"
    (ground,) = b.build().base.collisions
    n = np.array(normal) / np.linalg.norm(normal)
    assert ground.shape == Plane((0.0, 0.0))
    np.testing.assert_allclose([float(x) for x in ground.X.r], 0.7 * n, atol=1e-15)
    E = np.array([[float(x) for x in row] for row in ground.X.E])
    np.testing.assert_allclose(E[2], n, atol=1e-15)
    np.testing.assert_allclose(E @ E.T, np.eye(3), atol=1e-15)
    assert np.linalg.det(E) > 0
    (seen,) = b.base.visuals
    assert (seen.shape, seen.X, seen.name) == (ground.shape, ground.X, "ground")


def test_terrain_from_any_array() -> None:
    b = Builder()
    b.terrain([[0, 1, 2], [3, 4, 5]], spacing=0.5, at=(1, 2, 3), surface="grass")
    b.terrain(np.ones((2, 2), np.float32), spacing=(0.1, 0.2), name="slab")
    b.surface("grass")
    one, two = b.build().base.collisions
    assert one.shape == HeightField(((0.0, 1.0, 2.0), (3.0, 4.0, 5.0)), (0.5, 0.5))
    assert (one.surface, one.name) == ("grass", "terrain")
    assert [float(x) for x in one.X.r] == [1, 2, 3]
    assert two.shape == HeightField(((1.0, 1.0), (1.0, 1.0)), (0.1, 0.2))


def twice(say: Callable[[Builder], object]) -> Callable[[Builder], object]:
    return lambda b: (say(b), say(b))


@pytest.mark.parametrize(
    ("say", "complaint"),
    [
        (lambda b: b.surface("a", friction=-1), "surface 'a': friction is a number from 0 on, not -1"),
        (lambda b: b.surface("a", friction="rough"), "surface 'a': friction is a number from 0 on, not 'rough'"),
        (lambda b: b.surface("a", restitution=1.5), "restitution is a number from 0 to 1, not 1.5"),
        (lambda b: b.surface("", friction=1), "a surface needs a name, not ''"),
        (twice(lambda b: b.surface("a")), "a surface is called 'a' already"),
        (lambda b: b.surface_pair("rubber", "ice"), "a pair of 'rubber' and 'ice' already"),
        (lambda b: b.surface_pair("ice", "", rolling=float("nan")), "rolling is a number from 0 on, not nan"),
        (lambda b: b.ground(), "a shape of the base is called 'ground' already"),
        (lambda b: b.ground(normal=(0, 0, 0), name="b"), r"normal needs a direction, not \(0, 0, 0\)"),
        (lambda b: b.ground(normal=(0, 1), name="b"), "normal needs 3 numbers"),
        (lambda b: b.ground(height=float("inf"), name="b"), "height needs a finite number, not inf"),
        (lambda b: b.terrain(np.zeros(5), 0.1), r"numbers with two axes, not one of shape \(5,\)"),
        (lambda b: b.terrain(np.zeros((1, 5)), 0.1), "at least two rows of two heights"),
        (lambda b: b.terrain([[0, 1], [0]], 0.1), "all rows of one length"),
        (lambda b: b.terrain([[0, 1], [0, float("nan")]], 0.1), "finite numbers, and one of these is not"),
        (lambda b: b.terrain(np.zeros((2, 2)), 0.0), "two lengths above zero"),
        (lambda b: b.terrain(np.zeros((2, 2)), (1, 2, 3)), "one along x and one along y"),
        (lambda b: b.ignore_contact("trunk", "fot"), "second is called 'fot'.*did you mean 'foot'"),
        (lambda b: b.ignore_contact("trunk", "trunk"), "first and second are one body"),
        (lambda b: b.body("x", collisions=Sphere(1.0), surface="wood"), "no surface is called 'wood'"),
        (lambda b: b.surface_pair("ice", "wood"), r"surface_pair\('ice', 'wood'\): no surface is called 'wood'"),
    ],
)  # fmt: skip
def test_errors_name_the_argument_and_what_was_expected(say: Callable[[Builder], object], complaint: str) -> None:
    def build() -> None:
        b = crawler()
        say(b)
        b.build()

    with pytest.raises(ModelError, match=complaint):
        build()


def test_rules_refuse_what_has_two_meanings() -> None:
    a, b = Surface("a"), Surface("b")
    with pytest.raises(ValueError, match="two surfaces are called 'a'"):
        ContactRules((a, a))
    with pytest.raises(ValueError, match="two pairs of surfaces are 'b' on 'a'"):
        ContactRules((a, b), (SurfacePair("a", "b", a), SurfacePair("b", "a", b)))
    with pytest.raises(ModelError, match="no body is called 'x'"):
        crawler().build().replace(contact=ContactRules(ignored=(("x", "trunk"),)))


# which shapes may touch


def test_bodies_that_a_joint_holds_together_do_not_touch() -> None:
    for merge in (True, False):
        assert sorted({*touching(crawler().build(merge))}) == sorted(
            {("world", "trunk"), ("world", "thigh"), ("world", "shank"), ("trunk", "shank")}
            | (set() if merge else {("world", "foot"), ("trunk", "foot")})
        )


def test_ignored_bodies_and_bits() -> None:
    b = crawler()
    b.ignore_contact("world", "thigh")
    model = b.build()
    assert ("world", "thigh") not in touching(model)
    trunk = model.bodies[0]
    for kind, affinity, touches in ((2, 1, True), (1, 2, True), (2, 2, False), (0, 0, False), (3, 0, True)):
        shapes = tuple(dataclasses.replace(g, contact_type=kind, contact_affinity=affinity) for g in trunk.collisions)
        other = model.replace(bodies=(dataclasses.replace(trunk, collisions=shapes), *model.bodies[1:]))
        assert (("world", "trunk") in touching(other)) == touches


def test_what_the_base_carries_touches_the_ground_and_not_the_rest_of_the_base() -> None:
    b = Builder(base=Body("stand", Inertia.zero(), (), (Geometry(Box((1.0, 1.0, 1.0)), name="column"),)))
    b.ground()
    b.body("link", joint=Revolute("y"), inertia=CUBE, collisions=Sphere(0.1))
    b.body("loose", joint=Free(), inertia=CUBE, collisions=Sphere(0.1))
    pairs = [(a.geometry.name, c.body) for a, c in contact_candidates(b.build()) if a.body == -1]
    assert sorted(pairs) == [("column", 1), ("ground", 0), ("ground", 1)]


def test_bodies_between_the_joints_of_one_place_are_part_of_the_joint() -> None:
    b = Builder()
    b.body("hip", joint=Free(), inertia=CUBE, collisions=Sphere(0.1))
    b.body("cross", on="hip", joint=Revolute("x"))
    b.body("leg", on="cross", joint=Revolute("y"), inertia=CUBE, collisions=Sphere(0.1))
    assert touching(b.build()) == []


def test_bodies_of_a_loop_joint_do_not_touch() -> None:
    b = Builder()
    for name in ("left", "right"):
        b.body(name, joint=Prismatic("x"), inertia=CUBE, collisions=Sphere(0.1))
    assert touching(b.build()) == [("left", "right")]
    b.close_loop("pin", Spherical(), "left", "right")
    assert touching(b.build()) == []


# edits


def ruled() -> Model:
    b = crawler()
    b.ignore_contact("foot", "trunk")
    b.ignore_contact("thigh", "world")
    return b.build(merge_fixed=False)


def test_merging_takes_rules_along() -> None:
    merged = edit.merge_fixed(ruled())
    assert merged.contact.ignored == (("shank", "trunk"), ("thigh", "world"))
    assert merged.contact.pairs == ruled().contact.pairs
    warnings = [(n.subject, n.text) for n in merged.provenance.notes if n.level == "warning"]
    assert warnings == [("foot", "that it never touches 'trunk' holds for all of 'shank' now")]
    locked = edit.lock(merged, {"shank_joint": 0.1})
    assert locked.contact.ignored == (("thigh", "trunk"), ("thigh", "world"))
    together = edit.lock(locked, {"thigh_joint": 0.1})
    assert together.contact.ignored == (("trunk", "world"),)


def test_renaming_takes_rules_along() -> None:
    renamed = edit.rename(ruled(), bodies=lambda name: f"my_{name}", surfaces={"ice": "snow"})
    assert renamed.contact.ignored == (("my_foot", "my_trunk"), ("my_thigh", "my_world"))
    assert [s.name for s in renamed.contact.surfaces] == ["rubber", "snow"]
    assert renamed.contact.between("rubber", "snow").friction == 0.4
    assert [g.surface for g in renamed.base.collisions] == ["snow"]
    assert [g.surface for g in renamed.bodies[0].collisions] == [""]
    with pytest.raises(ModelError, match="no surface is called 'icy'; did you mean 'ice'"):
        edit.rename(ruled(), surfaces={"icy": "snow"})


def test_renaming_the_default_surface_names_the_shapes_that_have_it() -> None:
    b = crawler()
    b.surface("default", friction=0.2)
    renamed = edit.rename(b.build(), surfaces={"default": "steel"})
    assert [g.surface for g in renamed.bodies[0].collisions] == ["steel"]
    assert renamed.contact.surface("").friction == 1.0


def test_a_part_keeps_the_rules_of_its_bodies() -> None:
    part = edit.submodel(ruled(), "thigh", moving=True)
    assert part.contact.ignored == (("foot", "trunk"),)  # the trunk is the base of the part
    assert part.contact.surfaces == ruled().contact.surfaces
    assert edit.submodel(ruled(), "shank").contact.ignored == ()


def gripper(friction: float, default: float | None = None) -> Model:
    b = Builder("gripper", base="palm")
    b.surface("rubber", friction=friction, torsional=0.01, restitution=0.1)
    b.surface("felt", friction=0.6)
    if default is not None:
        b.surface("default", friction=default)
    b.surface_pair("felt", "rubber", friction=1.1)
    b.body("finger", joint=Prismatic("x"), inertia=CUBE, collisions=Sphere(0.1), surface="felt")
    b.body("thumb", joint=Prismatic("y"), inertia=CUBE, collisions=Sphere(0.1))
    b.ignore_contact("finger", "palm")
    b.ignore_contact("finger", "thumb")
    return b.build()


def test_surfaces_of_a_grafted_model_come_along() -> None:
    both = edit.merge(ruled(), gripper(0.9), "foot", prefix="g_")
    assert [s.name for s in both.contact.surfaces] == ["rubber", "ice", "felt"]
    assert both.contact.between("rubber", "felt").friction == 1.1
    assert both.contact.between("rubber", "ice").friction == 0.4
    assert both.contact.ignored == (
        ("foot", "trunk"), ("thigh", "world"), ("g_finger", "foot"), ("g_finger", "g_thumb"),
    )  # fmt: skip


def test_surfaces_of_one_name_that_differ_do_not_go_together() -> None:
    with pytest.raises(ModelError, match=r"both have a surface 'rubber', with other values of friction: 0.9 and 2.0"):
        edit.merge(ruled(), gripper(2.0), "foot")
    renamed = edit.rename(gripper(2.0), surfaces={"rubber": "soft rubber"})
    assert edit.merge(ruled(), renamed, "foot").contact.surface("soft rubber").friction == 2.0
    with pytest.raises(ModelError, match="its default surface has other values than that of 'crawler'"):
        edit.merge(ruled(), gripper(0.9, default=0.3), "foot")


def test_a_tool_with_a_surface_that_is_not_there_is_refused() -> None:
    tool = Body("tool", CUBE, (), (Geometry(Sphere(0.1), surface="chalk"),))
    with pytest.raises(ModelError, match="no surface is called 'chalk'; there are: 'rubber', 'ice'"):
        edit.attach(ruled(), "foot", tool)


def test_other_edits_keep_rules() -> None:
    model = ruled()
    for other in (
        edit.permute(model, model.body_names),
        model.with_gravity((0, 0, 0)),
        edit.add_frame(model, "eye", "trunk"),
        model.without_friction(),
    ):
        assert other.contact == model.contact


def test_a_new_root_keeps_rules() -> None:
    turned, _ = kn.model.reroot(ruled(), "shank")
    assert turned.contact == ruled().contact
    assert sorted(map(sorted, touching(turned))) == sorted(map(sorted, touching(ruled())))


def test_functions_do_not_mind_rules() -> None:
    """The names of bodies change on the way to a kernel, and a floating base is cut off."""
    b = crawler()
    b.ignore_contact("trunk", "shank")
    b.ignore_contact("world", "trunk")
    model = b.build()
    plain = model.replace(contact=ContactRules(model.contact.surfaces, model.contact.pairs))
    s = random_state(model, 0)
    for function in (kn.forward_dynamics, kn.inverse_dynamics):
        assert function(model, s.q, s.v, s.a).tolist() == function(plain, s.q, s.v, s.a).tolist()
    assert model.content_hash != plain.content_hash
    assert model != plain


# a ground under any model


def test_a_ground_under_a_robot() -> None:
    robot = kn.robots.load("quadruped")
    model = edit.with_ground(robot, height=-0.5)
    assert model.contact == robot.contact
    assert model.base.collisions[-1].shape == Plane((0.0, 0.0))
    assert float(model.base.collisions[-1].X.r[2]) == -0.5
    feet = [b for a, b in contact_candidates(model) if a.geometry.name == "ground"]
    assert len(feet) == sum(len(body.collisions) for body in model.bodies)
    with pytest.raises(ModelError, match="a shape of the base called 'ground' already"):
        edit.with_ground(model)


def test_friction_of_a_ground_holds_whatever_touches_it() -> None:
    model = crawler().build().replace(base=Body("world", Inertia.zero()))
    model = edit.with_ground(model, friction=0.3, restitution=0.5, normal=(0, 1, 0))
    for other in ("", "rubber", "ice"):
        here = model.contact.between("ground", other)
        assert (here.friction, here.restitution) == (0.3, 0.5)
    assert model.contact.between("ground", "ice").stiffness == 1e5
    assert model.contact.between("rubber", "").friction == 1.0
    (ground,) = model.base.collisions
    assert ground.surface == "ground"
    with pytest.raises(ModelError, match="surface 'ground': friction is a number from 0 on, not -1"):
        edit.with_ground(kn.robots.load("arm"), friction=-1)


# what touches itself

LINKS = """<robot name="r">{}
<joint name="j1" type="continuous"><parent link="l0"/><child link="l1"/></joint>
<joint name="j2" type="continuous"><parent link="l1"/><child link="l2"/></joint></robot>"""
LINK = """<link name="l{}"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<collision><geometry><sphere radius="1"/></geometry></collision></link>"""


def test_links_of_a_urdf_touch_the_ground_and_not_each_other_unless_that_is_said(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text(LINKS.format("".join(LINK.format(k) for k in range(3))))
    robot = edit.with_ground(kn.load(file, base="floating"), height=-5)

    def pairs(model: kn.Model) -> set[tuple[str, str]]:
        names = {-1: "base", **dict(enumerate(model.body_names))}
        return {(names[a.body], names[b.body]) for a, b in contact_candidates(model)}

    ground = {("base", f"l{k}") for k in range(3)}
    assert pairs(robot) == ground
    both = edit.with_self_contact(robot)
    assert pairs(both) == ground | {("l0", "l2")}
    assert edit.with_self_contact(both, False) == robot


def test_coefficients_of_a_surface_change() -> None:
    """Of one surface, where the larger friction holds, and of the contact of two."""
    model = edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    assert edit.with_surface(model, "ground", friction=0.8) == model
    icy = edit.with_surface(model, "ground", against="default", friction=0.1)
    assert icy.contact.between("default", "ground").friction == 0.1
    assert icy.contact.between("ground", "ground").friction == 0.8
    rough = edit.with_surface(icy, "default", friction=2.0, restitution=0.3)
    assert rough.contact.surface("default").friction == 2.0
    assert rough.contact.between("ground", "default") == icy.contact.between("ground", "default")
    assert edit.with_surface(model, "default", torsional=0.01).contact.surface("").torsional == 0.01


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"name": "ice"}, "no surface is called 'ice'; there are: default, ground"),
        ({"name": "ground", "against": "ice"}, "no surface is called 'ice'"),
        ({"name": "ground", "colour": 1.0}, "a surface has no 'colour'; it has friction"),
        ({"name": "ground", "friction": -0.1}, "friction is a number from 0 on, not -0.1"),
        ({"name": "ground", "friction": "0.1"}, "friction is a number from 0 on, not '0.1'"),
        ({"name": "ground", "restitution": 1.5}, "restitution is a number from 0 to 1"),
    ],
)
def test_coefficients_that_cannot_be(arguments: dict[str, object], said: str) -> None:
    model = edit.with_ground(kn.robots.load("quadruped"), friction=0.8)
    with pytest.raises((ValueError, TypeError), match=re.escape(said)):
        edit.with_surface(model, **arguments)  # type: ignore[arg-type]
