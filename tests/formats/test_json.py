"""JSON both ways: nothing is lost, and nothing wrong gets in."""

import copy
import json
import math
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import knuckle.joints
import knuckle.model.elements
from knuckle.errors import ModelError
from knuckle.formats import load, read_json, to_json, write_json
from knuckle.formats.json.json_schema import named_classes
from knuckle.model import (
    ROOT,
    Body,
    Box,
    Capsule,
    ContactRules,
    Cylinder,
    Ellipsoid,
    Frame,
    Geometry,
    Limits,
    LoopJoint,
    Material,
    Mesh,
    Model,
    Note,
    Plane,
    Provenance,
    Sphere,
    TreeJoint,
    mimic,
)
from knuckle.spatial import Inertia, Transform, Vector, rotation

from ..seeds import quick

J = knuckle.joints
INF = math.inf
AXIS = (0.6, -0.48, 0.64)
FRAMES = tuple(Transform.of(rotation.from_rpy(0.1 * k, 0.2, 0.3), (k, k * k / 3, 0)) for k in range(4))
GRID = tuple(tuple(tuple((i + j + k) / 7 for k in range(6)) for j in range(4)) for i in range(5))

KINDS: tuple[J.Joint, ...] = (
    J.Fixed(),
    J.Revolute(AXIS),
    J.Continuous(AXIS),
    J.Prismatic(AXIS),
    J.Helical(AXIS, 0.1),
    J.Cylindrical(AXIS),
    J.Planar(AXIS),
    J.PlanarLocal(AXIS),
    J.Spherical(),
    J.YawPitchRoll(),
    J.Euler("zxz"),
    J.ExponentialSpherical(),
    J.Universal((AXIS, "x")),
    J.Translational(),
    J.Free(),
    J.RackAndPinion(0.1, "y", "z"),
    J.Driven(J.Cylindrical(), J.Together((J.Polynomial((0.1, 1 / 3)), J.Sinusoid(1.0, 0.5, 0.1)))),
    J.Prescribed(J.Revolute(AXIS), (0.1,), (1 / 3,), (2.0,)),
    J.SplineCurve(FRAMES),
    J.SplineSurface(GRID),
    J.Composite((J.Revolute("x"), J.Composite((J.Prismatic("y"), J.Reversed(J.Universal()))))),
    J.Reversed(J.RackAndPinion(0.3)),
)


def inertia(rng: np.random.Generator) -> Inertia:
    A = rng.normal(size=(3, 3))
    return Inertia.of(rng.uniform(0.1, 5), rng.normal(size=3).tolist(), (A @ A.T).tolist())


