"""URDF files that cannot be used: each error names the file, the line, the element and what is wrong."""

import math

import pytest

from knuckle.errors import ModelError
from knuckle.formats import read_urdf

A, B, C = ('<link name="a"/>', '<link name="b"/>', '<link name="c"/>')


def joint(name: str, parent: str, child: str, inside: str = "", kind: str = "revolute") -> str:
    return f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{inside}</joint>'


def refused(*parts: str) -> ModelError:
    """The error of a document whose first part is on line 2."""
    with pytest.raises(ModelError) as caught:
        read_urdf("\n".join(['<robot name="r">', *parts, "</robot>"]), file="r.urdf")
    assert caught.value.file == "r.urdf"
    assert str(caught.value).startswith("r.urdf:")
    return caught.value


def check(error: ModelError, line: int, element: str, words: str) -> None:
    assert (error.line, error.element) == (line, element), str(error)
    assert words in error.message


# the tree


def test_no_links():
    check(refused(), 1, "robot", "no <link>")


def test_names_missing_empty_and_twice():
    check(refused(A, "<link/>"), 3, "link", "no name")
    check(refused(A, '<link name=" "/>'), 3, "link", 'name=""')
    check(refused(A, B, A), 4, "link 'a'", "a second link with this name")
    check(refused(A, B, C, joint("j", "a", "b"), joint("j", "a", "c")), 6, "joint 'j'", "a second joint with this name")
    check(refused(A, B, '<joint type="fixed"><parent link="a"/><child link="b"/></joint>'), 4, "joint", "no name")


def test_links_that_are_not_there():
    error = refused(A, B, '<joint name="j" type="fixed">', '<parent link="a"/>', '<child link="bb"/></joint>')
    check(error, 6, "joint 'j', <child>", "there is no link called 'bb'; did you mean 'b'?")
    error = refused(A, B, '<joint name="j" type="fixed">', '<parent link="x"/>', '<child link="b"/></joint>')
    check(error, 5, "joint 'j', <parent>", "there is no link called 'x'")


def test_parent_and_child_missing_or_twice():
    check(refused(A, '<joint name="j" type="fixed"><child link="a"/></joint>'), 3, "joint 'j'", "needs a <parent>")
    error = refused(A, '<joint name="j" type="fixed">', "<parent/>", '<child link="a"/></joint>')
    check(error, 4, "joint 'j', <parent>", 'needs the attribute link="…"')
    error = refused(A, B, joint("j", "a", "b", '\n<parent link="a"/>'))
    check(error, 5, "joint 'j', <parent>", "a second <parent>")


def test_two_parents():
    error = refused(A, B, C, joint("j", "a", "b"), joint("k", "a", "c"), joint("l", "c", "b"))
    check(error, 7, "joint 'l', <child>", "link 'b' is the child of joint 'j' already (line 5)")


def test_several_roots():
    check(refused(A, B, C, joint("j", "a", "c")), 3, "link 'b'", "2 links have no parent joint (a, b)")


def test_cycles():
    words = "hang on a closed loop of joints"
    check(refused(A, B, joint("j", "a", "b"), joint("k", "b", "a")), 4, "joint 'j'", words)
    check(refused(A, joint("j", "a", "a")), 3, "joint 'j'", words)
    beside = refused(A, B, C, '<link name="d"/>', joint("j", "a", "b"), joint("k", "c", "d"), joint("l", "d", "c"))
    check(beside, 7, "joint 'k'", words)


# joints


def test_joint_types():
    check(refused(A, B, joint("j", "a", "b", kind="hinge")), 4, "joint 'j'", 'type="hinge"; URDF has: revolute')
    error = refused(A, B, '<joint name="j"><parent link="a"/><child link="b"/></joint>')
    check(error, 4, "joint 'j'", 'needs the attribute type="…"')


def test_zero_axis():
    error = refused(A, B, joint("j", "a", "b", '\n<axis xyz="0 0 0"/>'))
    check(error, 5, "joint 'j', <axis>", "an axis needs a direction")


def test_mimic_cycles():
    to_k, to_j = '\n<mimic joint="k"/>', '\n<mimic joint="j"/>'
    error = refused(A, B, C, joint("j", "a", "b", to_k), joint("k", "b", "c", to_j))
    assert error.line in (6, 8)
    assert "follows itself" in error.message
    error = refused(A, B, joint("j", "a", "b", to_j))
    check(error, 5, "joint 'j', <mimic>", "follows itself")


def test_mimic_of_joints_with_other_freedoms():
    error = refused(A, B, C, joint("j", "a", "b", kind="floating"), joint("k", "b", "c", '\n<mimic joint="j"/>'))
    check(error, 7, "joint 'k', <mimic>", "cannot follow joint 'j', which has 6 freedoms")
    error = refused(A, B, C, joint("j", "a", "b"), joint("k", "b", "c", '\n<mimic joint="j"/>', kind="planar"))
    check(error, 7, "joint 'k', <mimic>", "only a joint of one freedom can mimic")


def test_mimic_that_overflows():
    links = [f'<link name="l{k}"/>' for k in range(40)]
    joints = [
        joint(f"j{k}", f"l{k}", f"l{k + 1}", f'<mimic joint="j{k + 1}" multiplier="1e12"/>' if k < 38 else "")
        for k in range(39)
    ]
    error = refused(*links, *joints)
    assert (error.element, error.line) == ("joint 'j12', <mimic>", 54)  # (1e12)²⁶ is too much
    assert "overflow" in error.message


