"""Mechanisms with couplings, their laws and slopes written out by hand, and the same ones as constrained trees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

import knuckle as kn
from knuckle.joints import Free, Prismatic, Revolute
from knuckle.model import Builder, FunctionLaw, Model, Powers, edit, solid_box
from knuckle.scalar import cos, sin
from knuckle.testing.loops.linkages import five_bar

from ..loops.oracle import dense_jacobian

Array = NDArray[np.float64]


def tree() -> Builder:
    """A floating hull with an arm on a slide, and a wheel: 11 freedoms, with every force that joints know."""
    b = Builder("rover", base="world")
    b.body("hull", on="world", joint=Free(), inertia=solid_box(4.0, (0.6, 0.4, 0.2), at=(0.02, -0.01, 0.03)))
    b.body("slide", on="hull", joint=Prismatic("x"), at=(0.1, 0, 0.1), inertia=solid_box(1.0, (0.1, 0.2, 0.1)),
           damping=0.3, stiffness=20.0, rest=0.1)  # fmt: skip
    b.body("arm", on="slide", joint=Revolute("y"), at=dict(xyz=(0, 0, 0.1), rpy=(0.1, 0.2, 0.3)),
           inertia=solid_box(1.5, (0.1, 0.1, 0.4), at=(0, 0.02, 0.2)), friction=0.2, rotor_inertia=0.02)  # fmt: skip
    b.body("fore", on="arm", joint=Revolute("z"), at=(0, 0, 0.4),
           inertia=solid_box(0.8, (0.3, 0.1, 0.1), at=(0.15, 0, 0.01)), damping=0.1)  # fmt: skip
    b.body("hand", on="fore", joint=Revolute("x"), at=(0.3, 0, 0),
           inertia=solid_box(0.4, (0.1, 0.15, 0.05), at=(0.05, 0.03, 0)), damping=0.05, rotor_inertia=0.01)  # fmt: skip
    b.body("wheel", on="hull", joint=Revolute("y"), at=(-0.2, 0.25, 0),
           inertia=solid_box(0.5, (0.2, 0.05, 0.2), at=(0.01, 0, 0.02)))  # fmt: skip
    b.frame("tool", on="hand", at=(0.1, 0, 0.02))
    return b


ARM, FORE, HAND, WHEEL = 7, 8, 9, 10
"""Velocity variables of the tree."""


@dataclass(frozen=True)
class Case:
    """A mechanism in a state, and the tree that it is when couplings and loops are constraints (RBDA 8.36, 9.6)."""

    name: str
    model: Model
    follow: tuple[int, ...]
    """Velocity variables of the tree that follow, in the order of the couplings."""
    gamma: Callable[[Array], Array]
    slopes: Callable[[Array], Array]
    """∂γ/∂y by the tree's velocity variables (number of couplings, n)."""
    slope_rates: Callable[[Array, Array], Array]
    q: Array
    v: Array
    a: Array
    tau: Array
    f_ext: Array
    frame: str
    lockable: str
    drivable: str

    # the tree

    @cached_property
    def open(self) -> Model:
        """Without couplings."""
        return self.model.without_couplings()

    @cached_property
    def tree(self) -> Model:
        """Without couplings and loops."""
        return self.open.without_loops()

    @property
    def lead(self) -> list[int]:
        """Velocity variables of the tree that are independent."""
        return [k for k in range(self.tree.nv) if k not in self.follow]

    @property
    def quaternion(self) -> int:
        """How many more position than velocity variables the tree has: the first joint may be free."""
        return self.tree.nq - self.tree.nv

    @property
    def lead_q(self) -> list[int]:
        return [*range(self.quaternion), *(k + self.quaternion for k in self.lead)]

    def to_tree(self, q: Array) -> Array:
        full = np.zeros(self.tree.nq)
        full[self.lead_q] = q
        full[[k + self.quaternion for k in self.follow]] = self.gamma(full[self.quaternion :])
        return full

    @cached_property
    def Q(self) -> Array:
        return self.to_tree(self.q)

    @property
    def _y(self) -> Array:
        return self.Q[self.quaternion :]

    @cached_property
    def G(self) -> Array:
        """v_tree = G v."""
        G = np.zeros((self.tree.nv, self.model.nv))
        G[self.lead] = np.eye(self.model.nv)
        G[list(self.follow)] = self.slopes(self._y)[:, self.lead]
        return G

    @cached_property
    def G_rate(self) -> Array:
        rate = np.zeros((self.tree.nv, self.model.nv))
        rate[list(self.follow)] = self.slope_rates(self._y, self.V)[:, self.lead]
        return rate

    @property
    def g(self) -> Array:
        return self.G_rate @ self.v

    @property
    def V(self) -> Array:
        v = np.zeros(self.tree.nv)
        v[self.lead] = self.v
        v[list(self.follow)] = self.slopes(self._y) @ v
        return v

    @property
    def A(self) -> Array:
        return self.G @ self.a + self.g

    @cached_property
    def H(self) -> Array:
        return self.G.T @ kn.mass_matrix(self.tree, self.Q) @ self.G

    @cached_property
    def K(self) -> Array:
        """Constraints of the loop joints on the tree."""
        return dense_jacobian(self.open, self.Q)

    def at(self, q: Array, v: Array) -> Case:
        """The same mechanism in another state."""
        return dataclasses.replace(self, q=q, v=v)

    def constrained(
        self, tau: Array, f_ext: Array | None = None, more: tuple[Array, Array] | None = None
    ) -> tuple[Array, Array]:
        """(a, λ) of the tree: [H Kᵀ; K 0] (a, −λ) = (τ − C, k), densely (RBDA 8.36).

        K has a row v_f − γ' v_s for each coupling, then those of the loop joints, then `more` and what they are to be.
        """
        n, m = self.tree.nv, len(self.follow)
        rows = -self.slopes(self._y)
        rows[range(m), list(self.follow)] = 1.0
        J, wanted = (np.zeros((0, n)), np.zeros(0)) if more is None else more
        K = np.vstack([rows, self.K, J])
        bias = kn.loops.bias(self.open, self.Q, self.V) if self.model.loops else np.zeros(0)
        k = np.concatenate([self.slope_rates(self._y, self.V) @ self.V, bias, wanted])
        H, C = kn.mass_matrix(self.tree, self.Q), kn.bias_force(self.tree, self.Q, self.V, f_ext)
        full = np.zeros(n)
        full[self.lead] = tau
        system = np.block([[H, K.T], [K, np.zeros((len(K), len(K)))]])
        x = np.linalg.lstsq(system, np.concatenate([full - C, k]), rcond=1e-13)[0]
        return x[:n], -x[n:]


