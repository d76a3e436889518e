"""The equations of all bodies and joints at once (notes 1.69-1.74; RBDA 8.13), as arrays and sparse matrices.

    [M  Kᵀ] [ a ]   [f]
    [K  0 ] [−λ ] = [k]

Six accelerations for each body, in its own coordinates, and a force λ for each constraint of each joint, of the tree or
of a loop. In maximal coordinates joints of the tree are free and have none; in any others they are constraints here
all the same, so that the work grows with the number of joints whatever the mechanism is. A variable of a joint that is
held is one more of them.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.joints import Free
from knuckle.model import ROOT, Model
from knuckle.solvers.quasi_definite import ROUNDS, QuasiDefinite
from knuckle.spatial import SPATIAL

from .armature_rows import ArmatureRows
from .joint_groups import FramePlaces, JointGroup, JointTerms, LoopTerms

Array: TypeAlias = NDArray[Any]


class MovingBodies(NamedTuple):
    """Where the bodies are and how they move; the base is the last of them. `X` are those of the tree's joints."""

    places: FramePlaces
    V: Array
    X: Array
    tree: list[JointTerms]
    c: Array


class LoopStates(NamedTuple):
    """A group of loop joints: its terms, and X_S and X X_P, from the bodies to the successor's frame."""

    terms: LoopTerms
    X_s: Array
    X_p: Array


