"""Contact: a ball on every body, over a plane."""

from __future__ import annotations

import dataclasses
from typing import Any

import knuckle as kn
from knuckle.model import ContactRules, Geometry, Model, Plane, Sphere, Surface, edit

from .base import Rows

ROWS = Rows()
simple = ROWS.simple


def _grounded(model: Model) -> Model:
    """With a ball on every body, over a plane."""
    ball = Geometry(Sphere(0.1), contact_affinity=0)
    bodies = tuple(dataclasses.replace(body, collisions=(ball,)) for body in model.bodies)
    return model.replace(bodies=bodies, base=dataclasses.replace(model.base, collisions=(Geometry(Plane((0.0, 0.0))),)))


def _far(model: Model) -> Model:
    """With a ball on every body, high above a plane."""
    return edit.with_ground(_grounded(model).replace(base=dataclasses.replace(model.base, collisions=())), height=-1e3)


def _soft(model: Model) -> Model:
    surface = Surface("default", stiffness=1e3, damping=10.0, friction=0.5)
    return _grounded(model).replace(contact=ContactRules((surface,)))


_SPRINGS = kn.contact.CompliantContacts()
_SOFT = kn.contact.CompliantContacts("linear", friction="regularized")
for _name in ("gaps", "points", "normals", "contact_frames"):
    _place: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_place: f(_grounded(c.model), c.q),
        lambda c, f=_place: f(_grounded(c.tree), c.Q),
    )
simple(
    "contact.separation_states",
    lambda c: kn.contact.separation_states(_grounded(c.model), c.q, c.v) == "apart",
    lambda c: kn.contact.separation_states(_grounded(c.tree), c.Q, c.V) == "apart",
)
for _name in ("gap_rates", "contact_velocity"):
    _rates: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_rates: f(_grounded(c.model), c.q, c.v),
        lambda c, f=_rates: f(_grounded(c.tree), c.Q, c.V),
    )
simple(
    "contact.contact_jacobian",
    lambda c: kn.contact.contact_jacobian(_grounded(c.model), c.q),
    lambda c: kn.contact.contact_jacobian(_grounded(c.tree), c.Q) @ c.G,
)
simple(
    "contact.contact_bias",
    lambda c: kn.contact.contact_bias(_grounded(c.model), c.q, c.v),
    lambda c: (
        kn.contact.contact_bias(_grounded(c.tree), c.Q, c.V) + kn.contact.contact_jacobian(_grounded(c.tree), c.Q) @ c.g
    ),
)
simple(
    "contact.contact_forces",
    lambda c: kn.contact.contact_forces(_soft(c.model), c.q, c.v, _SOFT),
    lambda c: kn.contact.contact_forces(_soft(c.tree), c.Q, c.V, _SOFT),
)
simple(
    "contact.contact_joint_forces",
    lambda c: kn.contact.contact_joint_forces(_soft(c.model), c.q, c.v, _SOFT),
    lambda c: c.G.T @ kn.contact.contact_joint_forces(_soft(c.tree), c.Q, c.V, _SOFT),
)
simple(
    "contact.compliant_dynamics",
    lambda c: kn.contact.compliant_dynamics(_soft(c.model), c.q, c.v, c.tau, _SOFT),
    lambda c: kn.forward_dynamics(
        c.model, c.q, c.v, c.tau + kn.contact.contact_joint_forces(_soft(c.model), c.q, c.v, _SOFT)
    ),
)
simple(
    "contact.friction_springs",
    lambda c: kn.contact.friction_springs(_soft(c.model), [0.0, 0.1], [c.q] * 2, [c.v] * 2, _SPRINGS),
    lambda c: kn.contact.friction_springs(_soft(c.tree), [0.0, 0.1], [c.Q] * 2, [c.V] * 2, _SPRINGS),
)
simple(
    "contact.contact_dynamics",
    lambda c: kn.contact.contact_dynamics(_far(c.model), c.q, c.v, c.tau).a,
    lambda c: kn.forward_dynamics(c.model, c.q, c.v, c.tau),
)
simple("contact.impact", lambda c: kn.contact.impact(_far(c.model), c.q, c.v).v, lambda c: c.v)
simple(
    "contact.with_hulls",
    lambda c: kn.contact.gaps(kn.contact.with_hulls(_grounded(c.model)), c.q),
    lambda c: kn.contact.gaps(_grounded(c.tree), c.Q),
)
simple(
    "contact.ShapeCollider",
    lambda c: kn.contact.ShapeCollider.of(_grounded(c.model)).places(c.q),
    lambda c: kn.contact.ShapeCollider.of(_grounded(c.tree)).places(c.Q),
)
for _name in ("staggered_projections", "single_contact_program"):
    _step: Any = getattr(kn.contact, _name)
    simple(
        f"contact.{_name}",
        lambda c, f=_step: f(_far(c.model), c.q, c.v, c.tau, dt=1e-3).v,
        lambda c: c.v + 1e-3 * kn.forward_dynamics(c.model, c.q, c.v, c.tau),
    )
simple(
    "contact.bilateral_staggered_projections",
    lambda c: kn.contact.bilateral_staggered_projections(_far(c.model), [], c.q, c.v, c.tau, dt=1e-3).v,
    lambda c: c.v + 1e-3 * kn.forward_dynamics(c.model, c.q, c.v, c.tau),
)
simple(
    "contact.contact_pairs",
    lambda c: len(kn.contact.contact_pairs(_grounded(c.model))),
    lambda c: c.model.nb,
)
