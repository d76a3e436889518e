"""What `kn.accuracy` says of mechanisms whose accuracy is known (RBDA 10.1, 10.2)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import knuckle as kn
from knuckle.accuracy.assess import _exact_results
from knuckle.accuracy.function_errors import condition_of_map, error_of, exact_result
from knuckle.accuracy.least_depth import depth, position_of
from knuckle.accuracy.remedies import _body_frames, _depth, _inertia_ratios
from knuckle.accuracy.sensitivity import mass_matrix_conditions
from knuckle.joints import Revolute
from knuckle.model import LoopJoint, Model, solid_box
from knuckle.spatial import Inertia, Transform


def chain(n: int) -> Model:
    """Identical rods about parallel axes."""
    b, rod = kn.Builder(f"{n} links"), Inertia.of(1.0, (0.5, 0, 0), ((1e-2, 0, 0), (0, 1 / 12, 0), (0, 0, 1 / 12)))
    for k in range(n):
        b.body(f"b{k}", f"b{k - 1}" if k else None, Revolute("z"), (1.0, 0.0, 0.0) if k else None, inertia=rod)
    return b.build()


def ring(n: int) -> tuple[Model, np.ndarray]:
    """A chain whose last body is pinned to the ground: a closed polygon of n + 1 sides, and its position."""
    angle = 2 * np.pi / (n + 1)
    model = chain(n)
    loop = LoopJoint("closing", Revolute("z"), -1, n - 1, Transform.translation((1.0, 0, 0)),
                     Transform.translation((1.0, 0, 0)))  # fmt: skip
    return model.replace(loops=(loop,)), np.array([np.pi - angle, *(n - 1) * [-angle]])


@pytest.mark.parametrize("n", [4, 6, 10])
def test_a_straight_chain_has_the_condition_of_the_book(n: int) -> None:
    """4 NB⁴ (RBDA 10.2)."""
    plain, _ = mass_matrix_conditions(chain(n), np.zeros(n))
    assert 0.9 < plain / (4 * n**4) < 1.2


def test_errors_are_roundings_and_conditions_explain_them() -> None:
    model = kn.robots.load("double_pendulum").without_friction()
    rng = np.random.default_rng(0)
    q, v, tau = rng.standard_normal((3, 5, 2)).astype(np.float32).astype(float)
    state = {"q": q, "v": v, "tau": tau}
    exact = exact_result(model, "forward_dynamics", state, 50)
    double, single = (error_of(model, "forward_dynamics", state, exact, kind) for kind in ("float64", "float32"))
    assert 0 < double.worst < 1e-13
    assert 1e-9 < single.worst < 1e-4
    assert double.beyond_inputs < 3
    assert double.digits > 13


def test_the_condition_of_a_map_is_what_small_changes_do() -> None:
    model = kn.robots.load("double_pendulum").without_friction()
    q, step = np.array([[0.4, 1.3]]), 1e-7
    state = {"q": q}
    right = np.asarray(kn.mass_matrix(model, q))
    limit = condition_of_map(model, "mass_matrix", state, right)[0]
    signs = np.array([[1, 1], [1, -1], [-1, 1], [-1, -1]])
    changed = kn.mass_matrix(model, q * (1 + step * signs))
    largest = np.abs(changed - right).max(axis=(1, 2)).max() / np.abs(right).max() / step
    assert largest == pytest.approx(limit, rel=1e-4)


def test_sensitivities_are_slopes() -> None:
    """Of a bent chain of three: one per mille of a torque, a length, an inertia."""
    model, step = chain(3), 1e-6
    q, v, tau = np.array([0.3, 1.0, -0.7]), np.array([0.2, -0.1, 0.4]), np.array([5.0, 3.0, -1.0])
    a = kn.forward_dynamics(model, q, v, tau)
    row = kn.accuracy.sensitivities(model, q, v, tau)[1]
    joint, body = model.joints[1], model.bodies[1]
    longer = joint.__class__(joint.name, joint.type, joint.parent, Transform.translation((1 + step, 0, 0)))
    heavier = body.__class__(body.name, body.inertia * (1 + step))
    others = {
        "torque": kn.forward_dynamics(model, q, v, tau * [1, 1 + step, 1]),
        "length": kn.forward_dynamics(model.replace(joints=(model.joints[0], longer, model.joints[2])), q, v, tau),
        "inertia": kn.forward_dynamics(model.replace(bodies=(model.bodies[0], heavier, model.bodies[2])), q, v, tau),
    }
    for name, changed in others.items():
        slope = np.abs(changed - a).max() / step / np.abs(a).max()
        assert getattr(row, name) == pytest.approx(slope, rel=1e-3)


def test_a_ring_is_cut_at_half_its_length() -> None:
    model, q = ring(6)
    cut = kn.accuracy.least_depth(model)
    assert (depth(model), depth(cut)) == (6, 3)
    there = position_of(model, q, cut)
    assert np.abs(kn.loops.error(cut, there)).max() < 1e-12
    for name in model.body_names:
        there_pose = kn.pose(cut, there, f"{name}_origin" if f"{name}_origin" in cut.frame_names else name)
        np.testing.assert_allclose(kn.pose(model, q, name), there_pose, atol=1e-12)
    remedy = _depth(model, {"q": q[None]})
    assert remedy.helps
    assert "6 joints deep, and 3 would do" in remedy.finding
    assert not _depth(chain(4), {"q": np.zeros((1, 4))}).helps


def test_remedies_name_the_body() -> None:
    b = kn.Builder("mast")
    b.body("foot", None, Revolute("x"), inertia=solid_box(1.0, (0.1, 0.1, 0.1)))
    far = Inertia.of(1e-5, (0.0, 0.0, 30.0), ((1e-7, 0, 0), (0, 1e-7, 0), (0, 0, 1e-7)))
    b.body("flag", "foot", Revolute("z"), (0.1, 0.2, 0.3), inertia=far)
    frames, ratios = _body_frames(b.build()), _inertia_ratios(b.build())
    assert frames.helps
    assert "flag" in frames.finding
    assert ratios.helps
    assert "100000-fold" in ratios.finding
    assert not _body_frames(chain(2)).helps
    assert not _inertia_ratios(chain(2)).helps


def empty_finger() -> Model:
    b = kn.Builder("arm with an empty finger")
    b.body("arm", None, Revolute("y"), inertia=solid_box(1.0, (0.1, 0.1, 0.3)))
    b.body("finger", "arm", Revolute("x"), (0.0, 0.0, 0.3))
    return b.build()


def test_a_joint_that_moves_no_inertia_leaves_the_functions_that_need_no_inverse() -> None:
    state = {name: np.full((1, 2), 0.3) for name in ("q", "v", "a", "tau")}
    exact, undefined = _exact_results(empty_finger(), state, 30)
    assert undefined == ("forward_dynamics",)
    assert float(exact["mass_matrix"][0, 0, 0]) > 0
    assert {"inverse_dynamics", "jacobian", "kinetic_energy"} < set(exact)


@pytest.mark.slow
def test_a_report_says_what_is_not_defined(tmp_path: Path) -> None:
    report = kn.accuracy.assess(empty_finger(), states=2)
    assert report.undefined == ("forward_dynamics",)
    assert report.error("inverse_dynamics").worst < 1e-14
    assert "Not defined for this mechanism: forward_dynamics" in repr(report)
    report.plot(tmp_path / "report.png")


def test_wrong_arguments_are_named() -> None:
    model = kn.robots.load("pendulum")
    for arguments, match in (
        ({"states": 0}, "states=0"),
        ({"digits": 16}, "digits=16"),
        ({"q": [[1, 2]]}, "q has shape"),
        ({"q": np.zeros((0, 1))}, "q has shape"),
        ({"q": [[0.0], [np.nan]]}, "q has numbers that are not finite, the first in state 1"),
        ({"v": [np.inf]}, "v has numbers that are not finite"),
    ):
        with pytest.raises(ValueError, match=match):
            kn.accuracy.assess(model, **arguments)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="assess needs a"):
        kn.accuracy.assess("pendulum")  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["double_pendulum", "quadruped", "four_bar"])
def test_a_report_in_words_and_as_a_picture(robot: str, tmp_path: Path) -> None:
    model = kn.robots.load(robot).without_friction()
    report = kn.accuracy.assess(model, states=3)
    assert all(entry.worst < 1e-10 for entry in report.errors if entry.precision == "float64")
    assert all(entry.beyond_inputs < 6 for entry in report.errors)
    assert not any(remedy.helps for remedy in report.remedies)
    assert "What would help" in repr(report)
    with pytest.raises(KeyError, match="there are"):
        report.error("nothing")
    report.plot(tmp_path / "report.png")
    assert (tmp_path / "report.png").stat().st_size > 10_000
