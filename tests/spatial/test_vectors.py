"""Motions and forces (RBDA 2.2-2.10). Test names carry the rows of identities they check."""

import pytest

from knuckle.scalar import ONE, ZERO
from knuckle.spatial import Force, Matrix, Motion, Transform, Vector
from knuckle.spatial.three import (
    add,
    cross,
    cross_cross,
    cross_matrix,
    dot,
    matadd,
    matmul,
    matrix_cross,
    matscale,
    matsub,
    matvec,
    neg,
    outer,
    scale,
    skew,
    sub,
    tmatvec,
    transpose,
    unskew,
)

from .zoo import KINDS, Kind


def crm(v: Motion) -> Matrix:
    """v× = [ω× 0; v_O× ω×] (RBDA 2.31)."""
    w, x, o = skew(v.angular), skew(v.linear), (ZERO,) * 3
    return Matrix([*(w[i] + o for i in range(3)), *(x[i] + w[i] for i in range(3))])


def crf(v: Motion) -> Matrix:
    """v×* = [ω× v_O×; 0 ω×] (RBDA 2.32)."""
    w, x, o = skew(v.angular), skew(v.linear), (ZERO,) * 3
    return Matrix([*(w[i] + x[i] for i in range(3)), *(o + w[i] for i in range(3))])


def vector(m: Motion | Force) -> Vector:
    return Vector(m.components)


def columns(kind_of_vector, f) -> Matrix:
    """The matrix of a linear map, from what it does to the basis."""
    return Matrix.columns((f(e).components for e in kind_of_vector.basis()), 6)


# B-01, B-02: the vector spaces and the scalar product between them


@pytest.mark.parametrize("V", [Motion, Force])
def test_b01_vector_space(kind: Kind, V):
    a, b = V(kind.vec3(), kind.vec3()), V(kind.vec3(), kind.vec3())
    s = kind.positive()
    kind.same(a + b, b + a)
    kind.same(s * (a + b), a * s + b * s)
    kind.same((a - b) + b, a)
    kind.same(-a, a * -1)
    kind.same(a / s * s, a)
    kind.same(a + V.zero(), a)
    assert a.components == (*a.angular, *a.linear)


def test_b02_power_is_symmetric_and_bilinear(kind: Kind):
    m, n, f, s = kind.motion(), kind.motion(), kind.force(), kind.scalar()
    assert isinstance(m + n, Motion)
    kind.same(m.dot(f), f.dot(m))
    kind.same((s * m + n).dot(f), s * m.dot(f) + n.dot(f))
    kind.same(m.dot(f), dot(m.angular, f.angular) + dot(m.linear, f.linear))


def test_b03_cross_chooses_by_its_operand(kind: Kind):
    """The book's own sample line: f = I a + v × I v."""
    I, a, v = kind.inertia(), kind.motion(), kind.motion()
    f = I @ a + v.cross(I @ v)
    assert isinstance(f, Force)
    kind.same(f.components, (I.matrix @ vector(a) + crf(v) @ (I.matrix @ vector(v))).items)


# B-10 to B-12: coordinates


def test_b10_dual_bases():
    for i, d in enumerate(Motion.basis()):
        for j, e in enumerate(Force.basis()):
            assert d.dot(e) is (ONE if i == j else ZERO)


def test_b10_coordinates_by_the_dual_basis(kind: Kind):
    m, f = kind.motion(), kind.force()
    kind.same(m.components, tuple(e.dot(m) for e in Force.basis()))
    kind.same(f.components, tuple(d.dot(f) for d in Motion.basis()))


def test_b10_power_does_not_depend_on_the_frame(kind: Kind):
    X, m, f = kind.transform(), kind.motion(), kind.force()
    kind.same((X @ m).dot(X @ f), m.dot(f))
    kind.same(X.force_matrix @ X.matrix.T, Matrix.identity(6))


def at(field, P):
    """Value at P of the field that a spatial vector stands for: v_P = v_O + ω × OP, n_P = n_O + f × OP."""
    line, value = (field.angular, field.linear) if isinstance(field, Motion) else (field.linear, field.angular)
    return add(value, cross(line, P))