class BodyEquations:
    """The equations of a mechanism: which there are; `at` fills them with the numbers of a state."""

    def __init__(self, model: Model, solver: str | None = None, *, holds: bool = False) -> None:
        """`holds` says whether variables of joints may be held, but for those of free ones."""
        if model.couplings or model.algebra is not SPATIAL or model.depends_on_time:
            raise ModelError(
                f"{model.name} has couplings, is planar or moves by laws of time, and sparse equations are for joints "
                "between bodies in space: use kn.forward_dynamics, or model.without_couplings()"
            )
        self.model, self._package = model, solver
        self.parents = np.array(model.parents, int)
        types = [joint.type for joint in model.joints]
        self.levels = [list(JointGroup.each(types, level)) for level in _levels(model)]
        self.tree = [group for level in self.levels for group in level]
        self.loops = list(JointGroup.each([loop.type for loop in model.loops], range(len(model.loops))))
        self.X_tree = FramePlaces.of(model.X_tree)
        self.X_successor = FramePlaces.of([loop.X_successor for loop in model.loops])
        self.X_predecessor = FramePlaces.of([loop.X_predecessor for loop in model.loops])
        self.ends = np.array([(loop.successor, loop.predecessor) for loop in model.loops], int).reshape(-1, 2)
        self.inertia = np.array([[[float(x) for x in row] for row in I.matrix.rows] for I in model.I]).reshape(
            model.nb, 6, 6
        )
        self._q_columns = {id(group): _columns(model.q_slices, group) for group in self.tree}
        self._v_columns = {id(group): _columns(model.v_slices, group) for group in self.tree}
        self._X_loops = [
            (self.X_successor[group.members].matrices(), self.X_predecessor[group.members].matrices())
            for group in self.loops
        ]
        self._held = np.zeros(model.nv)
        self._holds = [holds and not isinstance(group.type, Free) for group in self.tree]
        self.armature = ArmatureRows(model)
        self.rotor = [np.array([[float(x) for x in model.rotor[i]] for i in group.members]) for group in self.tree]

    # variables by groups

    def q_of(self, group: JointGroup, q: Array) -> Array:
        """The positions of a group of tree joints (n, nq)."""
        return q[self._q_columns[id(group)]]

    def v_of(self, group: JointGroup, v: Array) -> Array:
        """The velocity variables, or what goes like them, of a group of tree joints (n, nv)."""
        return v[self._v_columns[id(group)]]

    def joined(self, parts: list[Array], size: str) -> Array:
        """One vector from what each group of tree joints has; `size` is "nq" or "nv"."""
        whole = np.zeros(getattr(self.model, size))
        columns = self._q_columns if size == "nq" else self._v_columns
        for group, part in zip(self.tree, parts, strict=True):
            whole[columns[id(group)]] = part
        return whole

    def moved(self, q: Array, u: Array) -> Array:
        """q ⊕ u."""
        return self.joined([g.integrated(self.q_of(g, q), self.v_of(g, u)) for g in self.tree], "nq")

    # numbers of a state

    def states(self, q: Array, v: Array) -> MovingBodies:
        """Where the bodies are and how they move, from the base outward."""
        nb = self.model.nb
        places = FramePlaces(np.tile(np.eye(3), (nb + 1, 1, 1)), np.zeros((nb + 1, 3)))
        V, X, c, tree = np.zeros((nb + 1, 6)), np.zeros((nb, 6, 6)), np.zeros((nb, 6)), list[JointTerms]()
        for level in self.levels:
            for group in level:
                i, terms = group.members, group.terms(self.q_of(group, q), self.v_of(group, v))
                here = terms.X.after(self.X_tree[i])
                there = here.after(places[self.parents[i]])
                places.E[i], places.r[i], X[i] = there.E, there.r, here.matrices()
                V[i] = _apply(X[i], V[self.parents[i]]) + terms.v
                c[i] = terms.c + crossed(V[i], terms.v)
                tree.append(terms)
        return MovingBodies(places, V, X, tree, c)

    def loop_states(self, at: MovingBodies) -> list[LoopStates]:
        """The loop joints, by groups."""
        found: list[LoopStates] = []
        for group, (Xs, Xp) in zip(self.loops, self._X_loops, strict=True):
            X = self._apart(at, group)
            s, p = self.ends[group.members].T
            Vs = _apply(Xs, at.V[s])
            to_s = X.matrices() @ Xp
            found.append(LoopStates(group.loop_terms(X, Vs, Vs - _apply(to_s, at.V[p])), Xs, to_s))
        return found

    def gaps(self, at: MovingBodies) -> Array:
        """The turn and the distance (loops, 6) from the nearest place that each loop joint allows."""
        gaps = np.zeros((len(self.model.loops), 6))
        for group in self.loops:
            gaps[group.members] = group.gaps(self._apart(at, group))
        return gaps

    def _apart(self, at: MovingBodies, group: JointGroup) -> FramePlaces:
        """ˢX_ᵖ between the frames of loop joints."""
        l = group.members
        s, p = self.ends[l].T
        Xs, Xp = self.X_successor[l], self.X_predecessor[l]
        return Xs.after(at.places[s]).from_frames(Xp.after(at.places[p]))

    # the equations

    @cached_property
    def _inverse(self) -> Array:
        """An inverse of the inertia of each body, and none of the base: what it does to a unit force."""
        return np.concatenate([np.linalg.pinv(self.inertia), np.zeros((1, 6, 6))])

    @cached_property
    def _tied(self) -> list[tuple[int, int]]:
        """The bodies that rotors and armature tie to each other, the first of lower number."""
        geared = {
            (int(self.parents[i]), int(i))
            for group, rotor in zip(self.tree, self.rotor, strict=True)
            for i in group.members[(rotor != 0).any(1) & (self.parents[group.members] != ROOT)]
        }
        return sorted(geared | self.armature.pairs)

    @cached_property
    def _equations(self) -> QuasiDefinite:
        nb = self.model.nb
        rows, columns = list[Array](), list[Array]()
        upper = np.triu_indices(6)
        body = 6 * np.arange(nb)[:, None]
        rows.append((body + upper[0]).ravel())
        columns.append((body + upper[1]).ravel())
        r, c = np.indices((6, 6)).reshape(2, -1)
        for i, k in self._tied:
            rows.append(6 * i + r)
            columns.append(6 * k + c)
        count = 6 * nb
        for ends, nc in self._constrained():
            force = count + np.arange(len(ends) * nc).reshape(len(ends), nc)
            count += force.size
            for bodies in ends.T:
                there = bodies != ROOT
                r, c = np.broadcast_arrays(6 * bodies[there, None, None] + np.arange(6), force[there, :, None])
                rows.append(r.ravel())
                columns.append(c.ravel())
        return QuasiDefinite(count, 6 * nb, (np.concatenate(rows), np.concatenate(columns)), self._package)

    def _constrained(self) -> list[tuple[Array, int]]:
        """(successor and predecessor of each joint, constraints of each) by groups, those of the tree first."""
        tree = [
            (np.stack([g.members, self.parents[g.members]], 1), g.nc + g.type.nv * holds)
            for g, holds in zip(self.tree, self._holds, strict=True)
        ]
        return [*tree, *((self.ends[g.members], g.nc) for g in self.loops)]

    def factor(self, at: MovingBodies, loops: list[LoopStates], rows: list[Array], held: Array | None = None) -> None:
        """Fills the matrix with the numbers of a state; `rows` are those of armature, `held` has 1 for what is held."""
        self._held = np.zeros(self.model.nv) if held is None else held
        M, beside = self.inertia.copy(), {pair: np.zeros((6, 6)) for pair in self._tied}
        for group, terms, rotor in zip(self.tree, at.tree, self.rotor, strict=True):
            for n in np.flatnonzero((rotor != 0).any(1)):
                i, p = group.members[n], self.parents[group.members[n]]
                geared = terms.T_a[n] * rotor[n] @ terms.T_a[n].T
                M[i] += geared
                if p != ROOT:
                    M[p] += at.X[i].T @ geared @ at.X[i]
                    beside[int(p), int(i)] -= at.X[i].T @ geared
        for a, bodies, J in zip(self.armature.inertias, self.armature.bodies, rows, strict=True):
            for i, first in zip(bodies, J, strict=True):
                for k, second in zip(bodies, J, strict=True):
                    if i == k != ROOT:
                        M[i] += a * np.outer(first, second)
                    elif ROOT < i < k:
                        beside[i, k] += a * np.outer(first, second)
        upper = np.triu_indices(6)
        tied = [beside[pair].ravel() for pair in self._tied]
        values, yielding = [M[:, upper[0], upper[1]].ravel(), *tied], list[Array]()
        for (ends, nc), (Ks, Kp) in zip(self._constrained(), self._rows(at, loops), strict=True):
            soft = np.zeros((len(ends), nc))
            for bodies, K in zip(ends.T, (Ks, Kp), strict=True):
                values.append(K[bodies != ROOT].ravel())
                soft += (K @ self._inverse[bodies] * K).sum(-1)
            yielding.append(soft.ravel())
        soft = np.concatenate(yielding) if yielding else np.zeros(0)
        soft = np.maximum(soft, 1e-3 * soft.mean() if len(soft) else 0.0)
        try:
            self._equations.factor(np.concatenate(values), soft)
        except np.linalg.LinAlgError:
            raise ModelError(
                f"{self.model.name} has a joint that moves no inertia, so that its acceleration is not determined: "
                "give the bodies beyond it mass and inertia"
            ) from None

    def _rows(self, at: MovingBodies, loops: list[LoopStates]) -> list[tuple[Array, Array]]:
        """K of each group (n, nc, 6): Tᵀ on the successor, −TᵀX on the predecessor."""
        found: list[tuple[Array, Array]] = []
        for group, T in zip(self.tree, self._tree_forces(at), strict=True):
            T = T.transpose(0, 2, 1)
            found.append((T, -T @ at.X[group.members]))
        for loop in loops:
            T = loop.terms.T.transpose(0, 2, 1)
            found.append((T @ loop.X_s, -T @ loop.X_p))
        return found

    def _tree_forces(self, at: MovingBodies) -> list[Array]:
        """T of each group of the tree (n, 6, nc), and T_a of what is held beside it; zero of what could be."""
        return [
            np.concatenate([t.T, t.T_a * self.v_of(g, self._held)[:, None, :]], axis=2) if holds else t.T
            for g, t, holds in zip(self.tree, at.tree, self._holds, strict=True)
        ]

    def constraint_rates(self, at: MovingBodies, c: Array) -> list[Array]:
        """Tᵀ c of each group of the tree."""
        forces = zip(self.tree, self._tree_forces(at), strict=True)
        return [np.einsum("nij,ni->nj", T, c[g.members]) for g, T in forces]

    def asked_rates(self, v: Array) -> list[Array]:
        """What each group of the tree is asked for, where variables that are held are to move with v (nv)."""
        found: list[Array] = []
        for g, holds in zip(self.tree, self._holds, strict=True):
            own = self.v_of(g, v * self._held) if holds else np.zeros((len(g.members), 0))
            found.append(np.concatenate([np.zeros((len(g.members), g.nc)), own], axis=1))
        return found

    def held_loads(self, forces: Array) -> Array:
        """(nv): what each variable that is held is held against, by −λ of all joints; 0 for the others."""
        parts, first = list[Array](), 0
        for g, holds in zip(self.tree, self._holds, strict=True):
            n, nc, nv = len(g.members), g.nc, g.type.nv
            size = n * (nc + nv * holds)
            own = forces[first : first + size].reshape(n, -1)
            parts.append(own[:, nc:] if holds else np.zeros((n, nv)))
            first += size
        return self.joined(parts, "nv") * self._held

    def solve(
        self, force: Array, tree_k: list[Array], loop_k: list[Array], rounds: int = ROUNDS
    ) -> tuple[Array, Array]:
        """Accelerations (nb, 6) of the bodies, or displacements, and −λ of all joints, by groups in a row."""
        right = np.concatenate([force.ravel(), *(k.ravel() for k in (*tree_k, *loop_k))])
        x = self._equations.solve(right, rounds)
        return x[: force.size].reshape(-1, 6), x[force.size :]

    def variables(self, at: MovingBodies, a: Array, c: Array | None = None) -> Array:
        """T_aᵀ(a_s − X a_p − c) of the tree's joints: what the bodies' accelerations, or velocities, are there (nv)."""
        whole = np.concatenate([a, np.zeros((1, 6))])
        relative = a - _apply(at.X, whole[self.parents]) - (0.0 if c is None else c)
        parts = [np.einsum("nij,ni->nj", t.T_a, relative[g.members]) for g, t in zip(self.tree, at.tree, strict=True)]
        return self.joined(parts, "nv")

    def body_forces(self, at: MovingBodies, tau: Array) -> Array:
        """What joint forces (nv) are on the bodies (nb, 6): T_a τ on the one and −T_a τ on the other."""
        f = np.zeros((self.model.nb + 1, 6))
        for group, terms, rotor in zip(self.tree, at.tree, self.rotor, strict=True):
            i = group.members
            active = np.einsum("nij,nj->ni", terms.T_a, self.v_of(group, tau))
            if rotor.any():
                active += np.einsum("nij,nj,nkj,nk->ni", terms.T_a, rotor, terms.T_a, at.c[i])
            f[i] += active
            np.add.at(f, self.parents[i], -np.einsum("nij,ni->nj", at.X[i], active))
        return f[:-1]

    def armature_forces(self, at: MovingBodies, rows: list[Array], rates: list[Array]) -> Array:
        """−a Jᵀ J̇V of armature on each body (nb, 6)."""
        f = np.zeros((self.model.nb + 1, 6))
        for a, bodies, J, rate in zip(self.armature.inertias, self.armature.bodies, rows, rates, strict=True):
            f[list(bodies)] -= a * J * float((rate * at.V[list(bodies)]).sum())
        return f[:-1]

    def weights(self, at: MovingBodies) -> Array:
        """Gravity and the velocity products on each body (nb, 6): I X g − v ×* I v."""
        g = np.concatenate([np.zeros(3), [float(x) for x in self.model.gravity]])
        E, V = at.places.E[:-1], at.V[:-1]
        down = np.concatenate([np.zeros((len(E), 3)), np.einsum("nij,j->ni", E, g[3:])], axis=1)
        return _apply(self.inertia, down) - crossed_force(V, _apply(self.inertia, V))


