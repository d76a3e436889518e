"""`kn.kernel`: a user's function as one piece of native code."""

import copy
import dataclasses
import pickle
import re
from fractions import Fraction
from typing import Any, NamedTuple

import casadi as ca
import mpmath as mp
import numpy as np
import pytest
import sympy as sp

import knuckle as kn
from knuckle import elements
from knuckle.engine.calls.function import Function
from knuckle.engine.kernels.kernel_registry import kernels
from knuckle.engine.native import machine_code, python_abi
from knuckle.model import Model
from knuckle.public_names import everything
from knuckle.scalar import cos, select
from knuckle.scalar import less as is_less
from knuckle.spatial import Matrix, Vector
from knuckle.testing.loops.linkages import bennett

from .mechanisms import MODELS, chain, slides, states

ARM, TREE = MODELS["arm"], MODELS["tree"]


@pytest.fixture(autouse=True)
def native_code(monkeypatch: pytest.MonkeyPatch, _plain: None) -> None:
    monkeypatch.setattr(kernels, "policy", "auto")


@kn.kernel
def pd(model: Model, q: Any, v: Any, q_ref: Any, kp: Any, kd: Any) -> Any:
    """Gravity-compensated control."""
    return kn.inverse_dynamics(model, q, v, kp * (q_ref - q) - kd * v)


def by_hand(model: Model, q: Any, v: Any, q_ref: Any, kp: Any, kd: Any) -> Any:
    return kn.inverse_dynamics(model, q, v, kp * (q_ref - q) - kd * v)


class Both(NamedTuple):
    J: Any
    energy: Any


@kn.kernel
def several(model: Model, q: Any, v: Any, *, frame: str = "tool") -> Any:
    J = kn.jacobian(model, q, frame)
    return {
        "twist": J @ v,
        "both": Both(J, kn.kinetic_energy(model, q, v)),
        "poses": kn.body_poses(model, q),
        "pair": (q[0], [v[0], 2.0]),
    }


def test_the_example_of_the_design():
    s, ref = states(ARM, (3, 5)), np.array([0.1, 0.2, 0.3])
    np.testing.assert_allclose(pd(ARM, s.q, s.v, ref, 20.0, 3), by_hand(ARM, s.q, s.v, ref, 20.0, 3), rtol=1e-12)
    assert pd(ARM, s.q[0, 0], s.v[0, 0], ref, 20.0, 3).shape == (3,)
    gains = np.array([1.0, 2.0, 3.0])
    found = pd(ARM, s.q, s.v, ref, gains, np.array(0.5))
    np.testing.assert_allclose(found, by_hand(ARM, s.q, s.v, ref, gains, 0.5), rtol=1e-12)


def test_it_is_native_at_once(monkeypatch: pytest.MonkeyPatch):
    python_abi._python_abi()  # the entry from Python, which every call needs, is there
    texts: list[str] = []
    compile_text = machine_code.compile_text
    monkeypatch.setattr(machine_code, "compile_text", lambda text: texts.append(text) or compile_text(text))
    own = kn.kernel(lambda model, q, k: k * kn.gravity_force(model, q))
    model = chain(2)
    for k in range(5):
        own(model, np.ones(2), float(k))
    assert len(texts) == 1, "other numbers are no other kernel"
    own(model, np.ones((7, 2)), 1.0)
    assert len(texts) == 1
    monkeypatch.setattr(kernels, "policy", "never")
    np.testing.assert_allclose(own(chain(2), np.ones(2), 2.0), 2 * kn.gravity_force(model, np.ones(2)))
    assert len(texts) == 1


def test_results_in_tuples_and_dicts():
    s = states(ARM, (4,))
    found = several(ARM, s.q, s.v)
    assert list(found) == ["twist", "both", "poses", "pair"]
    np.testing.assert_allclose(found["both"].J, kn.jacobian(ARM, s.q, "tool"), atol=1e-14)
    np.testing.assert_allclose(found["both"].energy, kn.kinetic_energy(ARM, s.q, s.v), rtol=1e-13)
    np.testing.assert_allclose(found["twist"], kn.velocity(ARM, s.q, s.v, "tool"), atol=1e-13)
    np.testing.assert_allclose(found["poses"], kn.body_poses(ARM, s.q), atol=1e-14)
    assert isinstance(found["pair"], tuple)
    np.testing.assert_array_equal(found["pair"][0], s.q[:, 0])
    np.testing.assert_array_equal(found["pair"][1], np.stack([s.v[:, 0], np.full(4, 2.0)], -1))
    assert isinstance(several(ARM, s.q[0], s.v[0])["both"].energy, np.float64)
    other = several(ARM, s.q, s.v, frame="lower")
    np.testing.assert_allclose(other["twist"], kn.velocity(ARM, s.q, s.v, "lower"), atol=1e-13)


