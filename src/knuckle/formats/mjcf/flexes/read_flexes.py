"""MuJoCo's flexes as deformable bodies.

MuJoCo moves every vertex of a flex by a body of its own on three slides. Where a flex is one of ours, these bodies are
left out, and its vertices are nodes with the masses of their bodies. Its elasticity is that of St. Venant and
Kirchhoff; the compiled model has it as a matrix for each element, from which the moduli are found again.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from knuckle.errors import ModelError
from knuckle.formats.mjcf.mjcf_source import MjcfSource
from knuckle.model.deformables import Attachment, Deformable, ElasticMaterial, Hookean, NodeMesh, StVenantKirchhoff
from knuckle.model.deformables.hinges import hinge_coefficients

Array: TypeAlias = NDArray[Any]

_SAME = 1e-6
"""By which part moduli, or lengths, of elements may differ that are to be the same."""


class _UnknownFlexError(Exception):
    """What of a flex has no counterpart."""


def flexes(source: MjcfSource) -> list[Deformable]:
    """The flexes that come over. Their bodies are in `source.soft` then; the others have a note."""
    m = source.m
    found: list[Deformable] = []
    for f in range(int(getattr(m, "nflex", 0))):
        name = source.name("flex", f)
        try:
            soft, own = _flex(source, f, name)
        except (_UnknownFlexError, ModelError) as error:
            source.note("warning", name, f"a flex that is ignored: {error}")
            continue
        found.append(soft)
        source.soft |= own
        if m.flex_contype[f] or m.flex_conaffinity[f]:
            source.note("info", name, "nodes of deformable bodies touch shapes of the world only, with its friction")
    return found


def _flex(source: MjcfSource, f: int, name: str) -> tuple[Deformable, set[int]]:
    m, mujoco = source.m, source.mujoco
    if m.flex_interp[f]:
        raise _UnknownFlexError("its vertices follow nodes of a grid (interpolation)")
    if m.flex_rigid[f]:
        raise _UnknownFlexError("it is rigid")
    if m.flex_edgeequality[f]:
        raise _UnknownFlexError("its edges are held by constraints")
    if m.flex_plasticmode[f] if hasattr(m, "flex_plasticmode") else False:
        raise _UnknownFlexError("it flows (plasticity)")
    data = mujoco.MjData(m)
    mujoco.mj_kinematics(m, data)
    mujoco.mj_comPos(m, data)
    mujoco.mj_flex(m, data)
    vertices = slice(int(m.flex_vertadr[f]), int(m.flex_vertadr[f]) + int(m.flex_vertnum[f]))
    x, bodies = np.array(data.flexvert_xpos[vertices]), [int(b) for b in m.flex_vertbodyid[vertices]]
    own = {b for b in set(bodies) if _is_vertex(m, b, bodies)}
    parents = {int(m.body_parentid[b]) for b in own}
    if len(parents) != 1:
        raise _UnknownFlexError("its vertices have no bodies of their own on one and the same body")
    (parent,) = parents
    R, p = np.array(data.xmat[parent]).reshape(3, 3), np.array(data.xpos[parent])
    width = int(m.flex_dim[f]) + 1
    start = int(m.flex_elemdataadr[f])
    cells = np.array(m.flex_elem[start : start + width * int(m.flex_elemnum[f])]).reshape(-1, width)
    places = (x - p) @ R
    mesh = NodeMesh(_points(places), tuple(tuple(cell) for cell in cells.tolist()))
    material, damping = _material(m, f, places, cells)
    attached: dict[int, list[int]] = {}
    for k, b in enumerate(bodies):
        if b not in own:
            attached.setdefault(b, []).append(k)
    local = np.array(m.flex_vert[vertices])
    soft = Deformable(
        name, mesh, material, 1.0, _body_name(source, parent),
        tuple(Attachment(_body_name(source, b), tuple(nodes), _points(local[nodes])) for b, nodes in attached.items()),
        damping=damping, bending=_bending(m, f, places, cells) if width == 3 else 0.0,
        masses=tuple(float(m.body_mass[b]) if b in own else 0.0 for b in bodies),
        contact_type=int(m.flex_contype[f]), contact_affinity=int(m.flex_conaffinity[f]),
    )  # fmt: skip
    return soft, own


def _points(rows: Array) -> tuple[tuple[float, float, float], ...]:
    return tuple((float(x), float(y), float(z)) for x, y, z in rows)


def _is_vertex(m: Any, b: int, bodies: list[int]) -> bool:
    """Whether a body is nothing but one vertex: on three slides, without shapes, sites or bodies on it."""
    joints = range(int(m.body_jntadr[b]), int(m.body_jntadr[b]) + int(m.body_jntnum[b]))
    slides = len(joints) == 3 and all(int(m.jnt_type[j]) == 2 for j in joints)
    bare = not m.body_geomnum[b] and b not in m.body_parentid and b not in m.site_bodyid
    return bool(b and slides and bare and bodies.count(b) == 1)


def _body_name(source: MjcfSource, b: int) -> str:
    return source.name("body", b) if b else "world"


def _material(m: Any, f: int, x: Array, cells: Array) -> tuple[ElasticMaterial, float]:
    """The material of a flex, and its damping in seconds."""
    if cells.shape[1] == 2:
        return _springs(m, f, x, cells)
    if m.flex_edgestiffness[f] or m.flex_edgedamping[f]:
        raise _UnknownFlexError("its edges are springs besides its elasticity")
    at, count = int(m.flex_stiffnessadr[f]), len(cells)
    others = [int(a) for a in m.flex_stiffnessadr if int(a) > at]
    if at < 0:
        raise _UnknownFlexError("it has no elasticity")
    table = np.array(m.flex_stiffness[at : min(others, default=len(m.flex_stiffness))]).reshape(count, -1)
    edges = (
        np.array(m.flex_edge)
        .reshape(-1, 2)[
            int(m.flex_edgeadr[f]) + np.array(m.flex_elemedge[int(m.flex_elemedgeadr[f]) :][: count * _edges(cells)])
        ]
        .reshape(count, -1, 2)
    )
    moduli = np.array([_moduli(x, *each) for each in zip(cells, edges, table, strict=True)])
    lam, mu = moduli[0]
    if np.abs(moduli - moduli[0]).max() > _SAME * max(abs(lam), abs(mu)) or not mu > 0:
        raise _UnknownFlexError("its elements are no isotropic material")
    nu = lam / (2 * (lam + mu)) if cells.shape[1] == 4 else lam / (lam + 2 * mu)
    return StVenantKirchhoff(float(2 * mu * (1 + nu)), float(max(nu, 0.0))), float(m.flex_damping[f])


def _edges(cells: Array) -> int:
    return 6 if cells.shape[1] == 4 else 3


def _springs(m: Any, f: int, x: Array, cells: Array) -> tuple[ElasticMaterial, float]:
    """Springs of k along edges of one length L: E A = k L."""
    k, lengths = float(m.flex_edgestiffness[f]), np.linalg.norm(x[cells[:, 1]] - x[cells[:, 0]], axis=1)
    if not k > 0:
        raise _UnknownFlexError("its edges have no stiffness")
    if np.ptp(lengths) > _SAME * lengths.max():
        raise _UnknownFlexError("its edges are springs of one stiffness and of different lengths")
    return Hookean(k * float(lengths.mean())), float(m.flex_edgedamping[f]) / k


def _moduli(x: Array, cell: Array, edges: Array, numbers: Array) -> tuple[float, float]:
    """(λ, μ) of an element, times the thickness of a triangle: its matrix is 2 V (λ A + 2 μ B).

    It is of squares of edges: e = l² − L² = 2 aᵀ E a, with the edge a at rest and Green's strain E.
    """
    d = len(cell) - 1
    sides = (x[cell[1:]] - x[cell[0]]).T
    flat = np.linalg.qr(sides)[1] if d == 2 else sides
    volume = abs(np.linalg.det(flat)) / (2 if d == 2 else 6)
    place = dict(zip(cell.tolist(), np.vstack([np.zeros(d), flat.T]), strict=True))
    pairs = [(i, k) for i in range(d) for k in range(i, d)]
    ways = [place[int(b)] - place[int(a)] for a, b in edges]
    strain = np.linalg.inv([[a[i] * a[k] * (1 + (i != k)) for i, k in pairs] for a in ways]) / 2
    trace = sum((row for row, (i, k) in zip(strain, pairs, strict=True) if i == k), np.zeros(len(ways)))
    B = sum(
        (np.outer(row, row) * (1 + (i != k)) for row, (i, k) in zip(strain, pairs, strict=True)), 0 * np.eye(len(ways))
    )
    upper = np.triu_indices(len(ways))
    terms = 2 * volume * np.stack([np.outer(trace, trace)[upper], 2 * B[upper]], axis=1)
    known = numbers[: len(upper[0])]
    (lam, mu), *_ = np.linalg.lstsq(terms, known, rcond=None)
    if np.abs(terms @ [lam, mu] - known).max() > _SAME * np.abs(known).max():
        raise _UnknownFlexError("its elements are no isotropic material")
    return float(lam), float(mu)


def _bending(m: Any, f: int, x: Array, cells: Array) -> float:
    """B of a sheet, from the traces of the matrices of all pairs of triangles."""
    at = int(m.flex_bendingadr[f]) if hasattr(m, "flex_bendingadr") else -1
    if at < 0:
        return 0.0
    count = int(m.flex_edgenum[f])
    blocks = np.array(m.flex_bending[at : at + 17 * count]).reshape(count, 17)[:, :16].reshape(count, 4, 4)
    _, c, area = hinge_coefficients(x, cells)
    return float(np.trace(blocks, axis1=1, axis2=2).sum() / ((c * c).sum(axis=1) / area).sum())
