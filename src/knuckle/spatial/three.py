"""3-D vectors (tuples), 3x3 matrices (tuples of rows) and symmetric 3x3 matrices (`Sym3`) over scalars of any kind."""

from __future__ import annotations

import operator
from typing import Any, NamedTuple, TypeAlias

from knuckle.scalar import ONE, ZERO

Vec3: TypeAlias = tuple[Any, Any, Any]
Mat3: TypeAlias = tuple[Vec3, Vec3, Vec3]

ZERO3: Vec3 = (ZERO, ZERO, ZERO)
PLANES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
"""Each coordinate axis, and those that a turn about it mixes."""
IDENTITY3: Mat3 = ((ONE, ZERO, ZERO), (ZERO, ONE, ZERO), (ZERO, ZERO, ONE))


def add(a: Vec3, b: Vec3) -> Vec3:
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


def sub(a: Vec3, b: Vec3) -> Vec3:
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def neg(a: Vec3) -> Vec3:
    return -a[0], -a[1], -a[2]


def scale(s: Any, a: Vec3) -> Vec3:
    return s * a[0], s * a[1], s * a[2]


def halved(a: Vec3) -> Vec3:
    return a[0] / 2, a[1] / 2, a[2] / 2


def dot(a: Vec3, b: Vec3) -> Any:
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a: Vec3, b: Vec3) -> Vec3:
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def skew(a: Vec3) -> Mat3:
    """a×, the matrix of the cross product (RBDA 2.23)."""
    return (ZERO, -a[2], a[1]), (a[2], ZERO, -a[0]), (-a[1], a[0], ZERO)


def spin(w: Vec3, dw: Vec3) -> Mat3:
    """ω̇× + ω×ω×: what takes a place on a turning body to its acceleration against the origin."""
    xx, yy, zz = w[0] * w[0], w[1] * w[1], w[2] * w[2]
    xy, xz, yz = w[0] * w[1], w[0] * w[2], w[1] * w[2]
    return (
        (-(yy + zz), xy - dw[2], xz + dw[1]),
        (xy + dw[2], -(xx + zz), yz - dw[0]),
        (xz - dw[1], yz + dw[0], -(xx + yy)),
    )


def unskew(A: Mat3) -> Vec3:
    """The vector whose cross product matrix is the skew part of `A`."""
    return (A[2][1] - A[1][2]) / 2, (A[0][2] - A[2][0]) / 2, (A[1][0] - A[0][1]) / 2


def transpose(A: Mat3) -> Mat3:
    (a, b, c), (d, e, f), (g, h, i) = A
    return (a, d, g), (b, e, h), (c, f, i)


def matvec(A: Mat3, x: Vec3) -> Vec3:
    return dot(A[0], x), dot(A[1], x), dot(A[2], x)


def tmatvec(A: Mat3, x: Vec3) -> Vec3:
    """Aᵀx."""
    return matvec(transpose(A), x)


def matmul(A: Mat3, B: Mat3) -> Mat3:
    C = transpose(B)
    return (
        (dot(A[0], C[0]), dot(A[0], C[1]), dot(A[0], C[2])),
        (dot(A[1], C[0]), dot(A[1], C[1]), dot(A[1], C[2])),
        (dot(A[2], C[0]), dot(A[2], C[1]), dot(A[2], C[2])),
    )


def matadd(A: Mat3, B: Mat3) -> Mat3:
    return add(A[0], B[0]), add(A[1], B[1]), add(A[2], B[2])


def matsub(A: Mat3, B: Mat3) -> Mat3:
    return sub(A[0], B[0]), sub(A[1], B[1]), sub(A[2], B[2])


def matscale(s: Any, A: Mat3) -> Mat3:
    return scale(s, A[0]), scale(s, A[1]), scale(s, A[2])


def outer(a: Vec3, b: Vec3) -> Mat3:
    return scale(a[0], b), scale(a[1], b), scale(a[2], b)


def cross_matrix(r: Vec3, A: Mat3) -> Mat3:
    """r× A, a cross product with each column."""
    return transpose(tuple(cross(r, column) for column in transpose(A)))  # type: ignore[arg-type]


def matrix_cross(A: Mat3, r: Vec3) -> Mat3:
    """A r×: each row crossed with r."""
    return tuple(cross(row, r) for row in A)  # type: ignore[return-value]


def congruence(E: Mat3, A: Mat3) -> Mat3:
    """E A Eᵀ by plain products."""
    return matmul(E, matmul(A, transpose(E)))


def axis_of(E: Mat3) -> int | None:
    """The coordinate axis that E is known to turn about; None for any other rotation, and for none at all."""
    fixed = [k for k, i, j in PLANES if E[k][k] is ONE and all(x is ZERO for x in (E[k][i], E[k][j], E[i][k], E[j][k]))]
    return fixed[0] if len(fixed) == 1 else None