def example() -> Model:
    """A model of every joint and every part, with numbers that need all their digits."""
    rng = np.random.default_rng(0)
    shapes = (Box((1.0, 1 / 3, 2.0)), Cylinder(0.1, 0.2), Capsule(0.1, 0.2), Sphere(0.3), Ellipsoid((1.0, 2.0, 3.0)))
    places = [Transform.of(rotation.from_rpy(*rng.normal(size=3).tolist()), rng.normal(size=3).tolist()) for _ in KINDS]
    more = (Plane((0.0, 0.0)), Mesh("package://a/b.stl", (1.0, 1.0, 0.001), "/found/b.stl"))
    red = Material("red", (1.0, 0.0, 0.0, 0.5), "red.png")
    looks = tuple(Geometry(shape, places[k], f"shape {k}", red) for k, shape in enumerate((*shapes, *more)))
    bodies = [Body(f"b{k}", inertia(rng)) for k in range(len(KINDS))]
    bodies[3] = Body("b3", inertia(rng), looks, looks[:1])
    tree = [TreeJoint(f"j{k}", kind, k // 2 - 1, places[k]) for k, kind in enumerate(KINDS)]
    limits = Limits((-1 / 3,), (INF,), (2.0,), (INF,))
    tree[1] = TreeJoint("j1", KINDS[1], ROOT, places[1], limits, (0.1,), (0.2,), (0.3,), (0.4,), (0.5,))
    half = Limits((-INF, -1.0), (0.5, INF), (INF, 1.0), (INF, INF))
    tree[5] = TreeJoint("j5", KINDS[5], 1, places[5], half)
    return Model(
        tuple(bodies),
        tuple(tree),
        (Frame("tool", 2, places[0]), Frame("origin", ROOT)),
        (LoopJoint("loop", J.Spherical(), 5, ROOT, places[2], places[4]),),
        (mimic(3, 1, 1 / 3, -0.1),),
        (0.1, -0.2, -9.81),
        "näme",
        Body("ground", inertia(rng), looks[:2]),
        provenance=Provenance("a.urdf", "urdf", (Note("info", "b1", "text", 7), Note("warning", "b2", "more"))),
    )


def written_out(model: Model) -> str:
    """Every number of a model as Python writes it: a structural zero is not 0.0 here."""
    return repr((model.bodies, model.joints, model.frames, model.loops, model.couplings, model.base, model.gravity))


def document() -> dict[str, Any]:
    return json.loads(to_json(example()))


def refused(data: Any, **options: Any) -> ModelError:
    text = data if isinstance(data, (str, bytes)) else json.dumps(data)
    with pytest.raises(ModelError) as caught:
        read_json(text, file="m.json", **options)
    assert caught.value.file == "m.json"
    return caught.value


# both ways


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_every_joint_comes_back(kind: J.Joint):
    model = Model((Body("b", Inertia.zero()),), (TreeJoint("j", kind, ROOT),))
    back = read_json(to_json(model))
    assert back == model
    assert repr(back.joints) == repr(model.joints)


def test_no_joint_of_the_library_is_forgotten():
    tried = {type(kind).__name__ for kind in KINDS} | {"Polynomial", "Sinusoid", "Together"}
    couplings = {"FunctionLaw", "Held", "Linear", "Powers"}  # tested in tests/couplings
    not_for_files = {"FunctionJoint", "InPlane"}  # a function; tested with a planar model
    elements = {name for name in knuckle.model.elements.__all__ if name in named_classes()}  # in tests/elements
    assert {"Line", "Spring", "Bushing"} <= elements
    materials = {"NeoHookean", "StVenantKirchhoff", "Hookean", "HingeBending"}  # in tests/model
    transmissions = {"AtJoints", "AtFrame", "AlongLine"}  # in tests/model/test_actuators.py
    transmissions |= {"AtBallJoint", "AtFreeJoint", "BetweenFrames"}  # in test_mjcf_driven.py
    assert set(named_classes()) == tried | couplings | not_for_files | elements | materials | transmissions


def test_nothing_is_lost():
    model = example()
    back = read_json(to_json(model))
    assert back == model
    assert back.content_hash == model.content_hash
    assert back.provenance == model.provenance
    assert written_out(back) == written_out(model)
    assert to_json(back) == to_json(model)


@pytest.mark.slow
def test_every_float_keeps_its_bits():
    rng = random.Random(0)
    values = [rng.uniform(-1, 1) * 10.0 ** rng.randint(-300, 300) for _ in range(2000)] + [
        5e-324,
        1.7976931348623157e308,
    ]
    for k in range(0, len(values) - 2, 3):
        model = Model(
            (Body("b", Inertia.zero()),), (TreeJoint("j", J.Fixed(), ROOT, Transform.translation(values[k : k + 3])),)
        )
        assert read_json(to_json(model, indent=None)).X_tree[0].r == tuple(values[k : k + 3])


def test_axes_are_not_normalised_again():
    rng = np.random.default_rng(0)
    for _ in range(200):
        kind = J.Revolute(rng.normal(size=3).tolist())
        model = Model((Body("b", Inertia.zero()),), (TreeJoint("j", kind, ROOT),))
        assert read_json(to_json(model)).joints[0].type == kind


def test_planar_models():
    from knuckle.model.edit.to_planar import to_planar

    rod = Inertia.of(1.0, (0.3, 0.1, 0.0), ((0, 0, 0), (0, 0, 0), (0, 0, 0.2)))
    look = (Geometry(Sphere(0.1), Transform.translation((0.0, 0.0, 0.5))),)
    spatial = Model(
        (Body("a", rod, look), Body("b", rod)),
        (
            TreeJoint("j", J.Revolute("z"), ROOT),
            TreeJoint("k", J.Prismatic("x"), 0, Transform.translation((0.5, 0, 0))),
        ),
        frames=(Frame("tip", 1, Transform.translation((0.1, 0.0, 0.0))),),
        gravity=(0.0, -9.81, 0.0),
    )
    model = to_planar(spatial)
    back = read_json(to_json(model))
    assert back == model
    assert written_out(back) == written_out(model)


def test_layout_is_for_people():
    text = to_json(example())
    assert '"gravity": [0.1, -0.2, -9.81],' in text
    assert '"parent": "ground"' in text
    assert '"limits": {' in text
    assert text.count("limits") == 2  # those that are infinite are left out
    assert len(to_json(example(), indent=None).splitlines()) == 1
    assert "provenance" not in to_json(example(), provenance=False)


def test_files(tmp_path: Path):
    write_json(example(), tmp_path / "m.json")
    assert load(tmp_path / "m.json", merge_fixed=False) == example()


@dataclass(frozen=True)
class Screw(J.Helical):
    """A joint of a user's own."""

    lead: float = 1.0

    def __init__(self, axis: Any = "z", pitch: float = 0.0, lead: float = 1.0) -> None:
        super().__init__(axis, pitch)
        object.__setattr__(self, "lead", lead)


@dataclass(frozen=True)
class Ramp:
    """A law of a user's own."""

    slope: float

    def __call__(self, t: Any) -> tuple[Any, Any, Any]:
        return (self.slope * t,), (self.slope,), (0.0,)


@pytest.mark.parametrize("kind", [Screw("x", 0.1, 2.0), J.Driven(J.Revolute(), Ramp(0.5))])
def test_classes_of_your_own(kind: J.Joint):
    model = Model((Body("b", Inertia.zero()),), (TreeJoint("j", kind, ROOT),))
    error = refused(to_json(model))
    assert error.element is not None
    assert error.element.startswith("$.joints[0].type")
    assert error.element.endswith(".type")
    assert "pass joint_types=[" in error.message
    assert read_json(to_json(model), joint_types=[Screw, Ramp]) == model


def test_what_json_cannot_hold():
    sympy = pytest.importorskip("sympy")

    def swing(q: Vector) -> Transform:
        return J.Revolute().transform(q)

    def model(kind: J.Joint = KINDS[0], X: Transform = FRAMES[0]) -> Model:
        return Model((Body("b", Inertia.zero()),), (TreeJoint("j", kind, ROOT, X),))

    for wrong, element, words in (
        (model(J.FunctionJoint(swing, "rad")), "$.joints[0].type.function", "a function"),
        (model(X=Transform.translation((sympy.Symbol("l"), 0, 0))), "$.joints[0].X_tree.r[0]", "sympy"),
        (model(X=Transform.translation((math.inf, 0, 0))), "$.joints[0].X_tree.r[0]", "inf is not a number"),
        (model(X=Transform.translation((math.nan, 0, 0))), "$.joints[0].X_tree.r[0]", "nan is not a number"),
    ):
        with pytest.raises(ModelError) as caught:
            to_json(wrong)
        assert caught.value.element == element
        assert words in caught.value.message


# in


def test_references_by_name_or_number():
    data = document()
    assert data["joints"][4]["parent"] == "b1"
    data["joints"][4]["parent"] = 1
    data["joints"][0]["parent"] = -1
    data["couplings"][0]["sources"] = [1]
    assert read_json(json.dumps(data)) == example()


def changed(path: str, value: Any) -> dict[str, Any]:
    """The example with another value at a path like "joints.3.type.axis"."""
    data = document()
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    place: Any = data
    for key in way:
        place = place[key]
    place[last] = value
    return data


@pytest.mark.parametrize(
    ("path", "value", "element", "words"),
    [
        ("format", "other", "$", '"format": "knuckle"'),
        ("version", 2, "$.version", "version 2 is newer than 1"),
        ("version", "1", "$.version", "expected a whole number"),
        ("version", True, "$.version", "expected a whole number"),
        ("algebra", "hyperbolic", "$.algebra", 'expected "spatial" or "planar"'),
        ("algebra", "planar", "$.base.inertia", "PlanarInertia has no 'h'"),
        ("extra", 1, "$", "a model has no 'extra'"),
        ("name", 3, "$.name", "found the number 3; expected a text"),
        ("name", "\ud800", "$.name", "half a character"),
        ("gravity", [0, 0], "$.gravity", "found 2 entries; expected 3"),
        ("gravity", 9.81, "$.gravity", "found the number 9.81; expected a list of 3"),
        ("gravity", [0, 0, "x"], "$.gravity[2]", "found a text 'x'; expected a number"),
        ("gravity", [0, 0, True], "$.gravity[2]", "found a truth value; expected a number"),
        ("bodies", {}, "$.bodies", "found an object; expected a list"),
        ("bodies.3", None, "$.bodies[3]", "found null; expected an object (Body)"),
        ("bodies.3.name", None, "$.bodies[3].name", "found null; expected a text"),
        ("frames.0.name", "b2", "$: b2", "two frames are called 'b2'"),
        ("bodies.3.colour", 1, "$.bodies[3]", "Body has no 'colour'; its keys are: name, inertia"),
        ("bodies.3.inertia.mass", [], "$.bodies[3].inertia.mass", "found a list; expected a number"),
        ("bodies.3.inertia.mass", "inf", "$.bodies[3].inertia.mass", "expected a number"),
        ("bodies.3.inertia.I", [1, 2, 3], "$.bodies[3].inertia.I", "found 3 entries; expected 6"),
        ("bodies.3.visuals.0.shape.type", "Cone", "$.bodies[3].visuals[0].shape", "one of: Box, Cylinder"),
        ("bodies.3.visuals.0.shape.size", [1, 2], "$.bodies[3].visuals[0].shape.size", "expected 3"),
        ("bodies.3.visuals.0.material", 1, "$.bodies[3].visuals[0].material", "expected an object (Material)"),
        ("joints.3.parent", "b99", "$.joints[3].parent", "there is no body called 'b99'"),
        ("joints.3.parent", 99, "$.joints[3].parent", "or a number from -1 to 21, found 99"),
        ("joints.3.parent", 1.0, "$.joints[3].parent", "the name of a body or a number"),
        ("joints.3.parent", "b5", "$: j3", "parent 5 of body 3 is not numbered before it"),
        ("joints.3.type", "Revolute", "$.joints[3].type", "found a text 'Revolute'; expected an object with a type"),
        ("joints.3.type", {}, "$.joints[3].type.type", "missing"),
        ("joints.3.type.type", "Hinge", "$.joints[3].type.type", "there is no type 'Hinge'; there are: Composite"),
        ("joints.3.type.type", "Polynomial", "$.joints[3].type", "Polynomial has no 'axis'"),
        ("joints.3.type", {"type": "Sinusoid", "amplitude": 1, "frequency": 1}, "$.joints[3].type", "found Sinusoid"),
        ("joints.17.type.q", ["x"], "$.joints[17].type.q[0]", "expected a number"),
        ("joints.3.type.axis", [0, 0, 0], "$.joints[3].type", "an axis needs a finite length above zero"),
        ("joints.3.type.axis", [0, 0], "$.joints[3].type.axis", "found 2 entries; expected 3"),
        ("joints.16.type.law", {"type": "Fixed"}, "$.joints[16].type.law", "found Fixed; expected a law of time"),
        ("joints.18.type.frames", [], "$.joints[18].type", "four control frames or more"),
        ("joints.20.type.joints.0", 1, "$.joints[20].type.joints[0]", "expected an object with a type"),
        ("joints.1.limits.lower", [0, 0], "$.joints[1].limits.lower", "found 2 entries; expected 1"),
        ("joints.1.limits.lower", ["nan"], "$.joints[1].limits.lower[0]", "expected a number"),
        ("joints.1.damping", [1, 2], "$.joints[1]", "damping needs 1 entries"),
        ("joints.1.damping", ["inf"], "$.joints[1].damping[0]", "expected a number"),
        ("loops.0.successor", None, "$.loops[0].successor", "the name of a body or a number"),
        ("frames.0.X.E", [[1, 0], [0, 1]], "$.frames[0].X.E", "found 2 entries; expected 3"),
        ("couplings.0.sources", ["j8"], "$: j8", "only joints of one freedom"),
        ("couplings.0.joint", "j1", "$: j1", "name an independent source"),
        ("provenance.notes.0.line", 1.5, "$.provenance.notes[0].line", "expected a whole number"),
    ],
)  # fmt: skip
def test_wrong_documents(path: str, value: Any, element: str, words: str):
    error = refused(changed(path, value))
    assert error.element == element, str(error)
    assert words in error.message
    assert len(str(error)) < 1000


@pytest.mark.parametrize("key", ["bodies", "joints"])
def test_missing_parts(key: str):
    data = document()
    del data[key]
    assert refused(data).element == f"$.{key}"


def test_missing_keys():
    data = document()
    del data["joints"][3]["type"]
    error = refused(data)
    assert (error.element, error.message) == ("$.joints[3].type", "missing; TreeJoint needs it")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("{", 1, "not valid JSON"),
        ('{"a": 1,\n"b": }', 2, "not valid JSON"),
        ("[" * 100_000, None, "nested too deep"),
        ('{"format": "knuckle", "format": "x"}', None, "the key 'format' stands twice"),
        ('{"a": NaN}', None, "NaN is not a number"),
        ('{"a": Infinity}', None, "Infinity is not a number"),
        ('{"a": ' + "9" * 10_000 + "}", None, "not valid JSON"),
        (b'{"a": "\xff"}', None, "cannot be decoded"),
        ("null", None, "not a model of knuckle's"),
    ],
)
def test_texts_that_are_no_documents(text: str | bytes, line: int | None, words: str):
    error = refused(text)
    assert error.line == line
    assert words in error.message