def crossed(v: Array, m: Array) -> Array:
    """v × m of motions, row by row (RBDA 2.31)."""
    w, u = v[:, :3], v[:, 3:]
    return np.concatenate([np.cross(w, m[:, :3]), np.cross(u, m[:, :3]) + np.cross(w, m[:, 3:])], axis=1)


def crossed_force(v: Array, f: Array) -> Array:
    """v ×* f of forces, row by row (RBDA 2.32)."""
    w, u = v[:, :3], v[:, 3:]
    return np.concatenate([np.cross(w, f[:, :3]) + np.cross(u, f[:, 3:]), np.cross(w, f[:, 3:])], axis=1)


def _apply(X: Array, m: Array) -> Array:
    return np.einsum("nij,nj->ni", X, m)


def _columns(slices: tuple[slice, ...], group: JointGroup) -> Array:
    """Where the variables of a group are (n, size)."""
    starts = np.array([slices[i].start for i in group.members])
    first = slices[int(group.members[0])]
    return starts[:, None] + np.arange(first.stop - first.start)


def _levels(model: Model) -> list[list[int]]:
    """The joints by how many others are between them and the base."""
    depth: dict[int, int] = {ROOT: -1}
    levels: list[list[int]] = []
    for i, p in enumerate(model.parents):
        depth[i] = depth[p] + 1
        if depth[i] == len(levels):
            levels.append([])
        levels[depth[i]].append(i)
    return levels
