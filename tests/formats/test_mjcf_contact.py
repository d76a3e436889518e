"""Contact in MJCF: MuJoCo's own contacts say which geoms touch and how they rub, in files read and written."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.errors import ModelError
from knuckle.formats import loads, to_mjcf
from knuckle.formats.mjcf.mjcf_losses import unsayable
from knuckle.joints import Free, Revolute
from knuckle.model import Box, Builder, HeightField, Model, Plane, Sphere, Surface, contact_candidates, solid_box

mujoco: Any = pytest.importorskip("mujoco")

Rubbing = dict[frozenset[str], tuple[float, float, float]]
"""Sliding, torsional and rolling friction of two shapes that touch, by their names."""


def scene(seed: int, second: str = '<joint name="y{}" axis="0 1 0"/>') -> str:
    """Balls that all overlap, on free bodies and on arms of them, and a floor that all are in."""
    rng = np.random.default_rng(seed)

    def ball(name: str) -> str:
        friction = " ".join(f"{x:.3f}" for x in rng.uniform(0.1, 2.0, 3))
        return (
            f'<geom name="{name}" size="1" friction="{friction}" condim="{rng.choice([1, 3, 4, 6])}" '
            f'priority="{rng.choice([0, 0, 0, 1])}" contype="{rng.integers(0, 4)}" conaffinity="{rng.integers(0, 4)}"/>'
        )

    bodies = "".join(
        f"""<body name="body{k}" pos="{0.01 * k} 0 0.1"><freejoint/>{ball(f"ball{k}")}
        <body name="arm{k}" pos="0.02 {0.01 * k} 0"><joint name="x{k}"/>{second.format(k)}{ball(f"hand{k}")}
        <body name="tip{k}" pos="0.03 0 0.1"><joint name="z{k}" axis="1 0 0"/>{ball(f"nail{k}")}</body></body></body>"""
        for k in range(3)
    )
    sliding, torsional, rolling = rng.uniform(0.1, 2.0, 3)
    friction = f"{sliding} {sliding} {torsional} {rolling} {rolling}"
    pairs = "".join(
        f'<pair geom1="{a}" geom2="{b}" condim="{rng.choice([1, 3, 4])}" friction="{friction}"/>'
        for a, b in (("ball0", "hand1"), ("ball0", "hand2"), ("floor", "nail1"), ("nail0", "nail2"))
    )
    floor = '<geom name="floor" type="plane" size="0 0 1" friction="0.4 0.2 0.1"/>'
    return f"""<mujoco><worldbody>{floor}{bodies}</worldbody>
    <contact>{pairs}<exclude body1="body0" body2="tip1"/><exclude body1="tip0" body2="body0"/></contact></mujoco>"""


def in_mujoco(text: str) -> Rubbing:
    m = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(m)
    mujoco.mj_forward(m, data)
    found: Rubbing = {}
    for k in range(data.ncon):
        contact = data.contact[k]
        sliding, _, torsional, rolling, _ = contact.friction
        names = frozenset(m.geom(g).name for g in contact.geom)
        counted = contact.dim >= 3, contact.dim >= 4, contact.dim >= 6
        values = [float(x) if on else 0.0 for x, on in zip((sliding, torsional, rolling), counted, strict=True)]
        found[names] = values[0], values[1], values[2]
    return found


def in_ours(model: Model) -> Rubbing:
    found: Rubbing = {}
    for a, b in contact_candidates(model):
        here = model.contact.between(a.geometry.surface, b.geometry.surface)
        found[frozenset((a.geometry.name, b.geometry.name))] = here.friction, here.torsional, here.rolling
    return found


def same(one: Rubbing, two: Rubbing) -> None:
    assert one.keys() == two.keys()
    for names, values in one.items():
        assert two[names] == pytest.approx(values, rel=1e-12, abs=1e-15), names


@pytest.mark.parametrize("seed", range(20))
def test_the_same_shapes_touch_and_rub_the_same(seed: int) -> None:
    text = scene(seed)
    theirs = in_mujoco(text)
    assert len(theirs) > 5
    same(in_ours(loads(text)), theirs)


@pytest.mark.parametrize("seed", range(20))
def test_what_is_written_and_read_again_touches_the_same(seed: int) -> None:
    text = scene(seed, second="")
    written = to_mjcf(loads(text))
    same(in_mujoco(written), in_mujoco(text))
    same(in_ours(loads(written)), in_mujoco(text))


FLOOR = '<geom name="floor" type="plane" size="0 0 1"{}/>'
BALL = '<body name="ball" pos="0 0 1"><freejoint/><geom name="skin" size="0.1"{}/></body>'


def small(floor: str = "", ball: str = "", more: str = "") -> Model:
    return loads(f"<mujoco><worldbody>{FLOOR.format(floor)}{BALL.format(ball)}</worldbody>{more}</mujoco>")


def test_a_plain_file_has_no_surfaces() -> None:
    model = small()
    assert model.contact == kn.model.ContactRules()
    assert [g.surface for body in (model.base, *model.bodies) for g in body.collisions] == ["", ""]


def test_torsion_and_rolling_count_from_condim_four_and_six_on() -> None:
    friction = ' friction="0.8 0.02 0.003" condim="{}"'
    for condim, values in ((1, (0, 0, 0)), (3, (0.8, 0, 0)), (4, (0.8, 0.02, 0)), (6, (0.8, 0.02, 0.003))):
        model = small(ball=friction.format(condim))
        (skin,) = model.bodies[0].collisions
        found = model.contact.surface(skin.surface)
        assert (found.friction, found.torsional, found.rolling) == values


def test_equal_surfaces_share_one_name() -> None:
    text = "".join(f'<geom name="g{k}" size="0.1" friction="{mu}"/>' for k, mu in enumerate((0.5, 0.5, 0.7, 0.5)))
    model = loads(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    names = [g.surface for g in model.base.collisions]
    assert names == ["friction 0.5", "friction 0.5", "friction 0.7", "friction 0.5"]
    assert [s.name for s in model.contact.surfaces] == ["friction 0.5", "friction 0.7"]


def test_a_humanoid_in_the_manner_of_dm_control() -> None:
    """Frictionless limbs, rough feet, a floor that takes the larger: no pair of surfaces is needed."""
    model = loads("""<mujoco><default><geom condim="1" friction=".7" solref=".015 1" solimp=".9 .99 .003"/>
    <default class="foot"><geom condim="3" friction="1.2"/></default></default><worldbody>
    <geom name="floor" type="plane" size="8 8 .2" condim="3" friction="1 .1 .1" conaffinity="1"/>
    <body name="torso" pos="0 0 1"><freejoint/><geom name="torso" size=".1"/>
    <body name="leg"><joint name="hip"/><geom name="leg" size=".05" pos="0 0 -.3"/>
    <body name="foot"><joint name="ankle" pos="0 0 -.6"/><geom name="sole" class="foot" size=".05" pos="0 0 -.7"/>
    </body></body></body></worldbody><contact><exclude body1="torso" body2="foot"/></contact></mujoco>""")
    assert {s.name: s.friction for s in model.contact.surfaces} == {"frictionless": 0.0, "friction 1.2": 1.2}
    assert model.contact.pairs == ()
    assert model.contact.ignored == (("torso", "foot/ankle"),)
    assert model.contact.between("", "frictionless").friction == 1.0
    notes = {note.text for note in model.provenance.notes if note.subject == "contacts"}
    assert any(text.startswith("solref 0.015 1; solimp 0.9 0.99 0.003 0.5 2: read, not applied") for text in notes)
    assert not any("solref" in note.text for note in small().provenance.notes)


def test_a_gripper_in_the_manner_of_robosuite() -> None:
    """Collision geoms in group 0, visuals that touch nothing in group 1, pads with torsion."""
    model = loads("""<mujoco><worldbody><body name="hand" pos="0 0 1"><freejoint/>
    <geom name="hand_visual" type="box" size=".1 .1 .1" contype="0" conaffinity="0" group="1"/>
    <geom name="hand_collision" type="box" size=".1 .1 .1" group="0"/>
    <body name="finger"><joint name="slide" type="slide"/>
    <geom name="pad" type="box" size=".01 .01 .01" conaffinity="1" condim="4" friction="2 0.05 0.0001" group="0"
     solimp="0.998 0.998 0.001"/></body></body></worldbody></mujoco>""")
    hand, finger = model.bodies
    assert [g.name for g in hand.collisions] == ["hand_collision"]
    assert [g.name for g in hand.visuals] == ["hand_visual", "hand_collision"]
    assert model.contact.surface(finger.collisions[0].surface).torsional == 0.05
    assert contact_candidates(model) == ()


def test_terrain_is_read_and_written() -> None:
    model = loads("""<mujoco><asset><hfield name="hill" nrow="3" ncol="4" size="3 2 0.5 0.1"
    elevation="0 1 2 3  4 5 6 7  8 9 10 12"/></asset>
    <worldbody><geom name="hill" type="hfield" hfield="hill" pos="1 2 3"/></worldbody></mujoco>""")
    (hill,) = model.base.collisions
    assert isinstance(hill.shape, HeightField)
    assert hill.shape.spacing == (2.0, 2.0)
    rows = np.array([[8, 9, 10, 12], [4, 5, 6, 7], [0, 1, 2, 3]]) / 24  # MJCF has the largest y first
    np.testing.assert_allclose(hill.shape.heights, rows, atol=1e-7)
    back = loads(to_mjcf(model))
    assert [(g.shape, g.X) for g in back.base.collisions] == [(hill.shape, hill.X)]


def test_terrain_below_zero_is_where_it_was() -> None:
    rng = np.random.default_rng(0)
    heights = rng.uniform(-2.0, -1.0, (3, 5))
    b = Builder("hills", base="world")
    b.terrain(heights, spacing=(0.5, 0.25), at=dict(xyz=(1, 2, 3), rpy=(0.1, 0.2, 0.3)))
    model = b.build()
    (back,) = loads(to_mjcf(model)).base.collisions
    assert isinstance(back.shape, HeightField)
    low = heights.min()
    np.testing.assert_allclose(np.array(back.shape.heights) + low, heights, atol=1e-7)
    (there,) = model.base.collisions
    np.testing.assert_allclose(
        [float(x) for x in back.X.inverse().point((0.0, 0.0, 0.0))],
        [float(x) for x in there.X.inverse().point((0.0, 0.0, low))],
        atol=1e-12,
    )


def standing() -> Builder:
    b = Builder("standing", base="world")
    b.surface("rubber", friction=0.9, torsional=0.01)
    b.surface("ice", friction=0.05)
    b.surface_pair("rubber", "ice", friction=0.3)
    b.ground(surface="ice")
    for name in ("one", "two", "three"):
        b.body(name, joint=Free(), inertia=solid_box(1.0, (0.1, 0.1, 0.1)), collisions=Sphere(1.0), surface="rubber")
    b.ignore_contact("two", "world")
    b.ignore_contact("one", "three")
    return b


def test_a_model_of_ours_touches_the_same_in_mujoco() -> None:
    model = standing().build()
    text = to_mjcf(model)
    theirs = sorted(in_mujoco(text).values())
    back = loads(text)
    np.testing.assert_allclose(sorted(in_ours_by_order(model)), theirs, rtol=1e-12)
    np.testing.assert_allclose(sorted(in_ours_by_order(back)), theirs, rtol=1e-12)
    assert back.contact.ignored == (("world", "two"), ("one", "three"))


def in_ours_by_order(model: Model) -> list[tuple[float, float, float]]:
    between = [model.contact.between(a.geometry.surface, b.geometry.surface) for a, b in contact_candidates(model)]
    return [(x.friction, x.torsional, x.rolling) for x in between]


def test_the_ground_under_an_arm_on_a_stand_touches_its_first_link() -> None:
    """The stand, which carries the link, does not; MuJoCo is told so, and what is read again says the same."""
    b = Builder("arm", base="stand")
    b.ground(normal=(0, 1, 2), height=-0.2)
    b.body("link", joint=Revolute("y"), inertia=solid_box(1.0, (1.0, 1.0, 1.0)), collisions=Box((1.0, 1.0, 1.0)))
    model = b.build()
    column = kn.model.Geometry(Box((0.2, 0.2, 0.2)), name="column")
    base = model.base
    model = model.replace(base=kn.model.Body(base.name, base.inertia, base.visuals, (*base.collisions, column)))
    text = to_mjcf(model)
    touched = {name for names in in_mujoco(text) for name in names}
    assert "ground" in touched
    assert "column" not in touched
    for m in (model, loads(text)):
        assert [(type(a.geometry.shape), b.body) for a, b in contact_candidates(m)] == [(Plane, 0)]


def test_what_mjcf_cannot_say_of_surfaces() -> None:
    b = standing()
    b.surface("ball", restitution=0.5, stiffness=1e4, damping=10.0)
    model = b.build()
    assert [(where, what) for where, what in unsayable(model) if where == "ball"] == [
        ("ball", "restitution 0.5 of a surface"),
        ("ball", "stiffness 10000 of a surface"),
        ("ball", "damping 10 of a surface"),
    ]
    with pytest.raises(ModelError, match=r"MJCF cannot say: restitution 0.5 of a surface"):
        to_mjcf(model)


def test_a_pair_of_geoms_that_touch_nothing_else() -> None:
    """As in files that switch all contact off and list what may touch."""
    none = ' contype="0" conaffinity="0"'
    pair = '<contact><pair geom1="floor" geom2="skin" friction="0.6 0.6 0.005 0.0001 0.0001"/></contact>'
    model = small(none, none, pair)
    ((floor, skin),) = contact_candidates(model)
    assert model.contact.between(floor.geometry.surface, skin.geometry.surface) == Surface("default on skin", 0.6)
    assert contact_candidates(small(none, none)) == ()


@pytest.mark.parametrize(
    ("more", "level", "text"),
    [
        ('<option><flag contact="disable"/></option>', "info", "switches contact off"),
        ('<option><flag filterparent="disable"/></option>', "warning", "a body touches its parent in MuJoCo"),
        ('<option><flag override="enable"/></option>', "warning", "overrides the parameters of all contacts"),
        ('<default><geom margin="0.01"/></default>', "info", "margin of geoms: read, not applied"),
        (
            '<contact><pair geom1="floor" geom2="skin" friction="1 2"/></contact>',
            "warning",
            "friction that differs by direction",
        ),
    ],
)
def test_what_is_another_contact_in_mujoco_is_noted(more: str, level: str, text: str) -> None:
    notes = small(more=more).provenance.notes
    assert [note.level for note in notes if text in note.text] == [level]


def test_a_pair_that_a_joint_keeps_apart_is_noted() -> None:
    model = loads("""<mujoco><worldbody><body name="a"><freejoint/><geom name="one" size="0.1"/><body name="b">
    <joint/><geom name="two" size="0.1"/></body></body></worldbody>
    <contact><pair name="p" geom1="one" geom2="two"/></contact></mujoco>""")
    assert [n.text for n in model.provenance.notes if n.subject == "p" and n.level == "warning"] == [
        "'a' and 'b' do not touch here: a joint or an exclusion keeps them from it"
    ]
    assert contact_candidates(model) == ()