def test_numbers_beyond_floats():
    text = to_json(example()).replace("-9.81", "1e999")
    assert refused(text).element == "$.gravity[2]"
    assert "too large" in refused(to_json(example()).replace("-9.81", "1" + "0" * 400)).message


def test_joints_in_joints_in_joints():
    kind: Any = {"type": "Fixed"}
    for _ in range(300):
        kind = {"type": "Reversed", "joint": kind}
    error = refused(changed("joints.3.type", kind))
    assert "nested too deep" in error.message or error.element == "$.joints[3].type"


def test_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("knuckle.formats.json.json_reader.MAX_BYTES", 100)
    assert "the limit is" in refused(to_json(example())).message


@pytest.mark.slow
@pytest.mark.parametrize("count", quick([50, 500], [50]))
def test_any_damage_is_a_model_error_or_a_model(count: int):
    """Documents with one value replaced by something else, or one key taken away."""
    rng = random.Random(0)
    odd = [None, True, -1, 0, 10**30, 1e308, "", "b1", "inf", [], [[]], {}, {"type": "Free"}, {"type": "Composite"}]
    original = document()
    accepted = 0
    for _ in range(count):
        data = copy.deepcopy(original)
        place: Any = data
        while True:
            keys = list(place) if isinstance(place, dict) else list(range(len(place)))
            if not keys:
                break
            key = rng.choice(keys)
            if isinstance(place[key], (dict, list)) and rng.random() < 0.8:
                place = place[key]
                continue
            if isinstance(place, dict) and rng.random() < 0.2:
                del place[key]
            else:
                place[key] = rng.choice(odd)
            break
        try:
            model = read_json(json.dumps(data))
        except ModelError:
            continue
        accepted += 1
        assert read_json(to_json(model)) == model
    assert 0 < accepted < 0.9 * count


