"""Couplings through files, edits and the plane; what is said of them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

import knuckle as kn
from knuckle.formats.json import to_json
from knuckle.formats.mjcf.mjcf_writer import to_mjcf
from knuckle.formats.urdf.urdf_writer import to_urdf
from knuckle.joints import Prismatic, Revolute
from knuckle.model import Builder, CouplingLaw, Linear, Model, Powers, edit, solid_box
from knuckle.model.coupling_laws import Held
from knuckle.scalar import sin
from knuckle.spatial import Vector
from knuckle.testing import random_state
from knuckle.testing.compare import close

BOX = solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0.01, 0.02))


@dataclass(frozen=True)
class Wave(CouplingLaw):
    """A law of one's own."""

    size: float

    def value(self, y: Vector) -> Any:
        return self.size * sin(y[0])


@dataclass(frozen=True)
class Product(CouplingLaw):
    """Another, of two joints."""

    def value(self, y: Vector) -> Any:
        return y[0] * y[1]


def arm(*couplings: tuple[str, Any, Any]) -> Model:
    """Four joints about z, in a row but for the last."""
    b = Builder("arm", gravity=(0, -9.81, 0))
    for on, name in ((None, "a"), ("a", "b"), ("b", "c"), ("a", "d")):
        b.body(name, on=on, joint=Revolute("z"), at=(0.3, 0, 0), inertia=BOX, limits=(-2, 2))
    for joint, to, law in couplings:
        b.couple(joint, to, law)
    return b.build()


def same_dynamics(one: Model, two: Model, factor: float = 10.0) -> None:
    s = random_state(one, 4)
    close(kn.inverse_dynamics(one, s.q, s.v, s.a), kn.inverse_dynamics(two, s.q, s.v, s.a), factor)


# files


@pytest.mark.parametrize("law", [0.5, Powers((0.1, -0.5, 0.25)), Wave(0.5)], ids=["ratio", "powers", "own"])
def test_json_keeps_couplings(law: Any):
    model = arm(("c_joint", "a_joint", law), ("d_joint", ("a_joint", "b_joint"), (1 / 3, -2.0)))
    back = kn.formats.loads(to_json(model), joint_types=[Wave])
    assert back == model
    assert back.content_hash == model.content_hash


def test_json_keeps_laws_that_are_held():
    model = edit.lock(arm(("c_joint", ("a_joint", "b_joint"), Product())), {"b_joint": 0.25})
    assert model.couplings[0].law == Held(Product(), (1,), (0.25,))
    assert kn.formats.loads(to_json(model), joint_types=[Product]) == model


def test_a_law_of_ones_own_has_to_be_handed_over():
    text = to_json(arm(("c_joint", "a_joint", Wave(0.5))))
    with pytest.raises(kn.ModelError, match=r"\$\.couplings\[0\]\.law.*Wave"):
        kn.formats.loads(text)


@pytest.mark.parametrize(
    ("sources", "law", "place", "words"),
    [
        ("a_joint", {"type": "Linear", "ratios": [1]}, "sources", "a list"),
        (["x"], {"type": "Linear", "ratios": [1]}, "sources", "no joint called 'x'"),
        (["a_joint"], {"type": "Revolute", "axis": [0, 0, 1]}, "law", "CouplingLaw"),
        (["a_joint"], {"type": "Linear", "ratios": [1, 2]}, "c_joint", "one of 2 joints"),
    ],
)
def test_json_that_is_wrong(sources: Any, law: dict[str, Any], place: str, words: str):
    document = json.loads(to_json(arm()))
    document["couplings"] = [{"joint": "c_joint", "sources": sources, "law": law}]
    with pytest.raises(kn.ModelError, match=words) as caught:
        kn.formats.loads(json.dumps(document))
    assert place in str(caught.value)


def test_urdf_keeps_mimic_joints():
    model = arm(("c_joint", "a_joint", Linear((-0.5,), 0.25))).with_gravity((0, 0, -9.81))
    back = kn.formats.loads(to_urdf(model))
    assert back.couplings == model.couplings
    same_dynamics(back, model)


@pytest.mark.parametrize("law", [(0.5, 0.5), lambda x, y: x * y], ids=["differential", "function"])
@pytest.mark.parametrize("write", [to_urdf, to_mjcf], ids=["urdf", "mjcf"])
def test_what_files_cannot_say(write: Any, law: Any):
    with pytest.raises(kn.ModelError, match=r"c_joint: .* follows 'a_joint', 'b_joint'.*JSON.*without_couplings\(\)"):
        write(arm(("c_joint", ("a_joint", "b_joint"), law)), lossy=True)


