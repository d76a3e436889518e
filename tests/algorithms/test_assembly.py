"""Articulated bodies and how they are joined: properties P1, P2, P4 and P7 of the inventory (RBDA chapter 7)."""

import numpy as np
import pytest

import knuckle as kn
from knuckle import joints
from knuckle.algorithms.dynamics import body_assembly
from knuckle.algorithms.dynamics.body_assembly import Inertial, Mobile, TwoHandles
from knuckle.model import ROOT, Body, Model, TreeJoint
from knuckle.spatial import ArticulatedInertia, Force, Matrix, Motion, Subspace, Transform, Vector
from knuckle.testing.compare import array, close
from knuckle.testing.mechanisms import random_inertia, random_state, random_transform

EPS = np.finfo(float).eps
FREEDOMS = range(7)


def vec(x):
    return Vector(np.asarray(x).tolist())


def mat(A):
    return Matrix(np.asarray(A).tolist(), np.asarray(A).shape[1])


class Bodies:
    """Two articulated bodies with random inertias and bias forces, and a random joint of n freedoms between them."""

    def __init__(self, seed, n):
        rng = np.random.default_rng(seed)
        self.n = n
        self.I = [self._definite(rng) for _ in range(2)]
        self.p = [rng.standard_normal(6) for _ in range(2)]
        self.S = rng.standard_normal((6, n))
        q, _ = np.linalg.qr(np.hstack([self.S, rng.standard_normal((6, 6 - n))]))
        self.T = q[:, n:] @ (rng.standard_normal((6 - n, 6 - n)) + 3 * np.eye(6 - n))
        # any T_a with T_aᵀS = 1 serves: the least one, and a share of the constraint forces (row C-20)
        self.T_a = np.linalg.pinv(self.S).T + self.T @ rng.standard_normal((6 - n, n)) if n else np.zeros((6, 0))
        self.c, self.tau = rng.standard_normal(6), rng.standard_normal(n)
        self.factor = np.linalg.cond(self.I[1]) * (np.linalg.cond(self.S) if n else 1.0)

    @staticmethod
    def _definite(rng):
        A = rng.standard_normal((6, 6))
        return A @ A.T + np.eye(6)

    def typed(self, k):
        columns = [Force.of(column.tolist()) for column in self.I[k].T]
        return Inertial(ArticulatedInertia.from_columns(columns), Force.of(self.p[k].tolist()))

    def dense(self, k):
        return Inertial(mat(self.I[k]), vec(self.p[k]))

    def mobile(self, k):
        Phi = np.linalg.inv(self.I[k])
        return Mobile(mat(Phi), vec(-Phi @ self.p[k]))

    @property
    def subspace(self):
        return Subspace(Motion, (Motion.of(column.tolist()) for column in self.S.T))

    @property
    def constraint(self):
        return mat(self.T), mat(self.T_a), vec(self.c), vec(self.tau)

    def joined(self):
        return body_assembly.join(
            self.typed(0), self.typed(1), self.subspace, Motion.of(self.c.tolist()), vec(self.tau)
        )

    def exact(self, a1):
        """f of a1 from all equations at once (RBDA 7.51-7.56): unknowns f1, f2, a2 and q̈."""
        n, o = self.n, np.zeros
        one = np.eye(6)
        system = np.block(
            [
                [one, o((6, 6)), o((6, 6)), o((6, n))],
                [o((6, 6)), one, -self.I[1], o((6, n))],
                [o((6, 6)), o((6, 6)), one, -self.S],
                [o((n, 6)), self.S.T, o((n, 6)), o((n, n))],
            ]
        )
        x = np.linalg.solve(system, np.concatenate([self.I[0] @ a1 + self.p[0], self.p[1], a1 + self.c, self.tau]))
        return x[:6] + x[6:12]


each_joint = pytest.mark.parametrize("n", FREEDOMS)


# one handle


@each_joint
def test_standard_formulae_solve_the_equations(n):
    """Rows 7-06 and 7-10: f = IA a + pA is what the block system of table 7.2 gives, for any a."""
    b = Bodies(n, n)
    found = b.joined()
    for a1 in np.random.default_rng(n).standard_normal((4, 6)):
        close(array(found.I) @ a1 + array(found.p), b.exact(a1), b.factor)


@each_joint
def test_p4_standard_variant_1_and_variant_2(n):
    """Table 7.2: IA = variant 2 = (variant 1)⁻¹ and pA = −IA b."""
    b = Bodies(10 + n, n)
    standard = b.joined()
    T, T_a, c, tau = b.constraint
    second = body_assembly.join_by_constraint(b.dense(0), b.dense(1), T, T_a, c, tau)
    first = body_assembly.join_by_mobility(b.mobile(0), b.mobile(1), T, T_a, c, tau)
    close(array(second.I), array(standard.I), b.factor)
    close(array(second.p), array(standard.p), b.factor)
    close(array(first.Phi), np.linalg.inv(array(standard.I)), b.factor)
    close(array(first.b), np.linalg.solve(array(standard.I), -array(standard.p)), b.factor)
    inverted = body_assembly.inertial(first)
    close(array(inverted.I), array(standard.I), b.factor)
    close(array(inverted.p), array(standard.p), b.factor)