def test_contact_comes_back_and_is_left_out_where_there_is_none():
    b = knuckle.Builder("crawler")
    b.surface("rubber", friction=0.9, torsional=0.01, rolling=0.001, restitution=0.1)
    b.surface("foam", stiffness=1e4, damping=3.0)
    b.surface_pair("rubber", "", friction=0.4)
    b.ground(normal=(0, 1, 2), height=0.1, surface="foam")
    b.terrain([[0.0, 0.1], [0.2, 0.3]], spacing=(0.5, 0.25))
    foot = Geometry(Sphere(0.1), surface="rubber", contact_type=6, contact_affinity=0)
    b.body("foot", joint=J.Free(), mass=1.0, collisions=foot)
    b.ignore_contact("base", "foot")
    model = b.build()
    back = read_json(to_json(model))
    assert back == model
    assert back.content_hash == model.content_hash
    assert [repr(g) for g in back.base.collisions] == [repr(g) for g in model.base.collisions]
    assert "ignored" not in to_json(model.replace(contact=ContactRules(model.contact.surfaces)))
    assert "contact" not in json.loads(to_json(knuckle.robots.load("arm")))


@pytest.mark.parametrize(
    ("contact", "complaint"),
    [
        ({"surfaces": [{"name": "a", "friction": -1}]}, r"\$\.contact\.surfaces\[0\].*friction is a number from 0 on"),
        ({"surfaces": [{"name": "a"}, {"name": "a"}]}, "two surfaces are called 'a'"),
        ({"pairs": [{"first": "a", "second": "", "contact": {}}]}, "no surface is called 'a'"),
        ({"ignored": [["base", "nobody"]]}, "no body is called 'nobody'"),
        ({"ignored": [["base"]]}, r"\$\.contact\.ignored\[0\]: found 1 entries; expected 2"),
        ({"rules": []}, "ContactRules has no 'rules'"),
    ],
)
def test_contact_that_is_wrong_is_refused(contact: Any, complaint: str):
    arm = json.loads(to_json(knuckle.robots.load("arm")))
    arm["base"]["name"] = "base"
    with pytest.raises(ModelError, match=complaint):
        read_json(json.dumps({**_on_base(arm), "contact": contact}))


def _on_base(document: Any) -> Any:
    """The document of a model without joints: its base alone."""
    return {**document, "bodies": [], "joints": [], "frames": [], "loops": [], "couplings": []}
