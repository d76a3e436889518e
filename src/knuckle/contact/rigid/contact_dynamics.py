"""The acceleration of a mechanism in contact, and its contact forces (RBDA 11.32-11.44), with friction too."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.contact.contact_motion_terms import contact_bias, contact_frames, contact_jacobian, contact_velocity
from knuckle.contact.contact_terms import gaps
from knuckle.functions.dynamics import forward_dynamics
from knuckle.model import Model
from knuckle.public_names import public_in
from knuckle.solvers.unilateral_forces import basis, pushes

from .contact_forces import forces_of
from .contact_response import response_at
from .place_surfaces import PlaceSurfaces, place_surfaces
from .state_batches import StateBatch

Array: TypeAlias = NDArray[Any]
Method = Literal["cone", "lcp", "force", "acceleration"]
Status = Literal["solved", "impact", "infeasible", "undefined"]

TIGHT = 1e-9
"""Accelerations of gaps below this part of the largest are zero."""


@public_in("contact")
@dataclass(frozen=True)
class ContactMotion:
    """What contacts do to the acceleration. Places are those of `gaps`, n of them.

    Attributes:
        a: (..., nv) the acceleration.
        forces: (..., n, 3) the force of each contact on its first body, in newtons and base axes; the second body has
            the opposite one. Where several contacts say the same they are not unique: their sum T λ is.
        separation: (..., n, 3) ζ̇, the relative acceleration along the rows of `contact_frames` (11.32); NaN where there
            is no contact.
        active: (..., n) the active contacts: all that push, and of those that neither push nor open as many as have
            independent normals (RBDA 11.5).
        sliding: (..., n) the contacts that slide or begin to.
        status: (...,) "solved"; "impact" where a contact closes with speed, and `impact` is due before accelerations
            say much; "infeasible" where no forces keep all contacts: `a` is without those; "undefined" where the state
            is not finite.
        message: (...,) what that is, in words; empty where it is solved.
    """

    a: Array
    forces: Array
    separation: Array
    active: Array
    sliding: Array
    status: Array
    message: Array

    @property
    def solved(self) -> bool:
        """Whether all states are."""
        return bool((self.status == "solved").all())


@public_in("contact")
def contact_dynamics(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    f_ext: ArrayLike | None = None,
    *,
    method: Method = "cone",
    gap: float = 1e-9,
    speed: float = 1e-9,
) -> ContactMotion:
    """The acceleration and the contact forces of a mechanism whose bodies touch rigidly.

    Contacts are places whose gap is closed and does not open: they can push, and friction holds or rubs. The
    surfaces of the model's contact rules say how much.

    Args:
        model: the mechanism. Its loop joints are kept closed too.
        q: positions (..., nq).
        v: velocity variables (..., nv).
        tau: joint forces (..., nv).
        f_ext: a wrench on each body in its own coordinates (..., nb, 6).
        method: "cone" is Coulomb's law with its round cone: what stands sticks or begins to slide, what slides is
            rubbed against its velocity. The others leave friction out, as the book does: "lcp" solves the linear
            complementarity problem (11.42) by Lemke's method, "force" the quadratic program in λ (11.43),
            "acceleration" that in q̈ (11.44).
        gap: what counts as closed, in metres; an overlap does too.
        speed: what counts as no speed, in metres per second.

    Returns:
        A `ContactMotion`. Its status says where contacts contradict each other; nothing is infinite there.
    """
    if method not in ("cone", "lcp", "force", "acceleration"):
        raise ValueError(f'method is "cone", "lcp", "force" or "acceleration", not {method!r}')
    states = StateBatch.of("contact_dynamics", model, q=q, v=v, tau=tau, f_ext=f_ext)
    at = states.arrays
    free = forward_dynamics(model, at["q"], at["v"], at["tau"], at.get("f_ext"))
    surfaces, n = place_surfaces(model), len(place_surfaces(model))
    rows = [
        _accelerated(model, surfaces, at["q"][k], at["v"][k], free[k], method, gap, speed) for k in range(len(at["q"]))
    ]
    return ContactMotion(
        states.shaped([x.a for x in rows], model.nv),
        states.shaped([x.forces for x in rows], n, 3),
        states.shaped([x.separation for x in rows], n, 3),
        states.shaped([x.active for x in rows], n),
        states.shaped([x.sliding for x in rows], n),
        states.shaped([x.status for x in rows]),
        states.shaped([x.message for x in rows]),
    )


def _accelerated(
    model: Model, surfaces: PlaceSurfaces, q: Array, v: Array, free: Array, method: Method, gap: float, speed: float
) -> ContactMotion:
    """One state."""
    n = len(surfaces)
    forces, separation = np.zeros((n, 3)), np.full((n, 3), np.nan)
    active, sliding = np.zeros(n, bool), np.zeros(n, bool)

    def result(a: Array, status: Status, message: str = "") -> ContactMotion:
        return ContactMotion(a, forces, separation, active, sliding, np.array(status), np.array(message))

    if not (np.isfinite(q).all() and np.isfinite(v).all() and np.isfinite(free).all()):
        return result(np.full(model.nv, np.nan), "undefined", "the state or the forces are not finite")
    phi, u = np.asarray(gaps(model, q)), np.asarray(contact_velocity(model, q, v))
    current = np.flatnonzero((phi <= gap) & (u[:, 0] <= speed))
    if not len(current):
        return result(free, "solved")
    m, u = len(current), u[current]
    J = np.asarray(contact_jacobian(model, q))[current].reshape(3 * m, model.nv)
    d = J @ free + np.asarray(contact_bias(model, q, v))[current].ravel()
    response = response_at(model, q, J)
    if method == "cone":
        mu = surfaces.friction[current]
        solution = forces_of(response.A, d, mu, directions(u[:, 1:], mu, speed))
        problem, lam = solution.problem, solution.forces
        sliding[current] = solution.grip.slides & solution.grip.pushes
    else:
        problem, lam = "", np.zeros((m, 3))
        normal = pushes(response.B[::3], d[::3], method)
        if normal is None:
            problem = f"the {m} contacts contradict each other: no forces keep all gaps from closing"
        else:
            lam[:, 0] = normal
    rates = (response.A @ lam.ravel() + d).reshape(m, 3)
    separation[current] = rates
    size = np.linalg.norm(response.B[::3], axis=1)
    unit = response.B[::3] / np.where(size > 0, size, 1.0)[:, None]
    tight = np.abs(rates[:, 0]) <= TIGHT * (np.abs(d).max() + np.abs(rates).max())
    pushing = lam[:, 0] > 0
    active[current] = pushing if method == "cone" else basis(unit, pushing, tight & (size > 0))
    frames = np.asarray(contact_frames(model, q))[current]
    forces[current] = np.einsum("kij,ki->kj", frames, lam)
    a = free + response.change(lam.ravel())
    if problem:
        return result(a, "infeasible", problem)
    closing = u[:, 0] < -speed
    if closing.any():
        pairs = ", ".join(" and ".join(surfaces.names[k]) for k in current[closing])
        return result(a, "impact", f"{pairs} close with {-u[:, 0].min():.3g} m/s: kn.contact.impact is due first")
    return result(a, "solved")


def directions(u: Array, mu: Array, speed: float) -> Array:
    """The directions (m, 2) in which contacts with friction slide; zero where they stand."""
    size = np.linalg.norm(u, axis=1)
    slides = (size > speed) & (mu > 0)
    return np.where(slides[:, None], u / np.where(slides, size, 1.0)[:, None], 0.0)