def test_mjcf_keeps_polynomials():
    model = arm(("c_joint", "a_joint", Powers((0.1, 0.5, 0.0, -0.25))), ("d_joint", "b_joint", 3.0))
    back = kn.formats.loads(to_mjcf(model, lossy=True), format="mjcf")
    names = {c.joint: c for c in back.couplings}
    assert names[back.joint_index("c_joint")].law == Powers((0.1, 0.5, 0.0, -0.25))
    assert names[back.joint_index("d_joint")].law == Linear((3.0,))
    same_dynamics(back, model, 100)


# edits


def test_locking_one_of_two_sources_holds_the_law():
    """tests/couplings/rows compare the dynamics; here what is left of the laws."""
    model = arm(
        ("c_joint", ("a_joint", "b_joint"), (0.5, -2.0)), ("d_joint", ("a_joint", "b_joint"), lambda x, y: x * y)
    )
    locked = edit.lock(model, {"b_joint": 0.25})
    linear, held = (c.law for c in locked.couplings)
    assert linear == Linear((0.5,), -0.5)
    assert [c.sources for c in locked.couplings] == [(0,), (0,)]
    assert float(held.value(Vector([3.0]))) == 0.75


def test_locking_every_source_locks_what_follows():
    model = arm(("c_joint", ("a_joint", "b_joint"), lambda x, y: x * y))
    locked = edit.lock(model, {"a_joint": 0.5, "b_joint": 0.25})
    assert (locked.nv, locked.couplings) == (1, ())
    close(kn.pose(locked, [0.3], "c"), kn.pose(model.without_couplings(), [0.5, 0.25, 0.125, 0.3], "c"))


def test_what_follows_is_not_locked():
    model = arm(("c_joint", ("a_joint", "b_joint"), (0.5, 0.5)))
    with pytest.raises(kn.ModelError, match="c_joint: it follows 'a_joint' and 'b_joint': lock that instead"):
        edit.lock(model, {"c_joint": 0.0})


def test_a_part_without_a_source_is_free_and_says_so():
    model = arm(("c_joint", ("a_joint", "b_joint"), (0.5, 0.5)))
    part = edit.submodel(model, "b", moving=True)
    assert (part.nv, part.couplings) == (2, ())
    assert [(n.subject, n.text) for n in part.provenance.notes][-1] == (
        "c_joint", "independent here: 'a_joint', which it follows, is not in the part"
    )  # fmt: skip


def test_the_plane():
    model = arm(("c_joint", "a_joint", lambda x: sin(x)), ("d_joint", ("a_joint", "b_joint"), (0.5, -0.5)))
    flat = kn.model.to_planar(model)
    assert flat.couplings == model.couplings
    s = random_state(model, 1)
    close(kn.inverse_dynamics(flat, s.q, s.v, s.a), kn.inverse_dynamics(model, s.q, s.v, s.a), 10)
    close(kn.coriolis_matrix(flat, s.q, s.v), kn.coriolis_matrix(model, s.q, s.v), 10)
    Y, parameters = kn.identification.regressor(flat, s.q, s.v, s.a), kn.identification.inertial_parameters(flat)
    assert Y.shape == (2, 16)
    close(Y @ parameters, kn.inverse_dynamics(model, s.q, s.v, s.a), 10)


def test_loops_that_share_a_coupling_are_one_cluster():
    from knuckle.model.loop_clusters import clusters

    b = Builder("two loops")
    for k in (0, 1):
        b.body(f"crank{k}", joint=Revolute("y"), at=(0, float(k), 0), inertia=BOX)
        b.body(f"rod{k}", on=f"crank{k}", joint=Revolute("y"), at=(0.3, 0, 0), inertia=BOX)
        b.body(f"block{k}", joint=Prismatic("x"), at=(0.8, float(k), 0), inertia=BOX)
        b.close_loop(f"pin{k}", Revolute("y"), f"block{k}", f"rod{k}", at_successor=(0.5, 0, 0))
    apart = b.build()
    assert len(clusters(apart)) == 2
    assert len(clusters(edit.couple(apart, "crank1_joint", "crank0_joint", -1.0))) == 1


# words


def test_what_is_said():
    model = arm(("c_joint", ("a_joint", "b_joint"), (0.5, -2.0)), ("d_joint", "a_joint", Powers((0.0, 1.0, -0.5))))
    text = str(kn.audit(model))
    assert "follows 'a_joint', 'b_joint': q = 0.5 q[a_joint] + -2 q[b_joint]" in text
    assert "follows 'a_joint': q = 1 q[a_joint] + -0.5 q[a_joint]^2" in text
    assert "coupled joints: 2" in text
