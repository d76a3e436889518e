"""How stiff soft contacts are: the rates that limit the steps of an explicit integrator."""

from __future__ import annotations

from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from knuckle.algorithms.contact.soft_laws import LAWS, squeezed
from knuckle.contact.contact_pairs import ContactPair
from knuckle.contact.soft_contact import Touch, has_spring, places_in
from knuckle.engine.calls.function import kernel
from knuckle.functions import mass_matrix
from knuckle.functions.loops.dense_constraints import spanning_tree
from knuckle.model import Model
from knuckle.model.contact import CompliantContacts
from knuckle.scalar import Dual, parts, value_of
from knuckle.spatial import Vector
from knuckle.spatial.three import add, scale

from .stiffness import Stiffness

Array = NDArray[Any]


def contact_stiffness(model: Model, contacts: CompliantContacts, q: Array) -> Stiffness:
    """How stiff the soft contacts of a mechanism are in a position: the stiffest pair of shapes, touching or not.

    Shapes count at the depth of their overlap, and at least at that for which their stiffness is stated; those that
    overlap now count together as well. Loops make a mechanism less stiff, and are not looked at.
    """
    tree = spanning_tree(model)
    start: Any = Vector([float(x) for x in q])
    places = places_in(tree, contacts, start, Vector.zero(tree.nv))[1]
    if not places:
        return Stiffness(0.0, 0.0)
    J = np.asarray(_velocities(tree, q, np.eye(tree.nv), contacts=contacts)).T
    try:
        A = J @ np.linalg.solve(np.asarray(mass_matrix(tree, q)), J.T)
    except np.linalg.LinAlgError:
        return Stiffness(inf, inf)
    weight = sum(float(body.inertia.mass) for body in tree.bodies) * float(np.linalg.norm(tree.gravity)) / len(places)
    slopes = [_slopes(contacts, touch, weight) for touch in places]
    groups = [[k for k, touch in enumerate(places) if touch.at.place.gap < 0]]
    last: ContactPair | None = None
    for k, touch in enumerate(places):
        groups = [*groups[:-1], [*groups[-1], k]] if touch.at.pair is last else [*groups, [k]]
        last = touch.at.pair
    rates = [_rates(A, slopes, group) for group in groups if group]
    return Stiffness(max(x.damping for x in rates), max(x.frequency for x in rates))


def _slopes(contacts: CompliantContacts, touch: Touch, weight: float) -> tuple[Array, Array]:
    """Stiffness and damping (3, 3) of a place in base axes."""
    surface, law, gap = touch.surface, LAWS[contacts.law], float(touch.at.place.gap)
    deep = -max(-gap, surface.depth)
    k = float(parts(squeezed(law, surface, Dual(deep, -1.0), 0.0).force)[1])
    d = float(parts(squeezed(law, surface, deep, Dual(0.0, -1.0)).force)[1])
    across = 0.0, 0.0
    if has_spring(contacts, surface):
        share = surface.across * float(squeezed(law, surface, deep, 0.0).share)
        across = share * surface.stiffness, share * float(value_of(surface.damping))
    elif contacts.friction == "regularized":
        normal = max(float(squeezed(law, surface, gap, 0.0).force), weight)
        across = 0.0, float(value_of(surface.friction)) * normal / contacts.slip_speed
    n = np.array([float(value_of(x)) for x in touch.at.place.normal])
    along = np.outer(n, n)
    return k * along + across[0] * (np.eye(3) - along), d * along + across[1] * (np.eye(3) - along)


def _rates(A: Array, slopes: list[tuple[Array, Array]], places: list[int]) -> Stiffness:
    """The largest eigenvalues of H⁻¹JᵀDJ and H⁻¹JᵀKJ, for some places."""
    rows = [3 * k + i for k in places for i in range(3)]
    largest = list[float]()
    for which in (0, 1):
        B = np.zeros((len(rows), len(rows)))
        for i, k in enumerate(places):
            B[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = slopes[k][which]
        largest.append(float(np.abs(np.linalg.eigvals(A[np.ix_(rows, rows)] @ B)).max(initial=0.0)))
    return Stiffness(largest[1], sqrt(largest[0]))


@kernel
def _velocities(model: Model, q: Any, v: Any, *, contacts: CompliantContacts) -> Any:
    """The relative velocity (3 n) at each place."""
    places = places_in(model, contacts, q, v)[1]
    return Vector(x for touch in places for x in add(touch.slip, scale(touch.rate, touch.at.place.normal)))
