"""How functions are called: arguments by name, models, frames, errors, threads, pickles."""

import copy
import inspect
import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import knuckle as kn
from knuckle.engine.calls.function import Function, function
from knuckle.model import Model
from knuckle.public_names import everything
from knuckle.scalar import cos
from knuckle.spatial import Vector

from .mechanisms import FUNCTIONS, MODELS, closed, geared, states

ARM = MODELS["arm"]
PUBLIC = {name: f for name, f in everything(kn).items() if isinstance(f, Function)}


def test_positional_and_by_name():
    s = states(ARM)
    expected = kn.inverse_dynamics(ARM, s.q, s.v, s.a, s.f_ext)
    for found in (
        kn.inverse_dynamics(ARM, s.q, v=s.v, a=s.a, f_ext=s.f_ext),
        kn.inverse_dynamics(ARM, a=s.a, q=s.q, f_ext=s.f_ext, v=s.v),
        kn.inverse_dynamics(model=ARM, q=s.q, v=s.v, a=s.a, f_ext=s.f_ext),
    ):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        kn.jacobian(ARM, s.q, "tool", "world"), kn.jacobian(ARM, s.q, expressed_in="world", frame="tool")
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: kn.inverse_dynamics(ARM, np.zeros(3), np.zeros(3)),
            "inverse_dynamics: missing a required argument: 'a'",
        ),
        (lambda: kn.mass_matrix(ARM, np.zeros(3), np.zeros(3)), "mass_matrix: too many positional arguments"),
        (lambda: kn.mass_matrix(ARM, p=np.zeros(3)), "mass_matrix: missing a required argument: 'q'"),
        (lambda: kn.mass_matrix(ARM, np.zeros(3), v=1), "mass_matrix: got an unexpected keyword argument 'v'"),
        (lambda: kn.mass_matrix(ARM, np.zeros(3), q=np.zeros(3)), "mass_matrix: multiple values for argument 'q'"),
        (lambda: kn.forward_dynamics(ARM, *np.zeros((3, 3)), None, "aba"), "forward_dynamics: too many positional"),
    ],
)
def test_wrong_arguments_are_named(call: Any, message: str):
    with pytest.raises(TypeError, match=re.escape(message)):
        call()


@pytest.mark.parametrize("wrong", [None, "panda.urdf", np.zeros(3), Model, {"nq": 3}])
def test_the_model_comes_first(wrong: Any):
    with pytest.raises(TypeError, match=f"mass_matrix needs a knuckle.Model first, not {type(wrong).__name__}"):
        kn.mass_matrix(wrong, np.zeros(3))


def test_signature_name_and_text():
    f = kn.inverse_dynamics
    assert f.__name__ == "inverse_dynamics"
    assert list(inspect.signature(f).parameters) == ["model", "q", "v", "a", "f_ext"]
    assert "recursive Newton-Euler" in (f.__doc__ or "")
    assert repr(f).startswith("<knuckle function inverse_dynamics(model")


@pytest.mark.parametrize("name", PUBLIC)
def test_functions_pickle_and_copy_as_themselves(name: str):
    """So that a pool of processes can be given one."""
    f = PUBLIC[name]
    assert pickle.loads(pickle.dumps(f)) is f
    assert copy.deepcopy(f) is f
    assert copy.copy(f) is f


# reference


def test_reference_is_the_text_over_scalars():
    s = states(ARM)
    plain = kn.inverse_dynamics.reference(ARM, s.q.tolist(), s.v.tolist(), s.a.tolist(), s.f_ext.tolist())
    assert isinstance(plain, Vector)
    np.testing.assert_array_equal([float(x) for x in plain], kn.inverse_dynamics(ARM, s.q, s.v, s.a, s.f_ext))
    pushed = kn.forward_dynamics.reference(ARM, s.q.tolist(), s.v.tolist(), s.a.tolist(), s.f_ext)
    np.testing.assert_array_equal([float(x) for x in pushed], kn.forward_dynamics(ARM, s.q, s.v, s.a, s.f_ext))
    by_name = kn.forward_dynamics.reference(ARM, q=s.q, v=s.v, tau=s.a, method="crba")
    np.testing.assert_allclose([float(x) for x in by_name], kn.forward_dynamics(ARM, s.q, s.v, s.a), rtol=1e-12)