def _drawn(model: Model, q: Array | None = None, seed: int = 0) -> dict[str, Array]:
    """A random state; velocity and acceleration keep loops closed."""
    rng = np.random.default_rng(seed)
    at = kn.random_configuration(model, rng) if q is None else q
    v, a, tau = rng.normal(size=(3, model.nv))
    if model.loops:
        K = kn.loops.jacobian(model, at)
        v = v - np.linalg.pinv(K, rcond=1e-10) @ (K @ v)
        a = a - np.linalg.pinv(K, rcond=1e-10) @ (K @ a - kn.loops.bias(model, at, v))
    return dict(q=at, v=v, a=a, tau=tau, f_ext=rng.normal(size=(model.nb, 6)))


def _rows(*entries: dict[int, float], n: int = 11) -> Array:
    rows = np.zeros((len(entries), n))
    for row, given in zip(rows, entries, strict=True):
        for k, x in given.items():
            row[k] = x
    return rows


def _linear(name: str, model: Model, follow: tuple[int, ...], rows: Array, offsets: Array) -> Case:
    laws = (lambda q: rows @ q + offsets, lambda q: rows.copy(), lambda q, v: 0 * rows)
    return Case(
        name, model, follow, *laws, **_drawn(model), frame="tool", lockable="fore_joint", drivable="slide_joint"
    )


def mimic() -> Case:
    """As URDF's <mimic>: a ratio and an offset."""
    b = tree()
    b.mimic("hand_joint", "arm_joint", ratio=-0.5, offset=0.2)
    return _linear("mimic joint", b.build(), (HAND,), _rows({ARM: -0.5}), np.array([0.2]))


def gear() -> Case:
    """A wheel on another branch, thirty times as fast as the arm."""
    b = tree()
    b.couple("wheel_joint", "arm_joint", 30.0)
    return _linear("gear", b.build(), (WHEEL,), _rows({ARM: 30.0}), np.zeros(1))


