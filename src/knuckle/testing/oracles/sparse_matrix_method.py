"""The sparse matrix method (RBDA 8.13): every body and every joint of a mechanism with loops, all unknown at once.

    [I    P T] [ a ]   [P T_a τ − p        ]
    [TᵀPᵀ  0 ] [−λ ] = [Tᵀ(c_J + v_s × v_J)]        (8.64)

Loop joints are joints like any others here: P has a column of blocks for each, 1 at its successor and −1 at its
predecessor. No mass matrix, no constraint Jacobian, no tree: of the library only the joints are used. Stabilisation is
not part of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from knuckle.model import ROOT, LoopJoint, Model
from knuckle.spatial import Transform, Vector

from .maximal_coordinates import JointInBase, array, cross, in_base
from .serial_chain import Array, numbers

PROXIMAL = 1e-8
"""Constraints yield so much per force, and are pulled back in a few rounds: dependent ones make no matrix singular."""
ROUNDS = 8


@dataclass(frozen=True)
class SparseSystem:
    """Equation 8.64 by its blocks. Block i < nb is body i; blocks nb, nb + 1, … are joints, the tree's first."""

    blocks: dict[tuple[int, int], Array]
    """The lower triangle: a body with itself, a joint with a body."""
    right: list[Array]
    tree: list[JointInBase]
    nb: int

    @property
    def size(self) -> int:
        return sum(map(len, self.right))

    def matrix(self, order: list[int] | None = None, yielding: float = 0.0) -> Any:
        """The whole matrix, dense, or sparse in an order of the blocks (SciPy)."""
        entries: list[tuple[Array, Array, Array]] = []
        start = self._starts(order)
        for (i, j), block in self.blocks.items():
            rows, columns = (x.ravel() for x in np.indices(block.shape))
            entries.append((rows + start[i], columns + start[j], block.ravel()))
            if i != j:
                entries.append((columns + start[j], rows + start[i], block.ravel()))
        for k in range(self.nb, len(self.right)):
            own = np.arange(len(self.right[k])) + start[k]
            entries.append((own, own, np.full(len(own), -yielding)))
        rows, columns, values = (np.concatenate(part) for part in zip(*entries, strict=True))
        if order is None:
            dense = np.zeros((self.size, self.size))
            np.add.at(dense, (rows, columns), values)
            return dense
        from scipy.sparse import csc_array

        return csc_array((values, (rows, columns)), shape=(self.size, self.size))

    def places(self, order: list[int] | None = None) -> Array:
        """Where the scalars of the blocks are, block by block, in an order of the blocks."""
        start = self._starts(order)
        return np.concatenate([start[k] + np.arange(len(x)) for k, x in enumerate(self.right)])

    def _starts(self, order: list[int] | None) -> dict[int, int]:
        start, at = dict[int, int](), 0
        for k in range(len(self.right)) if order is None else order:
            start[k], at = at, at + len(self.right[k])
        return start

    def along(self) -> list[int]:
        """An order of the blocks in which neighbours stay together: reverse Cuthill and McKee."""
        from scipy.sparse import csr_array
        from scipy.sparse.csgraph import reverse_cuthill_mckee

        pairs = np.array([(i, j) for i, j in self.blocks] + [(j, i) for i, j in self.blocks])
        graph = csr_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(len(self.right),) * 2)
        return [int(k) for k in reverse_cuthill_mckee(graph, symmetric_mode=True)]

    def bandwidth(self, order: list[int]) -> int:
        """How far from the diagonal blocks are, in blocks."""
        place = {k: n for n, k in enumerate(order)}
        return max(abs(place[i] - place[j]) for i, j in self.blocks)