def test_a_function_of_ones_own():
    """The library's functions are made by `function`, and so is a user's controller."""

    @function(q="q", v="v", q_ref="q")
    def controller(model: Model, q: Any, v: Any, q_ref: Any, gain: float = 10.0) -> Any:
        """Pulls towards q_ref."""
        pull = Vector(gain * (r - x) - y for x, y, r in zip(q, v, q_ref, strict=True))
        return pull + kn.gravity_force.reference(model, q)

    s, ref = states(ARM, (4,)), np.array([0.1, 0.2, 0.3])
    found = controller(ARM, s.q, s.v, ref, gain=5.0)
    expected = 5.0 * (ref - s.q) - s.v + kn.gravity_force(ARM, s.q)
    np.testing.assert_allclose(found, expected, atol=1e-14)
    with pytest.raises(ValueError, match=r"q_ref has shape \(2,\), and must have shape \(\.\.\., 3\)"):
        controller(ARM, s.q, s.v, ref[:2])

    @function(q="q")
    def one(model: Model, q: Any) -> Any:
        return cos(q[0])

    assert isinstance(one(ARM, np.zeros(3)), np.float64)
    assert one(ARM, np.zeros((2, 3))).tolist() == [1.0, 1.0]


@pytest.mark.usefixtures("compilation")
@pytest.mark.parametrize("gains", [[1.0, 2.0, 3.0], (1.0, 2.0, 3.0), np.array([1.0, 2.0, 3.0])], ids=type)
def test_options_of_any_type(gains: Any):
    """What is not an array argument goes to the text as it is."""

    @function(q="q")
    def pull(model: Model, q: Any, gains: Any) -> Any:
        return Vector(gain * x for gain, x in zip(gains, q, strict=True))

    q = states(ARM, (4,)).q
    np.testing.assert_allclose(pull(ARM, q, gains), q * gains)


@pytest.mark.usefixtures("compilation")
def test_a_function_changed_under_its_name():
    """Two texts of one name on one model, as in a notebook whose cell was edited: each gives its own result."""

    def made(factor: float) -> Any:
        @function(q="q")
        def scaled(model: Model, q: Any) -> Any:
            return Vector(factor * x for x in q)

        return scaled

    q = states(ARM, (4,)).q
    for factor in (2.0, 3.0):
        np.testing.assert_allclose(made(factor)(ARM, q), factor * q)
        np.testing.assert_allclose(made(factor)(ARM.replace(name="again"), q), factor * q)


# models


def test_loops_are_refused_where_the_result_would_be_wrong():
    model = closed()
    q = np.zeros(model.nv)
    for name, call in {
        "inverse_dynamics": lambda m: kn.inverse_dynamics(m, q, q, q),
        "mass_matrix": lambda m: kn.mass_matrix(m, q),
        "bias_force": lambda m: kn.bias_force(m, q, q),
        "operational_space_inverse_inertia": lambda m: kn.operational_space_inverse_inertia(m, q, "lower"),
    }.items():
        with pytest.raises(kn.ModelError, match=rf"{name} knows trees, and this mechanism has loop joints \(strap\)"):
            call(model)
        assert np.all(np.isfinite(call(model.without_loops())))
    for call in (
        lambda: kn.pose(model, q, "lower"),
        lambda: kn.jacobian(model, q, "lower"),
        lambda: kn.kinetic_energy(model, q, q),
        lambda: kn.center_of_mass(model, q),
        lambda: kn.integrate(model, q, q),
    ):
        assert np.all(np.isfinite(call()))


@pytest.mark.parametrize("ratio", [2.0, 1.0, -0.5, 0.0])
def test_mimic_joints(ratio: float):
    """Also of ratio zero, which holds the joint still."""
    model = geared(ratio)
    assert (model.nq, model.nv) == (1, 1)
    free = model.without_couplings()
    q, v, a = np.array([0.3]), np.array([0.7]), np.array([-0.4])
    G = np.array([1.0, ratio])
    H = kn.mass_matrix(model, q)
    np.testing.assert_allclose(H, [[G @ kn.mass_matrix(free, G * q) @ G]], rtol=1e-14)
    tau = kn.inverse_dynamics(model, q, v, a)
    np.testing.assert_allclose(tau, [G @ kn.inverse_dynamics(free, G * q, G * v, G * a)], rtol=1e-13)
    np.testing.assert_allclose(kn.forward_dynamics(model, q, v, tau), a, rtol=1e-12)


# frames and options


def test_unknown_frames_are_named_with_a_suggestion():
    with pytest.raises(KeyError, match=r"no frame is called 'tol'; did you mean 'tool'"):
        kn.pose(ARM, np.zeros(3), "tol")
    with pytest.raises(KeyError, match="no frame is called 'elbow'"):
        kn.jacobian(ARM, np.zeros((2, 3)), "elbow")
    with pytest.raises(KeyError):
        kn.velocity(ARM, np.zeros(3), np.zeros(3), 3)  # type: ignore[arg-type]
    for known in ARM.frame_names:
        assert kn.pose(ARM, np.zeros(3), known).shape == (4, 4)