@each_joint
def test_p1_inertia_is_symmetric_definite_and_depends_on_inertias_alone(n):
    b = Bodies(20 + n, n)
    found = array(b.joined().I)
    close(found, found.T)
    assert np.linalg.eigvalsh(found).min() > 0
    Phi = array(body_assembly.join_by_mobility(b.mobile(0), b.mobile(1), *b.constraint).Phi)
    close(Phi, Phi.T, b.factor)
    rng = np.random.default_rng(n)
    b.p, b.c, b.tau = [rng.standard_normal(6) for _ in range(2)], rng.standard_normal(6), rng.standard_normal(n)
    np.testing.assert_array_equal(array(b.joined().I), found)


@each_joint
def test_p1_transforms_as_an_inertia(n):
    """Joining in other coordinates and joining before the change of coordinates are the same."""
    b = Bodies(30 + n, n)
    X = random_transform(np.random.default_rng(n))
    moved = [Inertial(X @ b.typed(k).I, X @ b.typed(k).p) for k in (0, 1)]
    there = body_assembly.join(*moved, X @ b.subspace, X @ Motion.of(b.c.tolist()), vec(b.tau))
    here = b.joined()
    close(array(there.I), array(X @ here.I), b.factor)
    close(array(there.p), array(X @ here.p), b.factor)


def test_p1_single_body():
    I = random_inertia(np.random.default_rng(1))
    model = Model((Body("body", I),), (TreeJoint("joint", joints.Free(), ROOT),))
    q = random_state(model, 1).q
    close(kn.operational_space_inertia(model, q, "body"), array(I), np.linalg.cond(array(I)))


@each_joint
def test_p2_the_joint_shields_its_freedoms(n):
    """Ia S = 0 and rank Ia = 6 − n."""
    b = Bodies(40 + n, n)
    Ia = array(b.joined().I) - b.I[0]
    close(Ia @ b.S, np.zeros((6, n)), b.factor, size=np.abs(b.I[1]).max() * np.abs(b.S).max(initial=0.0))
    values = np.linalg.eigvalsh((Ia + Ia.T) / 2)
    threshold = 100 * EPS * b.factor * np.abs(b.I[1]).max()
    assert (np.abs(values) > threshold).sum() == 6 - n
    assert values.min() > -threshold


def test_p2_rows_of_axis_aligned_freedoms_vanish():
    """The planar joint, S = (e3, e4, e5): rows and columns 3, 4, 5 of Ia are zero."""
    b = Bodies(50, 3)
    b.S = np.eye(6)[:, 2:5]
    Ia = array(b.joined().I) - b.I[0]
    size = np.abs(b.I[1]).max()
    close(Ia[2:5], np.zeros((3, 6)), np.linalg.cond(b.I[1]), size=size)
    close(Ia[:, 2:5], np.zeros((6, 3)), np.linalg.cond(b.I[1]), size=size)
    assert np.linalg.eigvalsh(Ia[np.ix_([0, 1, 5], [0, 1, 5])]).min() > 0


def test_a_joint_without_freedom_glues():
    """Row 7-02: inertias and bias forces add."""
    b = Bodies(60, 0)
    b.c[:] = 0
    glued = body_assembly.glue(b.typed(0), b.typed(1))
    joined = b.joined()
    assert array(glued.I).tolist() == array(joined.I).tolist()
    assert array(glued.p).tolist() == array(joined.p).tolist()
    assert array(glued.I).tolist() == (array(b.typed(0).I) + array(b.typed(1).I)).tolist()


def test_a_free_joint_lets_go():
    """Six freedoms: body 1 feels nothing of body 2 but the force at the joint."""
    b = Bodies(61, 6)
    joined = b.joined()
    close(array(joined.I), b.I[0], b.factor, size=np.abs(b.I[1]).max())
    close(array(joined.p), b.p[0] + np.linalg.solve(b.S.T, b.tau), b.factor)


# two handles


def rod(rng):
    """A rigid body with both handles on it, in common coordinates: every block of Φ is its inverse inertia."""
    I = random_transform(rng).inv @ random_inertia(rng)
    Phi = np.linalg.inv(array(I))
    b = rng.standard_normal(6)
    return TwoHandles(mat(Phi), mat(Phi), mat(Phi), vec(b), vec(b)), I, b