def test_precision_follows_the_arrays_not_pythons_numbers():
    s = states(ARM, (3,))
    q, v = s.q.astype(np.float32), s.v.astype(np.float32)
    found = pd(ARM, q, v, q, 20.0, 3)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, by_hand(ARM, s.q, s.v, s.q, 20.0, 3), rtol=2e-5, atol=2e-5)
    assert pd(ARM, q, v, s.q, 20.0, 3).dtype == np.float64
    assert pd(ARM, q, v, q, np.float64(20.0), 3).dtype == np.float64
    assert kn.kernel(lambda model, k: 2 * k)(ARM, 3) == 6.0
    ones = np.ones(3, int)
    assert pd(ARM, ones, ones, ones, 1, 1).dtype == np.float64


def test_external_forces_have_two_axes():
    @kn.kernel
    def pushed(model: Model, q: Any, v: Any, a: Any, f_ext: Any = None) -> Any:
        return kn.inverse_dynamics(model, q, v, a, f_ext)

    s = states(TREE, (4,))
    np.testing.assert_allclose(
        pushed(TREE, s.q, s.v, s.a, s.f_ext), kn.inverse_dynamics(TREE, s.q, s.v, s.a, s.f_ext), atol=1e-11
    )
    np.testing.assert_allclose(pushed(TREE, s.q, s.v, s.a), kn.inverse_dynamics(TREE, s.q, s.v, s.a), atol=1e-11)
    one = pushed(TREE, s.q, s.v, s.a, s.f_ext[0])
    np.testing.assert_array_equal(one, pushed(TREE, s.q, s.v, s.a, np.broadcast_to(s.f_ext[0], s.f_ext.shape)))
    with pytest.raises(ValueError, match=r"f_ext has shape \(6,\), and must have shape \(\.\.\., nb, 6\)"):
        pushed(TREE, s.q, s.v, s.a, np.zeros(6))


def test_kernels_call_kernels():
    @kn.kernel
    def twice(model: Model, q: Any, v: Any) -> Any:
        return several(model, q, v)["twist"] + several(model, q, v)["twist"], pd(model, q, v, q, 0.0, 1.0)

    s = states(ARM, (2,))
    twist, tau = twice(ARM, s.q, s.v)
    np.testing.assert_allclose(twist, 2 * kn.velocity(ARM, s.q, s.v, "tool"), atol=1e-13)
    np.testing.assert_allclose(tau, kn.inverse_dynamics(ARM, s.q, s.v, -s.v), rtol=1e-12)


def test_constants_mix_with_symbols():
    rest = np.array([0.1, -0.2, 0.3])

    @kn.kernel
    def from_rest(model: Model, q: Any) -> Any:
        H = kn.mass_matrix(model, rest)  # of numbers: a constant of the code
        return H @ (q - Vector(rest)), cos(q[0]), select(is_less(q[0], 0), -q[0], q[0]), np.eye(2)

    q = states(ARM, (5,)).q
    force, c, size, unit = from_rest(ARM, q)
    np.testing.assert_allclose(force, (q - rest) @ kn.mass_matrix(ARM, rest), atol=1e-14)
    np.testing.assert_allclose(c, np.cos(q[:, 0]), rtol=1e-15)
    np.testing.assert_array_equal(size, abs(q[:, 0]))
    np.testing.assert_array_equal(unit, np.broadcast_to(np.eye(2), (5, 2, 2)))


@pytest.mark.parametrize("batch", [(), (1,), (7,), (3, 5), (0,), (2, 0, 3)])
def test_batches(batch: tuple[int, ...]):
    s = states(ARM, batch)
    found = several(ARM, s.q, s.v)
    assert found["both"].J.shape == (*batch, 6, 3)
    assert np.shape(found["pair"][0]) == batch
    np.testing.assert_allclose(found["twist"], kn.velocity(ARM, s.q, s.v, "tool"), atol=1e-13)