def rotated(E: Mat3, A: Mat3) -> Mat3:
    """E A Eᵀ for a rotation E; about a coordinate axis in 12 multiplications, s² and cs apart (RBDA A.5, trick 2)."""
    axis = axis_of(E)
    if axis is None:
        return congruence(E, A)
    k, i, j = PLANES[axis]
    c, s = E[i][i], E[i][j]
    p, q = A[j][j] - A[i][i], A[i][j] + A[j][i]
    x, y = s * s * p + c * s * q, c * s * p - s * s * q
    B = {
        (i, i): A[i][i] + x, (i, j): A[i][j] + y, (i, k): c * A[i][k] + s * A[j][k],
        (j, i): A[j][i] + y, (j, j): A[j][j] - x, (j, k): c * A[j][k] - s * A[i][k],
        (k, i): c * A[k][i] + s * A[k][j], (k, j): c * A[k][j] - s * A[k][i], (k, k): A[k][k],
    }  # fmt: skip
    return (B[0, 0], B[0, 1], B[0, 2]), (B[1, 0], B[1, 1], B[1, 2]), (B[2, 0], B[2, 1], B[2, 2])


class Sym3(NamedTuple):
    """A symmetric 3x3 matrix by its lower triangle."""

    xx: Any
    xy: Any
    yy: Any
    xz: Any
    yz: Any
    zz: Any

    @classmethod
    def zero(cls) -> Sym3:
        return cls(ZERO, ZERO, ZERO, ZERO, ZERO, ZERO)

    @classmethod
    def scalar(cls, s: Any) -> Sym3:
        """s·1."""
        return cls(s, ZERO, s, ZERO, ZERO, s)

    @classmethod
    def of(cls, A: Mat3) -> Sym3:
        """The lower triangle of `A`, taken as symmetric."""
        return cls(A[0][0], A[1][0], A[1][1], A[2][0], A[2][1], A[2][2])

    @property
    def matrix(self) -> Mat3:
        return (self.xx, self.xy, self.xz), (self.xy, self.yy, self.yz), (self.xz, self.yz, self.zz)

    def plus(self, other: Sym3) -> Sym3:
        return Sym3(*map(operator.add, self, other))

    def minus(self, other: Sym3) -> Sym3:
        return Sym3(*map(operator.sub, self, other))

    def times(self, s: Any) -> Sym3:
        return Sym3(*[s * a for a in self])

    def apply(self, x: Vec3) -> Vec3:
        return matvec(self.matrix, x)

    def rotated(self, E: Mat3) -> Sym3:
        """E A Eᵀ for a rotation E in 28 multiplications and 29 additions (RBDA A.5, trick 3).

        A = L + zz·1 + v×, where the last column of L is zero; the trace of E L Eᵀ gives its first entry.
        """
        axis = axis_of(E)
        if axis is not None:
            return self._turned(E, axis)
        d, (a, b, c) = self.zz, E
        L11, L21, L22, L31, L32 = self.xx - d, self.xy, self.yy - d, self.xz + self.xz, self.yz + self.yz
        w = matvec(E, (-self.yz, self.xz, ZERO))
        y = b[0] * L11 + b[1] * L21 + b[2] * L31, b[0] * L21 + b[1] * L22 + b[2] * L32
        z = c[0] * L11 + c[1] * L21 + c[2] * L31, c[0] * L21 + c[1] * L22 + c[2] * L32
        Z22, Z33 = y[0] * b[0] + y[1] * b[1], z[0] * c[0] + z[1] * c[1]
        return Sym3(
            L11 + L22 - Z22 - Z33 + d,
            y[0] * a[0] + y[1] * a[1] + w[2],
            Z22 + d,
            z[0] * a[0] + z[1] * a[1] - w[1],
            z[0] * b[0] + z[1] * b[1] + w[0],
            Z33 + d,
        )

    def _turned(self, E: Mat3, axis: int) -> Sym3:
        """E A Eᵀ for a turn about a coordinate axis: 8 multiplications, those of s² and cs apart (RBDA A.4)."""
        A, (k, i, j) = self.matrix, PLANES[axis]
        c, s = E[i][i], E[i][j]
        p, q = A[j][j] - A[i][i], A[i][j]
        x, y = s * s * p + (c * s + c * s) * q, c * s * p + (1 - 2 * (s * s)) * q
        B = {
            frozenset((i,)): A[i][i] + x, frozenset((j,)): A[j][j] - x, frozenset((k,)): A[k][k],
            frozenset((i, j)): y,
            frozenset((i, k)): c * A[i][k] + s * A[j][k],
            frozenset((j, k)): c * A[j][k] - s * A[i][k],
        }  # fmt: skip
        return Sym3(*(B[frozenset(place)] for place in ((0,), (0, 1), (1,), (0, 2), (1, 2), (2,))))


def cross_cross(a: Vec3, b: Vec3) -> Sym3:
    """The lower triangle of a× b× = b aᵀ − (a·b) 1 (RBDA table 2.1)."""
    x, y, z = a[0] * b[0], a[1] * b[1], a[2] * b[2]
    return Sym3(-(y + z), a[0] * b[1], -(x + z), a[0] * b[2], a[1] * b[2], -(x + y))