def hinge(rng):
    """T of a revolute joint somewhere, and its motion."""
    axis, X = joints.Revolute(tuple(rng.standard_normal(3))), random_transform(rng)
    q = Vector([0.0])
    return array(X.inv @ axis.constraints(q)), array(X.inv @ axis.subspace(q))[:, 0]


@pytest.mark.parametrize("seed", range(8))
def test_p7_two_handle_assembly_in_either_order(seed):
    """(A·B)·C = A·(B·C), symmetric and semidefinite, and equal to the projection of the whole chain."""
    rng = np.random.default_rng(seed)
    (A, I_A, b_A), (B, I_B, b_B), (C, I_C, b_C) = (rod(rng) for _ in range(3))
    (T1, s1), (T2, s2) = hinge(rng), hinge(rng)
    c1, c2 = rng.standard_normal(6), rng.standard_normal(6)
    left = body_assembly.join_two_handles(body_assembly.join_two_handles(A, B, mat(T1), vec(c1)), C, mat(T2), vec(c2))
    right = body_assembly.join_two_handles(A, body_assembly.join_two_handles(B, C, mat(T2), vec(c2)), mat(T1), vec(c1))
    inertias = [array(I) for I in (I_A, I_B, I_C)]
    factor = max(map(np.linalg.cond, inertias))
    for x, y in zip(left, right, strict=True):
        close(array(x), array(y), factor, size=1.0)
    whole = np.block([[array(left.Phi1), array(left.Phi12)], [array(left.Phi12).T, array(left.Phi2)]])
    close(whole, whole.T, factor)
    values = np.linalg.eigvalsh((whole + whole.T) / 2)
    assert values.min() > -100 * EPS * factor * values.max()
    # the same by the projection method: velocity variables (v_A, q̇1, q̇2), all in common coordinates
    J_A = np.hstack([np.eye(6), np.zeros((6, 2))])
    J_B, J_C = J_A + np.outer(s1, np.eye(8)[6]), J_A + np.outer(s1, np.eye(8)[6]) + np.outer(s2, np.eye(8)[7])
    J, drift = (J_A, J_B, J_C), (np.zeros(6), c1, c1 + c2)
    H = sum(j.T @ I @ j for j, I in zip(J, inertias, strict=True))
    bias = sum(j.T @ I @ (d - b) for j, I, d, b in zip(J, inertias, drift, (b_A, b_B, b_C), strict=True))
    ends = np.vstack([J_A, J_C])
    projected = body_assembly.project(
        mat(np.linalg.inv(H)), vec(bias), mat(ends), vec(np.concatenate([drift[0], drift[2]]))
    )
    factor = max(factor, np.linalg.cond(H))
    close(whole, array(projected.Phi), factor, size=1.0)
    found = np.concatenate([array(left.b1), array(left.b2)])
    close(found, array(projected.b), factor, size=1.0)


@pytest.mark.parametrize("seed", range(4))
def test_two_handle_assembly_solves_the_equations(seed):
    """Eqs. 7.57-7.61 all at once: accelerations of the outer handles under forces there."""
    rng = np.random.default_rng(seed)
    (A, I_A, _), (B, I_B, _) = rod(rng), rod(rng)
    (T, _), c = hinge(rng), rng.standard_normal(6)
    joined = body_assembly.join_two_handles(A, B, mat(T), vec(c))
    f1, f4 = rng.standard_normal(6), rng.standard_normal(6)
    P, R = ({name: array(getattr(part, name)) for name in ("Phi1", "Phi12", "Phi2")} for part in (A, B))
    # Tᵀ(a3 − a2) = Tᵀc with f3 = Tλ = −f2
    gap = P["Phi12"].T @ f1 + array(A.b2) + c - R["Phi12"] @ f4 - array(B.b1)
    lam = np.linalg.solve(T.T @ (P["Phi2"] + R["Phi1"]) @ T, T.T @ gap)
    a1 = P["Phi1"] @ f1 - P["Phi12"] @ T @ lam + array(A.b1)
    a4 = R["Phi12"].T @ T @ lam + R["Phi2"] @ f4 + array(B.b2)
    factor = max(np.linalg.cond(array(I)) for I in (I_A, I_B))
    close(array(joined.Phi1) @ f1 + array(joined.Phi12) @ f4 + array(joined.b1), a1, factor)
    close(array(joined.Phi12).T @ f1 + array(joined.Phi2) @ f4 + array(joined.b2), a4, factor)


def test_handles_are_typed():
    """Row D-01: an articulated inertia maps accelerations to forces and nothing else."""
    I = Bodies(0, 1).typed(0).I
    with pytest.raises(TypeError, match="applies to an acceleration"):
        I @ Force.zero()
    with pytest.raises(AttributeError):
        I.kinetic_energy(Motion.zero())
    with pytest.raises(TypeError):
        Transform() @ 3.0