def test_a_vector_of_one_is_no_number():
    model = chain(1)

    @kn.kernel
    def scaled(model: Model, q: Any, k: Any) -> Any:
        return k * q

    assert scaled(model, np.array([3.0]), 2.0).tolist() == [6.0]
    assert scaled(model, np.array([3.0]), np.array([2.0])).tolist() == [6.0]
    assert scaled(model, [[3.0], [4.0]], [[2.0], [5.0]]).tolist() == [[6.0], [20.0]]
    assert scaled(model, 3.0, 2.0) == 6.0
    assert isinstance(scaled(model, 3.0, 2.0), np.float64)


# other kinds of numbers


def test_symbols_of_other_packages():
    """The same function gives formulas."""
    own = kn.kernel(lambda model, q, v, k: (k * q, kn.kinetic_energy(model, q, v), kn.mass_matrix(model, q)))
    q, v, k = sp.Matrix(sp.symbols("q:3")), sp.Matrix(sp.symbols("v:3")), sp.Symbol("k")
    model = slides()
    scaled, energy, H = own(model, q, v, k)
    assert scaled == k * q
    assert sp.expand(energy - sum(3 * x**2 - i * x**2 for i, x in enumerate(v))) == 0
    assert sp.diag(6, 4, 2) == H
    x, u = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    scaled, energy, H = own(model, x, u, 2.0)
    assert scaled.shape == (3, 1)
    assert H.shape == (3, 3)
    value = ca.Function("f", [u], [energy])([1, 1, 1])
    assert float(value) == 6.0
    scaled, energy, H = own(model, [Fraction(1, 3)] * 3, [Fraction(1, 2)] * 3, Fraction(2))
    assert scaled.tolist() == [Fraction(2, 3)] * 3
    assert energy == Fraction(6, 4)
    with mp.workdps(30):
        scaled, energy, _ = own(model, mp.matrix([1, 2, 3]), mp.matrix(["0.1", 0, 0]), mp.mpf(2))
        assert scaled[2] == 6
        assert abs(energy - mp.mpf("0.03")) < mp.mpf(10) ** -28


def test_complex_steps():
    s = states(ARM)
    h = 1e-30
    slope = pd(ARM, s.q, s.v, s.q, 5.0, 2.0 + h * 1j).imag / h
    np.testing.assert_allclose(slope, -kn.mass_matrix(ARM, s.q) @ s.v, rtol=1e-10)


# texts that cannot be traced


def test_a_text_that_looks_at_values_runs_state_by_state():
    @kn.kernel
    def folded(model: Model, q: Any) -> Any:
        return q[0] if q[0] > 0 else -q[0]

    q = states(ARM, (5,)).q
    with pytest.warns(RuntimeWarning, match="folded runs as plain Python, which is slow: no native code") as warned:
        np.testing.assert_array_equal(folded(ARM, q), abs(q[:, 0]))
    assert warned[0].filename == __file__
    np.testing.assert_array_equal(folded(ARM, q), abs(q[:, 0]))  # and says it no more
    assert folded(ARM, q[:0]).shape == (0,)

    @kn.kernel
    def inverse(model: Model, q: Any) -> Any:
        return 1.0 / q[0] if q[0] < 2 else q[1]

    with pytest.warns(RuntimeWarning, match="inverse runs as plain"):
        assert inverse(ARM, [[0.0, 0, 0], [4.0, 1, 0]]).tolist() == [np.inf, 1.0]


def test_a_failure_to_compile_loses_no_call(monkeypatch: pytest.MonkeyPatch):
    def fails(text: str) -> bytes:
        raise RuntimeError("no such instruction")

    monkeypatch.setattr(machine_code, "compile_text", fails)
    s = states(ARM, (3,))
    own = kn.kernel(lambda model, q: 3.5 * kn.gravity_force(model, q))
    with pytest.warns(RuntimeWarning, match=r"<lambda> runs as plain.*no such instruction"):
        found = own(ARM, s.q)
    np.testing.assert_allclose(found, 3.5 * kn.gravity_force(ARM, s.q), rtol=1e-12, atol=1e-13)
    np.testing.assert_array_equal(own(ARM, s.q), found)