@pytest.mark.parametrize("typo", ["bodi", "World", "", None, 1])
def test_expressed_in_typos(typo: Any):
    s = states(ARM)
    message = r'expressed_in is "body", "world" or "aligned", not '
    for call in (
        lambda: kn.jacobian(ARM, s.q, "tool", typo),
        lambda: kn.jacobian_rate(ARM, s.q, s.v, "tool", typo),
        lambda: kn.velocity(ARM, s.q, s.v, "tool", typo),
        lambda: kn.acceleration(ARM, s.q, s.v, s.a, "tool", typo),
        lambda: kn.external_force(ARM, s.q, "tool", s.w, typo),
    ):
        with pytest.raises(ValueError, match=message + re.escape(repr(typo))):
            call()


def test_method_typos_and_forces_on_the_base():
    s = states(ARM)
    with pytest.raises(ValueError, match='method is "aba", "crba", "divide", "kkt" or "independent", not \'abs\''):
        kn.forward_dynamics(ARM, s.q, s.v, s.a, method="abs")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'world' is on the base, which no force moves"):
        kn.external_force(ARM, s.q, "world", s.w)


# threads


def test_functions_may_be_called_from_many_threads():
    """No state is shared: many threads at once give what one gives, and NaN in one makes no warning in another."""
    model = MODELS["tree"]
    batches = [states(model, (5,), seed=k) for k in range(8)]
    batches[3].q[:] = np.nan

    def work(s: Any) -> list[Any]:
        return [public.call(model, s) for public in FUNCTIONS.values()]

    alone = [work(s) for s in batches]
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, batches))
    for a, b in zip(alone, together, strict=True):
        for x, y in zip(a, b, strict=True):
            np.testing.assert_array_equal(x, y)


@pytest.mark.usefixtures("compilation")
def test_native_code_from_many_threads():
    s = states(ARM, (5,))
    expected = kn.inverse_dynamics(ARM, s.q, s.v, s.a)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: kn.inverse_dynamics(ARM, s.q, s.v, s.a), range(40)):
            np.testing.assert_array_equal(found, expected)


def test_error_state_of_numpy_is_restored():
    before = np.geterr()
    kn.mass_matrix(ARM, [np.inf, 0.0, 0.0])
    with pytest.raises(KeyError):
        kn.pose(ARM, np.zeros((2, 3)), "nowhere")
    assert np.geterr() == before
    with np.errstate(all="raise"):
        assert np.any(np.isnan(kn.mass_matrix(ARM, np.full((2, 3), np.inf))))


# laws, briefly: rows B-35 to B-37 of the identities through the array face


def test_b35_mass_matrix(model: Model):
    s = states(model, (10,))
    H = kn.mass_matrix(model, s.q)
    np.testing.assert_allclose(H, np.swapaxes(H, -1, -2), atol=1e-13)
    assert np.linalg.eigvalsh(H).min() > 0
    energy = np.einsum("bi,bij,bj->b", s.v, H, s.v) / 2
    np.testing.assert_allclose(kn.kinetic_energy(model, s.q, s.v), energy, rtol=1e-12)
    at_rest = kn.bias_force(model.with_gravity((0, 0, 0)), s.q, 0 * s.v)
    np.testing.assert_allclose(at_rest, 0, atol=1e-15)


def test_b36_round_trips(model: Model):
    s = states(model, (10,))
    tau = kn.inverse_dynamics(model, s.q, s.v, s.a, s.f_ext)
    condition = np.linalg.cond(kn.mass_matrix(model, s.q)).max()
    for method in ("aba", "crba", "divide"):
        back = kn.forward_dynamics(model, s.q, s.v, tau, s.f_ext, method=method)
        np.testing.assert_allclose(back, s.a, atol=1e-14 * condition)
    H, C = kn.mass_matrix(model, s.q), kn.bias_force(model, s.q, s.v, s.f_ext)
    np.testing.assert_allclose(np.einsum("bij,bj->bi", H, s.a) + C, tau, atol=1e-12)
    unit = kn.mass_matrix_inverse(model, s.q) @ H
    np.testing.assert_allclose(unit, np.broadcast_to(np.eye(model.nv), H.shape), atol=1e-14 * condition)


def test_b37_coordinates_do_not_matter(model: Model):
    """The velocity of the tool in its own coordinates and in the base's is one velocity."""
    s = states(model, (5,))
    X = kn.pose(model, s.q, "tool")
    J = kn.jacobian(model, s.q, "tool", "world")
    moved = kn.velocity(model, s.q, s.v, "tool", "world")
    np.testing.assert_allclose(np.einsum("bij,bj->bi", J, s.v), moved, atol=1e-13)
    R, p = X[:, :3, :3], X[:, :3, 3]
    body = kn.velocity(model, s.q, s.v, "tool", "body")
    w = np.einsum("bij,bj->bi", R, body[:, :3])
    np.testing.assert_allclose(w, moved[:, :3], atol=1e-13)
    linear = np.einsum("bij,bj->bi", R, body[:, 3:]) + np.cross(p, w)
    np.testing.assert_allclose(linear, moved[:, 3:], atol=1e-13)
