"""Derivatives by positions: along the velocity variables, of which there are nv, whatever nq is (RBDA 3.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from knuckle.model import Model
from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Vector


def position_rates(model: Model, q: Vector) -> list[dict[int, Any]]:
    """For each entry of q its derivative along each velocity variable that moves it: q̇ = N(q) v by rows."""
    rows: list[dict[int, Any]] = [{} for _ in range(model.nq)]
    for joint, qs, vs in zip(model.joints, model.q_slices, model.v_slices, strict=True):
        for k in range(vs.stop - vs.start):
            unit = Vector(ONE if i == k else ZERO for i in range(vs.stop - vs.start))
            for i, x in enumerate(joint.type.rate(q[qs], unit)):
                if x is not ZERO:
                    rows[qs.start + i][vs.start + k] = x
    return rows


def along_velocities(rows: list[dict[int, Any]], slopes: Mapping[int, Any], nv: int) -> list[Any]:
    """Derivatives along the velocity variables, Nᵀ g, from those by the entries of q."""
    found: list[Any] = [ZERO] * nv
    for i, slope in slopes.items():
        for k, x in rows[i].items():
            found[k] = found[k] + x * slope
    return found