def test_large_angles_and_strange_rows():
    s = states(ARM, (9,))
    expected = several(ARM, s.q, s.v)["both"].J
    for bad in (1e6, np.nan, np.inf):
        q = s.q.copy()
        q[4, 2] = bad
        J = several(ARM, q, s.v)["both"].J
        np.testing.assert_array_equal(np.delete(J, 4, 0), np.delete(expected, 4, 0))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kernels, "policy", "never")
            np.testing.assert_allclose(J[4], kn.jacobian(ARM, q[4], "tool"), atol=1e-13)


# errors


@pytest.mark.parametrize(
    ("call", "kind", "message"),
    [
        (lambda: pd(ARM, [0, 0], [0, 0, 0], [0, 0, 0], 1, 1), ValueError, "vectors of lengths 3 and 2 do not fit"),
        (lambda: several(ARM, [0, 0], [0, 0, 0]), ValueError, "q has shape (2,), and must have shape (3,)"),
        (lambda: pd(None, 1, 1, 1, 1, 1), TypeError, "pd needs a knuckle.Model first, not NoneType"),
        (lambda: pd(ARM, [0, 0, 0]), TypeError, "pd: missing a required argument: 'v'"),
        (lambda: pd(ARM, [[1, 2], [3]], 1, 1, 1, 1), ValueError, "q is not an array of numbers"),
        (lambda: several(ARM, np.ones((2, 3)), np.ones((4, 3))), ValueError, "do not broadcast: q (2,), v (4,)"),
        (lambda: several(ARM, [0] * 3, [0] * 3, frame="nowhere"), KeyError, "no frame is called 'nowhere'"),
        (lambda: several(ARM, [0] * 3, [0] * 3, frame=["tool"]), TypeError, "the option frame is a list, which cannot"),
        (lambda: kn.kernel(lambda: 1), TypeError, "takes no model first"),
        (lambda: kn.kernel(lambda model, *q: q), TypeError, "the arguments of a kernel have names, which *q has not"),
        (lambda: kn.kernel(lambda model, q: None)(ARM, [0] * 3), TypeError, "returns a NoneType, and must return"),
        (lambda: kn.kernel(lambda model, q: "q")(ARM, [0] * 3), TypeError, "returns a str, and must return"),
    ],
)  # fmt: skip
def test_errors(call: Any, kind: type[Exception], message: str):
    with pytest.raises(kind, match=re.escape(message)):
        call()


# the function behind it


def test_reference_is_the_text():
    s = states(ARM)
    found = pd.reference(ARM, s.q, s.v, s.q, 2.0, 1.0)
    assert isinstance(found, Vector)
    np.testing.assert_allclose(list(found), pd(ARM, s.q, s.v, s.q, 2.0, 1.0), rtol=1e-12)
    assert isinstance(several.reference(ARM, list(s.q), list(s.v))["both"].J, Matrix)
    with pytest.raises(ValueError, match="a kernel's text sees one state"):
        several.reference(ARM, *np.zeros((2, 4, 3)))["both"]


def test_name_signature_and_pickle():
    assert (pd.__name__, pd.__doc__) == ("pd", "Gravity-compensated control.")
    assert repr(pd).startswith("<knuckle kernel pd(model, ")
    assert isinstance(pd, Function)
    assert copy.deepcopy(pd) is pd
    assert pickle.loads(pickle.dumps(kn.inverse_dynamics)) is kn.inverse_dynamics