@pytest.mark.parametrize("V", [Motion, Force])
def test_b11_fields_do_not_depend_on_the_origin(kind: Kind, V):
    a, b, O, P = V(kind.vec3(), kind.vec3()), V(kind.vec3(), kind.vec3()), kind.vec3(), kind.vec3()
    moved = Transform(r=O) @ a
    kind.same(at(moved, sub(P, O)), at(a, P))
    kind.same(at(a + b, P), add(at(a, P), at(b, P)))


def test_b12_basis_shift(kind: Kind):
    """Unit rotations about axes through P = (r, 0, 0), and the velocity in that basis."""
    r, v = kind.scalar(), kind.motion()
    shift = Transform(r=(r, ZERO, ZERO))
    d_Ox, d_Oy, d_Oz, d_x, d_y, d_z = Motion.basis()
    kind.same(shift.inv @ d_Ox, d_Ox)
    kind.same(shift.inv @ d_Oy, d_Oy + r * d_z)
    kind.same(shift.inv @ d_Oz, d_Oz - r * d_y)
    kind.same(shift.inv @ d_x, d_x)
    (wx, wy, wz), (vx, vy, vz) = v.angular, v.linear
    kind.same(shift @ v, Motion((wx, wy, wz), (vx, vy + wz * r, vz - wy * r)))


# B-15 to B-18: the cross products


def test_b15_three_dimensional_rules(kind: Kind):
    """RBDA table 2.1."""
    a, b, c, s, E = kind.vec3(), kind.vec3(), kind.vec3(), kind.scalar(), kind.rotation()
    kind.same(matvec(skew(a), b), cross(a, b))
    kind.same(skew(a), matscale(-1, transpose(skew(a))))
    kind.same(skew(scale(s, a)), matscale(s, skew(a)))
    kind.same(skew(add(a, b)), matadd(skew(a), skew(b)))
    kind.same(skew(matvec(E, a)), matmul(matmul(E, skew(a)), transpose(E)))
    kind.same(skew(cross(a, b)), matsub(matmul(skew(a), skew(b)), matmul(skew(b), skew(a))))
    kind.same(skew(cross(a, b)), matsub(outer(b, a), outer(a, b)))
    one = ((1, 0, 0), (0, 1, 0), (0, 0, 1))
    kind.same(matmul(skew(a), skew(b)), matsub(outer(b, a), matscale(dot(a, b), one)))
    kind.same(dot(cross(a, b), c), dot(a, cross(b, c)))
    kind.same(cross(a, b), neg(cross(b, a)))
    kind.same(unskew(skew(a)), a)


def test_b15_products_without_the_matrix(kind: Kind):
    a, b = kind.vec3(), kind.vec3()
    A = kind.vec3(), kind.vec3(), kind.vec3()
    kind.same(cross_matrix(a, A), matmul(skew(a), A))
    kind.same(matrix_cross(A, a), matmul(A, skew(a)))
    kind.same(tmatvec(A, a), matvec(transpose(A), a))
    dense = matmul(skew(a), skew(b))
    lower = cross_cross(a, b)
    kind.same((lower.xx, lower.xy, lower.yy, lower.xz, lower.yz, lower.zz),
              (dense[0][0], dense[1][0], dense[1][1], dense[2][0], dense[2][1], dense[2][2]))  # fmt: skip


def test_symmetric_matrices(kind: Kind):
    A, B, s, E, x = kind.sym3(), kind.sym3(), kind.scalar(), kind.rotation(), kind.vec3()
    kind.same(A.plus(B).matrix, matadd(A.matrix, B.matrix))
    kind.same(A.minus(B).matrix, matsub(A.matrix, B.matrix))
    kind.same(A.times(s).matrix, matscale(s, A.matrix))
    kind.same(A.apply(x), matvec(A.matrix, x))
    kind.same(A.rotated(E).matrix, matmul(E, matmul(A.matrix, transpose(E))))
    assert type(A).of(A.matrix) == A or kind.name in ("lanes", "float32", "dual")


