"""The closed-loop equation of motion by dense linear algebra, from the tree's own functions and K by frames."""

import numpy as np

import knuckle as kn
from knuckle.model import LoopJoint, Model
from knuckle.spatial import Transform


def dense_jacobian(model: Model, q: np.ndarray) -> np.ndarray:
    """Tᵀ(J_s − J_p), both Jacobians of frames on the bodies, in the coordinates of the successor's frame (RBDA P9)."""
    rows = [np.zeros((0, model.nv))]
    tree = model.without_loops()
    for loop in model.loops:
        Xs, Xp = (_frame(tree, q, loop, side) for side in ("successor", "predecessor"))
        X = np.linalg.solve(Xs, Xp)  # the predecessor's frame in the successor's
        E, p = X[:3, :3], X[:3, 3]
        to = np.block([[E, np.zeros((3, 3))], [_skew(p) @ E, E]])
        J = _jacobian(tree, q, loop, "successor") - to @ _jacobian(tree, q, loop, "predecessor")
        r = -E.T @ p  # the successor's origin in the predecessor's coordinates
        _, T = loop.type.loop(Transform(tuple(map(tuple, E.tolist())), tuple(r.tolist())))
        rows.append(np.array([t.components for t in T], float).reshape(-1, 6) @ J)
    return np.vstack(rows)


def _with_frame(tree: Model, loop: LoopJoint, side: str) -> Model:
    body = getattr(loop, side)
    return tree.replace(frames=(*tree.frames, kn.model.Frame("here", body, getattr(loop, f"X_{side}"))))


def _frame(tree: Model, q: np.ndarray, loop: LoopJoint, side: str) -> np.ndarray:
    return kn.pose(_with_frame(tree, loop, side), q, "here")


def _jacobian(tree: Model, q: np.ndarray, loop: LoopJoint, side: str) -> np.ndarray:
    return kn.jacobian(_with_frame(tree, loop, side), q, "here")


def _skew(p: np.ndarray) -> np.ndarray:
    x, y, z = p
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])


def accelerations(model: Model, q: np.ndarray, v: np.ndarray, tau: np.ndarray, k: np.ndarray) -> np.ndarray:
    """a of [H Kᵀ; K 0] (a, −λ) = (τ − C, k) by least squares (RBDA 8.36)."""
    tree, K = model.without_loops(), dense_jacobian(model, q)
    H, C = kn.mass_matrix(tree, q), kn.bias_force(tree, q, v)
    zero = np.zeros((len(K), len(K)))
    system = np.block([[H, K.T], [K, zero]])
    return np.linalg.lstsq(system, np.concatenate([tau - C, k]), rcond=1e-13)[0][: model.nv]


def allowed(model: Model, q: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random velocity that keeps the loops closed."""
    K, v = dense_jacobian(model, q), rng.standard_normal(model.nv)
    return v - np.linalg.pinv(K, rcond=1e-10) @ (K @ v)