def system(
    model: Model, q: ArrayLike, v: ArrayLike, tau: ArrayLike, f_ext: ArrayLike | None = None, tau_loop: ArrayLike = ()
) -> SparseSystem:
    """Equation 8.64 for a state. Damping, friction and springs of the joints are left out."""
    if model.couplings or model.algebra.dimension != 6:
        raise ValueError(f"{model.name} has couplings or is planar: this oracle is for joints in space")
    tree = in_base(model, q, v)
    ends = [(parent, i) for i, parent in enumerate(model.parents)]
    ends += [(loop.predecessor, loop.successor) for loop in model.loops]
    joints = [*tree, *(_loop(model, tree, loop) for loop in model.loops)]
    wrench = np.zeros((model.nb, 6)) if f_ext is None else np.asarray(f_ext, float)
    a_g = np.concatenate([np.zeros(3), model.gravity])
    force, blocks = list[Array](), dict[tuple[int, int], Array]()
    for i, joint in enumerate(tree):
        I = joint.X.T @ array(model.I[i].matrix) @ joint.X
        blocks[i, i] = I
        force.append(I @ a_g + joint.X.T @ wrench[i] + cross(joint.v).T @ (I @ joint.v))
    given = [*(np.asarray(tau, float)[s] for s in model.v_slices), *_split(model, tau_loop)]
    rotors = [
        *(np.diag(numbers(rotor)) for rotor in model.rotor),
        *(np.zeros((len(x),) * 2) for x in given[model.nb :]),
    ]
    right: list[Array] = []
    for k, (joint, (p, s)) in enumerate(zip(joints, ends, strict=True)):
        # a rotor takes ρ q̈ of the joint force, and q̈ = T_aᵀ(a_s − a_p − c)
        geared = joint.T_a @ rotors[k] @ joint.T_a.T
        active = joint.T_a @ given[k] + geared @ joint.c
        for body, sign in ((s, 1.0), (p, -1.0)):
            if body == ROOT:
                continue
            force[body] = force[body] + sign * active
            blocks[model.nb + k, body] = sign * joint.T.T
            blocks[body, body] = blocks[body, body] + geared
        if p != ROOT and s != ROOT:
            blocks[max(p, s), min(p, s)] = blocks.get((max(p, s), min(p, s)), np.zeros((6, 6))) - geared
        right.append(joint.T.T @ joint.c)
    return SparseSystem(blocks, [*force, *right], tree, model.nb)


def forward_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    tau_loop: ArrayLike = (),
    *,
    sparse: bool = True,
) -> Array:
    """a (nv,) of a mechanism with loops. `sparse=False` is for those who do not have SciPy."""
    made = system(model, q, v, tau, f_ext, tau_loop)
    order = made.along() if sparse else None
    place = made.places(order)
    exact, yielding = made.matrix(order), made.matrix(order, PROXIMAL)
    if sparse:
        from scipy.sparse.linalg import splu

        solve = splu(yielding).solve
    else:
        inverse = np.linalg.inv(yielding)
        solve = inverse.__matmul__
    right = np.zeros(made.size)
    right[place] = np.concatenate(made.right)
    x = np.zeros(made.size)
    for _ in range(ROUNDS):
        x = x + solve(right - exact @ x)
    a = x[place][: 6 * model.nb].reshape(-1, 6)
    found = np.zeros(model.nv)
    for i, joint in enumerate(made.tree):
        relative = a[i] - (a[model.parents[i]] if model.parents[i] != ROOT else 0.0)
        found[model.v_slices[i]] = joint.T_a.T @ (relative - joint.c)
    return found


def _loop(model: Model, tree: list[JointInBase], loop: LoopJoint) -> JointInBase:
    """A loop joint in base coordinates: its position and velocity follow from those of the bodies."""
    (Xp, vp), (Xs, vs) = (_frame(tree, *end) for end in (
        (loop.predecessor, loop.X_predecessor), (loop.successor, loop.X_successor)
    ))  # fmt: skip
    between = Xs @ np.linalg.inv(Xp)
    E, moment = between[:3, :3], between[3:, :3]  # X = [E 0; −E r× E]
    r_cross = -E.T @ moment
    rows: Any = tuple(map(tuple, E.tolist()))
    X = Transform(rows, (float(r_cross[2, 1]), float(r_cross[0, 2]), float(r_cross[1, 0])))
    ql = loop.type.locate(X)
    T, T_a = (array(forces.matrix) for forces in (loop.type.loop(X)[1], loop.type.actuation(ql)))
    sigma = numbers(loop.type.motion(ql, Vector.zero(loop.type.nv)).v.components)
    rate = T_a.T @ (Xs @ (vs - vp) - sigma)
    c = np.linalg.inv(Xs) @ numbers(loop.type.motion(ql, Vector(rate.tolist())).c.components)
    return JointInBase(Xs, vs, Xs.T @ T, Xs.T @ T_a, c + cross(vs) @ (vs - vp))


def _frame(tree: list[JointInBase], body: int, X: Transform) -> tuple[Array, Array]:
    """From the base to a frame on a body, and the velocity of the body, in base coordinates."""
    own = array(X.matrix)
    return (own, np.zeros(6)) if body == ROOT else (own @ tree[body].X, tree[body].v)


def _split(model: Model, tau_loop: ArrayLike) -> list[Array]:
    sizes = [loop.type.nv for loop in model.loops]
    given = np.asarray(tau_loop, float)
    given = given if given.size else np.zeros(sum(sizes))
    return np.split(given, np.cumsum(sizes)[:-1]) if sizes else []
