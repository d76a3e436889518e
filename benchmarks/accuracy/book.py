"""The experiments of RBDA 10.1 and 10.2, against fifty digits.

    python benchmarks/accuracy/book.py [origin] [condition] [depth]

- origin: a rigid body whose centre of mass is |c| radii of gyration from the origin; the error of its acceleration,
  measured at the centre (fig. 10.2).
- condition: cond(H) of chains of identical links, straight, beside 4 NB⁴, and what torques and lengths of the chain of
  six links do to its accelerations.
- depth: forward dynamics of chains and binary trees up to 5,000 bodies, by articulated bodies and by the mass matrix.

Writes benchmarks/results/accuracy_book.json; a part that was run before stays there.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.accuracy.exact_model import exact
from knuckle.accuracy.many_digits import ManyDigits, digits_of, precision
from knuckle.accuracy.reference_run import run
from knuckle.accuracy.sensitivity import sensitivities
from knuckle.joints import Revolute
from knuckle.spatial import Force, Inertia, Motion
from knuckle.spatial.articulated import ArticulatedInertia

RESULTS = Path(__file__).resolve().parent.parent / "results" / "accuracy_book.json"
DISTANCES = [0.0, *(float(x) for x in np.logspace(-2, 4, 13))]
TRIALS = 1000
CHAINS = (1, 2, 3, 4, 6, 10, 20, 50, 100, 200, 500, 1000)
SIZES = (10, 30, 100, 300, 1000, 3000, 5000)


def body_acceleration(c: list[Any], I_com: list[list[Any]], v: list[Any], f: list[Any], way: str) -> list[Any]:
    """a of a body of mass one from f = I a + v ×* I v (RBDA 2.14), about the origin, then at the centre of mass."""
    I, V, F = Inertia.of(1.0, c, I_com), Motion.of(v), Force.of(f)
    p = F - V.cross(I @ V)
    a = I.inverse @ p if way == "closed form" else ArticulatedInertia.of(I).solve(p)
    return list((kn.spatial.Transform.translation(c) @ a).components)


def origin() -> dict[str, Any]:
    """Medians of 1,000 random bodies, velocities and forces for each distance."""
    rng = np.random.default_rng(0)
    rows: list[dict[str, Any]] = []
    for distance in DISTANCES:
        turn = np.linalg.qr(rng.standard_normal((TRIALS, 3, 3)))[0]
        moments = turn @ (rng.uniform(0.5, 1.0, (TRIALS, 3, 1)) * np.swapaxes(turn, 1, 2))
        way = rng.standard_normal((TRIALS, 3))
        c = distance * way / np.linalg.norm(way, axis=1, keepdims=True)
        v, f = rng.standard_normal((2, TRIALS, 6))
        f[:, :3] += np.cross(c, f[:, 3:])  # a force of size one at the body
        v[:, 3:] += np.cross(c, v[:, :3])  # a velocity of size one there
        inputs = [x.astype(np.float32).astype(float) for x in (c, (moments + np.swapaxes(moments, 1, 2)) / 2, v, f)]
        row: dict[str, Any] = {"distance": distance}
        with precision(50):
            reference = body_acceleration(*_columns(inputs, digits_of), "closed form")
        for kind in (np.float64, np.float32):
            for text in ("closed form", "elimination"):
                found = body_acceleration(*_columns(inputs, lambda x, k=kind: x.astype(k)), text)
                with precision(50):
                    error = np.max(_differences(reference, found), axis=0)
                    size = np.max([abs(x.lanes) for x in reference], axis=0).astype(float)
                median = float(np.median(error / size))
                row[f"{np.dtype(kind).name} {text}"] = median if np.isfinite(median) else None
        rows.append(row)
    return {"trials": TRIALS, "rows": rows}


def _columns(inputs: list[Any], number: Any) -> list[Any]:
    c, I, v, f = inputs
    return [
        [number(c[:, k].copy()) for k in range(3)],
        [[number(I[:, i, k].copy()) for k in range(3)] for i in range(3)],
        [number(v[:, k].copy()) for k in range(6)],
        [number(f[:, k].copy()) for k in range(6)],
    ]


def _differences(reference: list[ManyDigits], found: list[Any]) -> list[Any]:
    return [np.abs((x.lanes - np.asarray(y, float)).astype(float)) for x, y in zip(reference, found, strict=True)]


def chain(n: int, axes: str = "z") -> kn.Model:
    """Identical rods of length and mass one, joint by joint about the axes in turn."""
    b, rod = kn.Builder(f"{n} links"), Inertia.of(1.0, (0.5, 0, 0), ((1e-2, 0, 0), (0, 1 / 12, 0), (0, 0, 1 / 12)))
    for k in range(n):
        at = (1.0, 0.0, 0.0) if k else None
        b.body(f"b{k}", f"b{k - 1}" if k else None, Revolute(axes[k % len(axes)]), at, inertia=rod)
    return b.build()


def binary_tree(n: int) -> kn.Model:
    """Identical rods, two on each."""
    b, rod = kn.Builder(f"tree of {n}"), Inertia.of(1.0, (0.5, 0, 0), ((1e-2, 0, 0), (0, 1 / 12, 0), (0, 0, 1 / 12)))
    for k in range(n):
        at = (1.0, 0.0, 0.0) if k else None
        b.body(f"b{k}", f"b{(k - 1) // 2}" if k else None, Revolute("zyx"[k % 3]), at, inertia=rod)
    return b.build()


def condition() -> dict[str, Any]:
    """cond(H) of straight chains, and the sensitivities of the chain of six."""
    rows: list[dict[str, float]] = []
    for n in CHAINS:
        H = np.array([[_straight(n, max(i, j), abs(i - j)) for j in range(n)] for i in range(n)])
        if n <= 100:
            assert np.allclose(kn.mass_matrix(chain(n), np.zeros(n)), H, rtol=1e-12)
        with_kernels = H if n > 100 else kn.mass_matrix(chain(n), np.zeros(n))
        rows.append({"bodies": n, "condition": float(np.linalg.cond(with_kernels)), "4 NB^4": 4.0 * n**4})
    six = chain(6)
    rng = np.random.default_rng(1)
    tables: dict[str, list[dict[str, Any]]] = {}
    for name, q in (("straight", np.zeros(6)), ("bent", rng.uniform(-1.5, 1.5, 6))):
        tau = kn.inverse_dynamics(six, q, np.zeros(6), rng.standard_normal(6))
        tables[name] = [vars(row) for row in sensitivities(six, q, np.zeros(6), np.asarray(tau))]
    return {"rows": rows, "six links": tables}


def _straight(n: int, later: int, apart: int) -> float:
    """H of a straight chain of rods of length and mass one about parallel axes: Σ of ⅓ + s + s² + d(½ + s)."""
    s = np.arange(n - later)
    return float(np.sum(1 / 3 + s + s * s + apart * (0.5 + s)))


def depth() -> dict[str, Any]:
    """The error of accelerations of chains (three axes in turn) and binary trees, one state each."""
    kn.compilation.set_policy("never")
    rows: list[dict[str, Any]] = []
    for make in (lambda n: chain(n, "zyx"), binary_tree):
        for n in SIZES:
            model = make(n)
            rng = np.random.default_rng(n)
            q, v, a = (x.astype(np.float32).astype(float) for x in rng.standard_normal((3, n)))
            begin = time.process_time()
            with precision(50):
                many = exact(model)
                tau = run(kn.inverse_dynamics, many, [q[None], v[None], a[None]])[0].astype(float)
                reference = run(kn.forward_dynamics, many, [q[None], v[None], tau[None]])[0]
                size = float(abs(reference).max())
            row: dict[str, Any] = {"kind": "chain" if "links" in model.name else "binary tree", "bodies": n}
            found = {"ABA": kn.forward_dynamics(model, q, v, tau), "RNEA": kn.inverse_dynamics(model, q, v, a)}
            H = by_columns(model, q) if n > 100 else np.asarray(kn.mass_matrix(model, q))
            found["CRBA"] = np.linalg.solve(H, tau - kn.bias_force(model, q, v))
            if n <= 1000:
                row["condition"] = float(np.linalg.cond(H))
            with precision(50):
                exact_tau = run(kn.inverse_dynamics, many, [q[None], v[None], a[None]])[0]
                for name, x in found.items():
                    right, scale = (exact_tau, float(abs(exact_tau).max())) if name == "RNEA" else (reference, size)
                    row[name] = float(np.abs((right - np.asarray(x)).astype(float)).max()) / scale
            row["seconds"] = round(time.process_time() - begin, 1)
            print(row, flush=True)
            rows.append(row)
    return {"rows": rows}


def by_columns(model: kn.Model, q: Any) -> Any:
    """H by composite bodies for a large mechanism: the loops of RBDA table 6.2 on NumPy's arrays, in doubles.

    For a thousand bodies the text has half a million blocks; here the forces of all bodies go inward level by level.
    """
    n = model.nb
    X = np.array([[[float(x) for x in row] for row in _matrix(model, q, i)] for i in range(n)])
    IC = np.array([[[float(x) for x in row] for row in I.matrix.rows] for I in model.I])
    S = np.array([[float(x) for x in joint.type.subspace(None)[0].components] for joint in model.joints])  # type: ignore[arg-type]
    H = np.zeros((n, n))
    for i in range(n - 1, -1, -1):
        p = model.parents[i]
        if p >= 0:
            IC[p] += X[i].T @ IC[i] @ X[i]
    F, at, parents, rows = np.einsum("ijk,ik->ij", IC, S), np.arange(n), np.array(model.parents), np.arange(n)
    H[at, at] = np.einsum("ij,ij->i", F, S)
    while len(rows := rows[parents[at[rows]] >= 0]):
        F[rows] = np.einsum("ikj,ik->ij", X[at[rows]], F[rows])
        at[rows] = parents[at[rows]]
        H[rows, at[rows]] = H[at[rows], rows] = np.einsum("ij,ij->i", F[rows], S[at[rows]])
    return H


def _matrix(model: kn.Model, q: Any, i: int) -> Any:
    from knuckle.spatial import Vector

    joint = model.joints[i]
    return (joint.type.transform(Vector([float(q[i])])) @ joint.X_tree).matrix.rows


def main() -> int:
    np.seterr(divide="ignore", invalid="ignore")
    chosen = sys.argv[1:] or ["origin", "condition", "depth"]
    found: dict[str, Any] = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    for name in chosen:
        found[name] = {"origin": origin, "condition": condition, "depth": depth}[name]()
        RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