def differential() -> Case:
    """Two shafts that turn with the mean of, and half the difference between, two others."""
    b = tree()
    b.couple("hand_joint", ("arm_joint", "fore_joint"), (0.5, 0.5))
    b.couple("wheel_joint", ("arm_joint", "fore_joint"), (0.5, -0.5), offset=-0.3)
    rows = _rows({ARM: 0.5, FORE: 0.5}, {ARM: 0.5, FORE: -0.5})
    return _linear("differential", b.build(), (HAND, WHEEL), rows, np.array([0.0, -0.3]))


def cam(x):
    """Of one joint."""
    return sin(2 * x) + 0.3 * x * x


def link(x, y):
    """Of two joints."""
    return 0.5 * y * cos(x)


def nonlinear() -> Case:
    """A cam, and a law of two joints: G changes, and g is not zero."""
    b = tree()
    b.couple("hand_joint", "arm_joint", cam)
    b.couple("wheel_joint", ("arm_joint", "fore_joint"), link)

    def gamma(q):
        x, y = q[ARM], q[FORE]
        return np.array([np.sin(2 * x) + 0.3 * x**2, 0.5 * y * np.cos(x)])

    def slopes(q):
        x, y = q[ARM], q[FORE]
        return _rows({ARM: 2 * np.cos(2 * x) + 0.6 * x}, {ARM: -0.5 * y * np.sin(x), FORE: 0.5 * np.cos(x)})

    def rates(q, v):
        x, y, dx, dy = q[ARM], q[FORE], v[ARM], v[FORE]
        first = {ARM: (-4 * np.sin(2 * x) + 0.6) * dx}
        second = {ARM: -0.5 * (dy * np.sin(x) + y * np.cos(x) * dx), FORE: -0.5 * np.sin(x) * dx}
        return _rows(first, second)

    model, words = b.build(), dict(frame="tool", lockable="fore_joint", drivable="slide_joint")
    return Case("nonlinear coupling", model, (HAND, WHEEL), gamma, slopes, rates, **_drawn(model), **words)


def loop() -> Case:
    """A five-bar, without couplings."""
    made = five_bar()
    none = np.zeros((0, made.model.nv))
    laws = (lambda q: np.zeros(0), lambda q: none.copy(), lambda q, v: none.copy())
    words = dict(
        frame=made.model.body_names[-1], lockable=made.model.joint_names[0], drivable=made.model.joint_names[0]
    )
    return Case("loop", made.model, (), *laws, **_drawn(made.model, made.q), **words)


def geared_loop() -> Case:
    """A five-bar whose second crank follows the first along a curve: one freedom, and a loop to keep closed."""
    made = five_bar()
    n, names = made.model.nv, made.model.joint_names
    first, second = (k for k in range(n) if made.model.parents[k] == -1)
    model = edit.couple(made.model, names[second], names[first], Powers((made.q[second], -0.8, 0.3)))
    start = np.delete(made.q, second)
    start[first if first < second else first - 1] = 0.0
    closed = kn.loops.close(model, start)
    assert closed.closed
    rod = names[next(k for k in range(n) if k not in (first, second))]
    words = dict(frame=model.body_names[-1], lockable=rod, drivable=rod)
    return Case(
        "geared loop",
        model,
        (second,),
        lambda q: np.array([made.q[second] - 0.8 * q[first] + 0.3 * q[first] ** 2]),
        lambda q: _rows({first: -0.8 + 0.6 * q[first]}, n=n),
        lambda q, v: _rows({first: 0.6 * v[first]}, n=n),
        **_drawn(model, closed.q),
        **words,
    )


def snake(n: int) -> Model:
    """Many links, moved by two variables through a wave along them."""
    b = Builder("snake")
    for i in range(n):
        b.body(
            f"l{i}",
            on=f"l{i - 1}" if i else None,
            joint=Revolute("z" if i % 3 else "y"),
            at=(0.4, 0, 0),
            inertia=solid_box(1.0, (0.4, 0.1, 0.2), at=(0.2, 0.01, 0.02)),
        )
    for i in range(2, n):
        weight = i / n
        b.couple(f"l{i}_joint", ("l0_joint", "l1_joint"), FunctionLaw(lambda x, y, w=weight: x * cos(w) + sin(w * y)))
    return b.build()


CASES = {case.name: case for case in (mimic(), gear(), differential(), nonlinear(), loop(), geared_loop())}
COUPLED = {name: case for name, case in CASES.items() if not case.model.loops}