def test_b16_cross_products_are_their_matrices(kind: Kind):
    v, m, f = kind.motion(), kind.motion(), kind.force()
    kind.same(columns(Motion, v.cross), crm(v))
    kind.same(columns(Force, v.cross), crf(v))
    kind.same(crf(v), -crm(v).T)
    kind.same(v.cross(m).components, (crm(v) @ vector(m)).items)
    kind.same(v.cross(f).components, (crf(v) @ vector(f)).items)


def test_b17_rules_of_the_cross_products(kind: Kind):
    """RBDA table 2.3, and the Jacobi identity."""
    u, v, m, f, s, X = kind.motion(), kind.motion(), kind.motion(), kind.force(), kind.scalar(), kind.transform()
    for operand in (m, f):
        kind.same((s * v).cross(operand), s * v.cross(operand))
        kind.same((u + v).cross(operand), u.cross(operand) + v.cross(operand))
        kind.same((X @ v).cross(X @ operand), X @ v.cross(operand))
        kind.same(u.cross(v).cross(operand), u.cross(v.cross(operand)) - v.cross(u.cross(operand)))
    kind.same(u.cross(v), -v.cross(u))
    kind.nothing(v.cross(v))
    kind.same(v.cross(m).dot(f), -m.dot(v.cross(f)))
    kind.nothing(u.cross(v.cross(m)) + v.cross(m.cross(u)) + m.cross(u.cross(v)))


def test_b17_as_dyadics(kind: Kind):
    """(Xv)× = X v× X⁻¹ and (Xv)×* = X* v×* (X*)⁻¹ (RBDA table 2.5)."""
    v, X = kind.motion(), kind.transform()
    kind.same(crm(X @ v), X.matrix @ crm(v) @ X.inverse().matrix)
    kind.same(crf(X @ v), X.force_matrix @ crf(v) @ X.matrix.T)


def test_b18_products_of_basis_vectors():
    """RBDA figure 2.5: all 72 products are basis vectors, up to sign, and cost nothing."""
    d, e = Motion.basis(), Force.basis()
    d_Ox, d_Oy, d_Oz, d_x, d_y, d_z = d
    assert d_Ox.cross(d_Ox) == Motion.zero()
    assert d_Ox.cross(d_Oy) == d_Oz
    assert d_x.cross(d_Ox) == Motion.zero()
    assert d_x.cross(d_Oy) == d_z
    assert d_Oy.cross(d_z) == d_x
    assert d_x.cross(d_y) == Motion.zero()
    for i, left in enumerate(d):
        for basis, matrix in ((d, crm(left)), (e, crf(left))):
            for j, right in enumerate(basis):
                product = left.cross(right)
                assert product.components == matrix.column(j).items, (i, j)
                assert sorted(abs(x) for x in product.components)[:5] == [0] * 5


def test_numbers_in_and_out():
    m = Motion.of((0, 1, 2.5, 0.0, 1.0, -3))
    assert m.angular == (ZERO, ONE, 2.5)
    assert m.angular[0] is m.linear[0] is ZERO
    assert m.angular[1] is m.linear[1] is ONE
    with pytest.raises(ValueError, match="unpack"):
        Motion.of((1, 2, 3))
    assert Motion.of(range(6)) == Motion.of(range(6))
    assert Motion.of(range(6)) != Force.of(range(6))
    assert hash(Motion.of(range(6))) == hash(Motion.of(range(6)))


@pytest.mark.parametrize("name", ["float", "lanes", "float32", "mpmath", "sympy", "dual"])
def test_scalars_stand_on_both_sides(name: str):
    kind = KINDS[name].at(3)
    s, m = kind.positive(), kind.motion()
    for scaled in (s * m, m * s):
        assert isinstance(scaled, Motion)
        kind.same(scaled.components, tuple(s * x for x in m.components))
    kind.same((m / s).components, tuple(x / s for x in m.components))