# numbers


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0 0", "has 2 entries; expected 3 numbers"),
        ("0 0 0 0", "has 4 entries; expected 3 numbers"),
        ("", "has 0 entries; expected 3 numbers"),
        ("0 0 nan", "'nan' is not a finite number"),
        ("0 -inf 0", "'-inf' is not a finite number"),
        ("0 Infinity 0", "'Infinity' is not a finite number"),
        ("0 1e400 0", "is beyond ±1e+12"),
        ("0 -2e12 0", "is beyond ±1e+12"),
        ("0 0,5 0", "'0,5' is not a decimal number"),
        ("0 0x10 0", "'0x10' is not a decimal number"),
        ("0 1_0 0", "'1_0' is not a decimal number"),
        ("0 1f 0", "'1f' is not a decimal number"),
        ("0 . 0", "'.' is not a decimal number"),
        ("0 \u0663 0", "'\u0663' is not a decimal number"),
        ("0 0\u00a00 0", "is not a decimal number"),
        ("0 " + "9" * 3000 + " 0", "is beyond ±1e+12"),
    ],
)
def test_vectors(text: str, words: str):
    error = refused(A, B, joint("j", "a", "b", f'\n<origin xyz="{text}"/>'))
    check(error, 5, "joint 'j', <origin>", words)
    assert len(str(error)) < 300


def test_numbers_that_are_fine():
    for text, value in (("+.5e-3", 0.0005), ("1.", 1.0), ("-0", 0.0), ("1E2", 100.0), ("\n 7 \t", 7.0)):
        placed = joint("j", "a", "b", f'<origin xyz="{text} 0 0"/>')
        model = read_urdf(f'<robot name="r">{A}{B}{placed}</robot>')
        assert float(model.X_tree[0].r[0]) == value
        assert math.copysign(1, float(model.X_tree[0].r[0])) == 1


@pytest.mark.parametrize(
    ("inside", "element", "words"),
    [
        ("<inertial>\n</inertial>", "link 'x', <inertial>", "needs a <mass>"),
        ('<inertial>\n<mass value="1"/></inertial>', "link 'x', <inertial>", "needs a <inertia>"),
        ('<inertial><mass/><inertia ixx="1"/></inertial>', "link 'x', <mass>", 'needs the attribute value="…"'),
        ('<inertial><mass value="1"/><inertia ixx="1"/></inertial>', "link 'x', <inertia>", 'attribute ixy="…"'),
        ('<inertial><mass value=""/><inertia/></inertial>', "link 'x', <mass>", "0 entries; expected a number"),
        ("<inertial/><inertial/>", "link 'x', <inertial>", "a second <inertial>"),
        ('<visual><geometry><box size="1 1"/></geometry></visual>', "link 'x', <box>", "expected 3 numbers"),
        ("<visual><geometry><sphere/></geometry></visual>", "link 'x', <sphere>", 'attribute radius="…"'),
        ('<visual><geometry><cylinder radius="1"/></geometry></visual>', "link 'x', <cylinder>", 'length="…"'),
        ("<visual><geometry><mesh/></geometry></visual>", "link 'x', <mesh>", 'filename="…"'),
        ('<visual><geometry><mesh filename="a" scale="1"/></geometry></visual>', "link 'x', <mesh>", "3 numbers"),
        (
            '<visual><geometry><sphere radius="1"/><sphere radius="1"/></geometry></visual>',
            "link 'x', <sphere>",
            "a second shape",
        ),
        ("<visual><geometry/><geometry/></visual>", "link 'x', <geometry>", "a second <geometry>"),
        ('<visual><material><color rgba="1 1 1"/></material></visual>', "link 'x', <color>", "expected 4 numbers"),
    ],
)
def test_links(inside: str, element: str, words: str):
    error = refused(f'<link name="x">{inside}</link>')
    check(error, 2, element, words)


@pytest.mark.parametrize(
    ("inside", "element"),
    [
        ('<limit lower="nan" upper="1"/>', "joint 'j', <limit>"),
        ('<limit lower="0" upper="one"/>', "joint 'j', <limit>"),
        ('<dynamics damping="inf"/>', "joint 'j', <dynamics>"),
        ('<mimic joint="j" multiplier="nan"/>', "joint 'j', <mimic>"),
        ('<axis xyz="0 0 1 0"/>', "joint 'j', <axis>"),
    ],
)
def test_numbers_of_joints(inside: str, element: str):
    error = refused(A, B, joint("j", "a", "b", inside))
    assert (error.line, error.element) == (4, element)


# other documents


def test_xacro_is_refused_with_help():
    error = refused('<xacro:include filename="x"/>', A)
    check(error, 2, "<xacro:include>", "has to be expanded")
    assert "xacro robot.urdf.xacro > robot.urdf" in error.message
    error = refused(A, B, joint("j", "a", "b", '\n<origin xyz="$(arg x) 0 0"/>'))
    check(error, 5, "<origin>", 'xyz="$(arg x) 0 0" is a xacro expression')
    check(refused(A, '<link name="${prefix}b"/>'), 3, "<link>", "is a xacro expression")
    read_urdf(f'<robot name="r">{A}<gazebo><plugin path="$(env HOME)"/></gazebo></robot>')


@pytest.mark.parametrize(
    ("tag", "words"), [("mujoco", "an MJCF file"), ("sdf", "an SDF file"), ("html", "this is no URDF file")]
)
def test_other_documents(tag: str, words: str):
    with pytest.raises(ModelError) as caught:
        read_urdf(f"\n\n<{tag}/>".lstrip("\n"), file="r.urdf")
    check(caught.value, 1, f"<{tag}>", words)


def test_long_names_do_not_fill_the_screen():
    error = refused(A, f'<link name="{"x" * 100_000}"/>')
    assert len(str(error)) < 400
