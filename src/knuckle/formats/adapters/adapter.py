"""A model's variables next to another library's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from knuckle.model import Model
from knuckle.spatial import Vector

from .joint_rules import Array, Rule


@dataclass(frozen=True)
class Match:
    """A joint of ours and the places of its variables on the other side."""

    joint: int
    rule: Rule
    q: slice
    v: slice


@dataclass(frozen=True)
class Adapter:
    """Translates states and forces between a model and another library's model of the same mechanism.

    `nq` and `nv` are the other library's. Arrays have the variables on the last axis, any batch axes before it. A joint
    that follows others here (a mimic joint, a gear) but moves by itself there gets its values from the coupling.
    """

    library: str
    model: Model
    nq: int
    nv: int
    matches: tuple[Match, ...]
    moment_first: bool

    # positions

    def q_to(self, q: Any) -> Array:
        """Their q for our q."""
        q = self._ours("q", q, self.model.nq)
        result = np.zeros((*q.shape[:-1], self.nq))
        for match in self.matches:
            result[..., match.q] = match.rule.q_to(self._position(q, match.joint))
        return result

    def q_from(self, q: Any) -> Array:
        """Our q for their q; of a joint that follows another here, the source's value counts."""
        q = self._theirs("q", q, self.nq)
        result = np.zeros((*q.shape[:-1], self.model.nq))
        for match in self._independent():
            result[..., self.model.q_slices[match.joint]] = match.rule.q_from(q[..., match.q])
        return result

    # velocities and accelerations

    def v_to(self, q: Any, v: Any) -> Array:
        """Their v for our q and v."""
        q, v = self._ours("q", q, self.model.nq), self._ours("v", v, self.model.nv)
        return self._spread(q, lambda m: m.rule.v_to(self._position(q, m.joint), self._rate(q, v, m.joint)), v)

    def v_from(self, q: Any, v: Any) -> Array:
        """Our v for their q and v."""
        ours, v = self.q_from(q), self._theirs("v", v, self.nv)
        return self._gather(ours, lambda m: m.rule.v_from(self._position(ours, m.joint), v[..., m.v]), v)

    def a_to(self, q: Any, v: Any, a: Any) -> Array:
        """Their rates of v for ours, at our q and v."""
        q = self._ours("q", q, self.model.nq)
        v, a = (self._ours(name, x, self.model.nv) for name, x in (("v", v), ("a", a)))

        def each(m: Match) -> Array:
            rates = self._rate(q, a, m.joint) + self._drift(q, v, m.joint)
            return m.rule.a_to(self._position(q, m.joint), self._rate(q, v, m.joint), rates)

        return self._spread(q, each, v, a)

    def a_from(self, q: Any, v: Any, a: Any) -> Array:
        """Our rates of v for theirs, at their q and v."""
        ours_q, ours_v, a = self.q_from(q), self.v_from(q, v), self._theirs("a", a, self.nv)

        def each(m: Match) -> Array:
            return m.rule.a_from(self._position(ours_q, m.joint), self._rate(ours_q, ours_v, m.joint), a[..., m.v])

        return self._gather(ours_q, each, ours_v, a)

    def velocity_map(self, q: Any) -> Array:
        """B with v_theirs = B v, at our q: (..., nv theirs, nv ours). A mass matrix of theirs is Bᵀ M B here."""
        q = self._ours("q", q, self.model.nq)
        columns = self.v_to(q[..., None, :], np.eye(self.model.nv))
        return np.swapaxes(columns, -1, -2)

    # forces

    def tau_to(self, q: Any, tau: Any) -> Array:
        """Their generalised force for ours, at our q. What acts on a coupling goes to its sources' joints."""
        q, tau = self._ours("q", q, self.model.nq), self._ours("tau", tau, self.model.nv)
        coupled = self.model.coupled

        def each(m: Match) -> Array:
            if m.joint in coupled:
                return np.zeros((*tau.shape[:-1], m.rule.nv))
            return m.rule.v_to(self._position(q, m.joint), tau[..., self.model.v_slices[m.joint]])

        return self._spread(q, each, tau)

    def tau_from(self, q: Any, tau: Any) -> Array:
        """Our generalised force for theirs, at their q: forces of joints that follow others add up (RBDA 9.26)."""
        ours, tau = self.q_from(q), self._theirs("tau", tau, self.nv)
        result = np.zeros((*np.broadcast_shapes(ours.shape[:-1], tau.shape[:-1]), self.model.nv))
        for m in self.matches:
            part = m.rule.v_from(self._position(ours, m.joint), tau[..., m.v])
            if m.joint in self.model.coupled:
                for k, ratio in zip(self.model.variables(m.joint), self._slopes(ours, m.joint), strict=True):
                    result[..., k] += ratio * part[..., 0]
            else:
                result[..., self.model.v_slices[m.joint]] += part
        return result

    def wrench_to(self, f: Any) -> Array:
        """A wrench (n, f) in their order. The frame and the point it acts at stay as they are."""
        f = self._ours("f", f, 6)
        return f.copy() if self.moment_first else f[..., [3, 4, 5, 0, 1, 2]]

    def wrench_from(self, f: Any) -> Array:
        """A wrench of theirs as (n, f)."""
        return self.wrench_to(f)

    # parts

    def _position(self, q: Array, joint: int) -> Array:
        """q of one of our joints, also of one that follows another."""
        if joint not in self.model.coupled:
            return q[..., self.model.q_slices[joint]]
        return self._one(q, self.model.coupled[joint].law.value(self._sources(q, joint)))

    def _rate(self, q: Array, v: Array, joint: int) -> Array:
        """v, or a without what changes the coupling, of one of our joints (RBDA 8.42: G v)."""
        if joint not in self.model.coupled:
            return v[..., self.model.v_slices[joint]]
        moving = zip(self._slopes(q, joint), self.model.variables(joint), strict=True)
        return sum((x[..., None] * v[..., k, None] for x, k in moving), np.zeros((1,)))

    def _drift(self, q: Array, v: Array, joint: int) -> Array:
        """g of one of our joints (RBDA 8.42: Ġ v)."""
        if joint not in self.model.coupled:
            return np.zeros((1,))
        moving = Vector(v[..., k] for k in self.model.variables(joint))
        rates = self.model.coupled[joint].law.slope_rates(self._sources(q, joint), moving)
        return sum((self._one(q, x) * y[..., None] for x, y in zip(rates, moving, strict=True)), np.zeros((1,)))

    def _slopes(self, q: Array, joint: int) -> list[Array]:
        """The row of G of a joint that follows others."""
        slopes = self.model.coupled[joint].law.slopes(self._sources(q, joint))
        return [self._one(q, x)[..., 0] for x in slopes]

    def _sources(self, q: Array, joint: int) -> Vector:
        return Vector(q[..., self.model.q_slices[s].start] for s in self.model.coupled[joint].sources)

    @staticmethod
    def _one(q: Array, x: Any) -> Array:
        """One number for each position, as a vector of one entry."""
        return np.broadcast_to(np.asarray(x, dtype=float), q.shape[:-1])[..., None]

    def _independent(self) -> list[Match]:
        coupled = self.model.coupled
        return [m for m in self.matches if m.joint not in coupled]

    def _spread(self, q: Array, each: Callable[[Match], Array], *others: Array) -> Array:
        shape = np.broadcast_shapes(q.shape[:-1], *(x.shape[:-1] for x in others))
        result = np.zeros((*shape, self.nv))
        for m in self.matches:
            result[..., m.v] = each(m)
        return result

    def _gather(self, q: Array, each: Callable[[Match], Array], *others: Array) -> Array:
        shape = np.broadcast_shapes(q.shape[:-1], *(x.shape[:-1] for x in others))
        result = np.zeros((*shape, self.model.nv))
        for m in self._independent():
            result[..., self.model.v_slices[m.joint]] = each(m)
        return result

    def _ours(self, name: str, x: Any, n: int) -> Array:
        return _checked(name, x, n, "knuckle")

    def _theirs(self, name: str, x: Any, n: int) -> Array:
        return _checked(name, x, n, self.library)


def _checked(name: str, x: Any, n: int, whose: str) -> Array:
    array = np.asarray(x, dtype=float)
    if array.ndim == 0 or array.shape[-1] != n:
        raise ValueError(f"{name} has shape {array.shape}; its last axis needs {n} entries, {whose}'s number of them")
    return array
