"""Impact: the velocities after bodies have struck each other (RBDA 11.52-11.72)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from knuckle.contact.contact_motion_terms import contact_frames, contact_jacobian, contact_velocity
from knuckle.contact.contact_terms import gaps
from knuckle.model import Model
from knuckle.model.contact import ImpactLaw, Order
from knuckle.public_names import public_in
from knuckle.solvers.unilateral_forces import pushes

from .contact_response import ContactResponse, response_at
from .impact_process import ImpactProcess, RestitutionLaw
from .place_surfaces import PlaceSurfaces, place_surfaces
from .state_batches import StateBatch

Array: TypeAlias = NDArray[Any]

TURNS = 50
"""Impacts in turn at one instant, for each contact; in the second half of them nothing bounces."""
NOTHING = 3e-10
"""Approaches slower than this part of the velocities before are none."""
GAIN = 1e-10
"""What the energy may rise by, as a part of it, and count as kept."""


@public_in("contact")
@dataclass(frozen=True)
class Impact:
    """What an impact did. Places are those of `gaps`, n of them.

    Attributes:
        v: (..., nv) the velocity variables after it.
        impulses: (..., n, 3) the impulse of each contact on its first body, in newton seconds and base axes; the second
            body has the opposite one.
        energy: (...,) the change of the kinetic energy, in joules.
        status: (...,) "solved"; "gained" where the law gave energy, which only the energetic one never does;
            "unsolved" where impacts did not end: those that were computed are in the result.
        message: (...,) what that is, in words; empty where it is solved.
    """

    v: Array
    impulses: Array
    energy: Array
    status: Array
    message: Array

    @property
    def solved(self) -> bool:
        """Whether all states are."""
        return bool((self.status == "solved").all())


@public_in("contact")
def impact(
    model: Model,
    q: ArrayLike,
    v: ArrayLike,
    *,
    law: ImpactLaw = "energetic",
    order: Order = "simultaneous",
    restitution: float | None = None,
    friction: float | None = None,
    gap: float = 1e-9,
) -> Impact:
    """The velocity after an impact at all contacts that close (RBDA 11.52-11.72). A state without one stays.

    Loops stay closed, joints that follow others do so, and free bodies keep their momentum. Friction is Coulomb's, at
    every moment of the impact.

    Args:
        model: the mechanism.
        q: positions (..., nq).
        v: velocity variables before it (..., nv).
        law: when a contact has opened. "energetic" (Stronge): the work of opening is e² times that of closing, so that
            no energy comes from nothing. "newton": the velocities of a contact are −e times what they were
            (11.60-11.65). "poisson": the impulse of opening is e times that of closing. "sticking": as Newton's, and
            nothing slides afterwards, however much friction that takes (11.66-11.72). Without friction the first three
            are one, and Moreau's where several contacts strike. With it Newton's, Poisson's and the sticking one can
            give energy: the status says where.
        order: "simultaneous", or "sequential": always the contact that closes fastest, by itself, until none closes.
        restitution: e for all contacts; if not given, that of the surfaces.
        friction: μ for all contacts; if not given, that of the surfaces.
        gap: what counts as touching, in metres; an overlap does too.
    """
    if law not in ("newton", "poisson", "energetic", "sticking"):
        raise ValueError(f'law is "newton", "poisson", "energetic" or "sticking", not {law!r}')
    if order not in ("simultaneous", "sequential"):
        raise ValueError(f'order is "simultaneous" or "sequential", not {order!r}')
    if restitution is not None and not 0 <= restitution <= 1:
        raise ValueError(f"restitution is {restitution!r}, and must be between 0 and 1")
    if friction is not None and not 0 <= friction < np.inf:
        raise ValueError(f"friction is {friction!r}, and must be a number that is not negative")
    states = StateBatch.of("impact", model, q=q, v=v)
    surfaces = place_surfaces(model).with_values(friction, restitution)
    n = len(surfaces)
    rows = [
        struck(model, surfaces, x, w, law, order, gap)
        for x, w in zip(states.arrays["q"], states.arrays["v"], strict=True)
    ]
    return Impact(
        states.shaped([x.v for x in rows], model.nv),
        states.shaped([x.impulses for x in rows], n, 3),
        states.shaped([x.energy for x in rows]),
        states.shaped([x.status for x in rows]),
        states.shaped([x.message for x in rows]),
    )


def struck(
    model: Model,
    surfaces: PlaceSurfaces,
    q: Array,
    v: Array,
    law: ImpactLaw,
    order: Order,
    gap: float = 1e-9,
    rest_speed: float = 0.0,
) -> Impact:
    """An impact in one state. What closes with no more than `rest_speed` when its turn comes does not bounce."""
    n = len(surfaces)
    impulses = np.zeros((n, 3))
    touching = np.flatnonzero(np.asarray(gaps(model, q)) <= gap)
    before = np.asarray(contact_velocity(model, q, v))[touching]
    if not np.any(before[:, 0] < 0):
        return Impact(v, impulses, np.array(0.0), np.array("solved"), np.array(""))
    J = np.asarray(contact_jacobian(model, q))[touching].reshape(-1, model.nv)
    response = response_at(model, q, J)
    blow = Blow(response, surfaces.friction[touching], surfaces.restitution[touching], law, order, rest_speed)
    total, problem = blow.impulses(before)
    energy = float(total.ravel() @ (before.ravel() + response.A @ total.ravel() / 2))
    size = float(np.abs(total.ravel()) @ np.abs(before.ravel()))
    frames = np.asarray(contact_frames(model, q))[touching]
    impulses[touching] = np.einsum("kij,ki->kj", frames, total)
    status = "unsolved" if problem else "gained" if energy > GAIN * size else "solved"
    if status == "gained":
        problem = f"the law {law!r} gave {energy:.3g} J: 'energetic' gives none"
    after = v + response.change(total.ravel())
    return Impact(after, impulses, np.array(energy), np.array(status), np.array(problem))


@dataclass(frozen=True)
class Blow:
    """Contacts that touch at one instant: their response, friction, restitution, law and order."""

    response: ContactResponse
    mu: Array
    e: Array
    law: ImpactLaw
    order: Order
    rest_speed: float = 0.0

    def impulses(self, before: Array) -> tuple[Array, str]:
        """The impulses (m, 3) after which no contact closes, and in words what was not to be solved.

        A contact that was opening and is closed by what the others do is struck in turn.
        """
        m, A = len(self.mu), self.response.A
        total, u = np.zeros((m, 3)), before
        sizes = np.abs(before).max() + np.zeros(m)
        for turn in range(TURNS * m):
            closing = u[:, 0] < -NOTHING * (sizes + (np.abs(A) @ np.abs(total.ravel())).reshape(-1, 3)[:, 0])
            if not closing.any():
                return total, ""
            e = np.where((-u[:, 0] > self.rest_speed) & (turn < TURNS * m // 2), self.e, 0.0)
            chosen = (
                np.flatnonzero(u[:, 0] <= STILL * sizes) if self.order == "simultaneous" else [int(np.argmin(u[:, 0]))]
            )
            part, problem = self._at_once(np.array(chosen), u, e)
            total = total + part
            u = before + (A @ total.ravel()).reshape(-1, 3)
            if problem:
                return total, problem
        return total, f"impacts at {m} contacts did not end after {TURNS * m} turns"

    def _at_once(self, chosen: Array, u: Array, e: Array) -> tuple[Array, str]:
        """The impulses of some contacts that are struck together."""
        rows = (3 * chosen[:, None] + np.arange(3)).ravel()
        part = np.zeros((len(self.mu), 3))
        if self.law == "sticking":
            part[chosen], problem = sticking(self.response.B[rows], u[chosen], e[chosen])
        else:
            law: RestitutionLaw = self.law
            A = self.response.A[np.ix_(rows, rows)]
            part[chosen], problem = ImpactProcess(A, u[chosen], self.mu[chosen], e[chosen], law).run()
        return part, problem


STILL = 1e-10
"""Contacts that move apart slower than this part of the velocities before are struck with the others."""


def sticking(B: Array, u: Array, e: Array) -> tuple[Array, str]:
    """λ = −(NᵀΦN)⁻¹(1 + E) u, E = diag(e, 0, 0), where every contact pushes (11.72); only pushes where some do not.

    The rows across are held whatever that takes, and the normals are what is left beside them.
    """
    m = len(u)
    normal = B[::3]
    across = np.delete(B, np.s_[::3], axis=0)
    U, s, Vt = np.linalg.svd(across, full_matrices=False)
    kept = s > 1e-10 * max(s.max(initial=0.0), 1e-300)
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    still = Vt.T @ ((U.T @ u[:, 1:].ravel()) / s)  # the whitened velocity that goes first, with what slides
    left = normal - (normal @ Vt.T) @ Vt
    rate = u[:, 0] - normal @ still + e * u[:, 0]
    lam = pushes(left, rate)
    if lam is None:
        return np.zeros((m, 3)), f"the {m} contacts contradict each other: nothing keeps all of them from closing"
    found = np.zeros((m, 3))
    found[:, 0] = lam
    found[:, 1:] = -(U @ ((U.T @ u[:, 1:].ravel() + s * (Vt @ (normal.T @ lam))) / s**2)).reshape(m, 2)
    return found, ""