def test_program_and_operation_count():
    plain = kn.compilation.operation_count(kn.inverse_dynamics, ARM)
    fused = kn.compilation.operation_count(pd, ARM, kp=(), kd=())
    assert plain.mul > 0
    assert fused.trig == plain.trig > 0, "sines are shared"
    assert fused.mul == plain.mul + 6
    assert plain.add + 6 <= fused.add <= plain.add + 7, "one sum is shared with gravity where a is given as it is"
    assert kn.compilation.operation_count(kn.inverse_dynamics, ARM, f_ext=True).add > plain.add
    assert (
        kn.compilation.operation_count(kn.pose, ARM, frame="lower").mul
        < kn.compilation.operation_count(kn.pose, ARM, frame="tool").mul
    )
    by_position = pd.program(ARM, (3,), (3,), (3,), (), ())
    assert by_position == pd.program(ARM, kp=(), kd=())
    assert by_position.arguments == (("q", 3), ("v", 3), ("q_ref", 3), ("kp", 1), ("kd", 1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: kn.compilation.operation_count(kn.pose, ARM), "pose needs the option frame"),
        (
            lambda: kn.compilation.operation_count(kn.mass_matrix, ARM, frame="tool"),
            "mass_matrix has no argument frame",
        ),
        (lambda: kn.compilation.operation_count(kn.mass_matrix, None), "mass_matrix needs a knuckle.Model first"),
        (
            lambda: kn.compilation.operation_count(np.sin, ARM),
            "operations are counted of the library's functions and of kernels",
        ),
        (lambda: pd.program(ARM), "pd needs the shape of kp: kp=() for a number, kp=(n,) for a vector"),
        (lambda: pd.program(ARM, kp=3, kd=()), "the shape of kp is a tuple such as"),
        (lambda: pd.program(ARM, kp=(), kd=(), ki=()), "pd has no argument ki"),
        (lambda: pd.program(ARM, *[()] * 6), "pd has 5 array arguments, and 6 shapes are given"),
        (lambda: several.program(ARM, frame=3), "3"),
    ],
)
def test_errors_of_program(call: Any, message: str):
    with pytest.raises((TypeError, KeyError), match=re.escape(message)):
        call()


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_source(dtype: Any):
    for text in (kn.inverse_dynamics.source(ARM, dtype=dtype), pd.source(ARM, kp=(), kd=(), dtype=dtype)):
        assert "define void @" in text
        assert ("double" in text) == (dtype == "float64")
    C = kn.inverse_dynamics.source(ARM, language="c", dtype=dtype)
    assert "inverse_dynamics(" in C
    assert "pd(" in pd.source(ARM, (3,), (3,), (3,), (), (), language="c", dtype=dtype)
    assert "lambda(" in kn.kernel(lambda model, q: q).source(ARM, language="c")


def test_errors_of_source():
    with pytest.raises(ValueError, match='language is "llvm" or "c", not \'fortran\''):
        kn.inverse_dynamics.source(ARM, language="fortran")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='dtype is "float64" or "float32", not \'half\''):
        kn.inverse_dynamics.source(ARM, dtype="half")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", [name for name, f in everything(kn).items() if isinstance(f, Function)])
def test_every_public_function_has_a_program(name: str):
    f = everything(kn)[name]
    needed = f.__signature__.parameters
    options: dict[str, Any] = {"frame": "tool"} if "frame" in needed else {}
    models = (TREE,) if name == "floating_jacobian" else (ARM, TREE)
    if name.startswith("couplings."):
        models = (kn.model.edit.couple(ARM, "hand_joint", "upper_joint", lambda x: x * x),)
    if name.startswith("contact."):
        b = kn.Builder("two balls")
        for ball in ("a", "b"):
            b.body(ball, joint=kn.joints.Free(), mass=1.0, inertia=(1, 1, 1), collisions=kn.model.Sphere(0.1))
        models = (b.build(),)
    if name.startswith("elements."):
        law: Any = elements.CubicMuscle(9.0, 0.3, activation=0.5)
        law = elements.HillMuscle(9.0, 0.3, 0.2) if "fiber" in name else law
        place = elements.LinePoint(ARM.base.name, (0.3, 0.2, 0.1))
        line = elements.Line("muscle", (place, elements.LinePoint(ARM.body_names[-1])), law)
        models = (ARM.replace(elements=(line, elements.Drag("drag", ARM.body_names[0], (1.0, 1.0, 1.0)))),)
    if name.startswith("actuators."):
        servo = kn.actuators.position_servo("p", ARM.joint_names[0], kp=3.0)
        slow = dataclasses.replace(servo, name="s", dynamics=kn.actuators.ActuatorDynamics("filter", 0.1))
        models = (ARM.replace(actuators=(servo, slow)),)
    if name == "step":
        models, options["integrator"] = (ARM,), "euler"
    if name.startswith("loops."):
        made = bennett()
        models = (made.model,)
        if "choice" in needed:
            options["choice"] = kn.loops.independent_variables(made.model, made.q)
    if "constraints" in needed:
        options["constraints"] = ()
    if "actuated" in needed:
        models, options["actuated"] = (ARM,), ARM.joint_names
    assert sum(kn.compilation.operation_count(f, model, **options).total for model in models) > 0
