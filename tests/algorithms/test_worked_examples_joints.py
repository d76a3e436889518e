"""Worked examples of RBDA 4.3-4.5, 8.2 and 10.1 with their known answers; test names carry the inventory's rows."""

import math
from fractions import Fraction

import numpy as np
import pytest

import knuckle as kn
from knuckle import joints
from knuckle.model.build.dh import DH, DHRow, from_dh
from knuckle.spatial import (
    Motion,
    PlanarForce,
    PlanarInertia,
    PlanarMotion,
    PlanarTransform,
    Subspace,
    Transform,
    Vector,
    rotation,
)
from knuckle.testing.compare import array, close, vanishes
from knuckle.testing.mechanisms import random_inertia


def fractions(rng, n):
    return tuple(Fraction(int(x), int(y)) for x, y in zip(rng.integers(-9, 10, n), rng.integers(1, 10, n), strict=True))


# chapter 4


def test_f08_rack_and_pinion():
    """Example 4.6, with the velocity in predecessor coordinates that the text as we have it lost."""
    r, q, qd = 0.35, 0.8, -1.3
    joint = joints.RackAndPinion(r)
    X, S, v, c = joint.motion(Vector([q]), Vector([qd]))
    close(array(S[0]), [0, 0, 1, r * math.cos(q), -r * math.sin(q), 0])
    close(array(c), np.array([0, 0, 0, -r * math.sin(q), -r * math.cos(q), 0]) * qd**2)
    close(array(X.inv @ v), [0, 0, qd, r * qd, -r * q * qd, 0])
    assert array(joints.RackAndPinion(0.0).subspace(Vector([q]))[0]).tolist() == [0, 0, 1, 0, 0, 0]


@pytest.mark.parametrize("seed", range(3))
def test_f17_dh_frames_have_the_geometry_their_parameters_say(seed):
    """Section 4.3: a, α, d, θ measured on the frames that they place, and the matrices of the modified convention."""
    rng = np.random.default_rng(seed)
    rows = [(abs(a), alpha, d, theta) for a, alpha, d, theta in rng.uniform(-1.5, 1.5, (5, 4)).tolist()]
    kinds = [joints.Revolute("z"), joints.Prismatic("z"), joints.Revolute("z"), joints.Cylindrical("z"), joints.Fixed()]
    base = DHRow(0.0, 0.0, 0.3, -0.6, joints.Fixed())
    dh = DH(tuple(DHRow(*row, kind) for row, kind in zip(rows, kinds, strict=True)), base)
    model = from_dh(dh, inertias=[random_inertia(rng) for _ in rows])
    q = rng.uniform(-1, 1, model.nq)
    angle, distance = np.array([q[0], 0, q[2], q[3], 0]), np.array([0, q[1], 0, q[4], 0])
    before = np.eye(4)
    before[:3, :3], before[2, 3] = _active("z", base.theta), base.d
    for i, (a, alpha, d, theta) in enumerate(rows):
        pose = kn.pose(model, q, model.body_names[i])
        x0, z0, x, z = before[:3, 0], before[:3, 2], pose[:3, 0], pose[:3, 2]
        between = pose[:3, 3] - before[:3, 3]
        along = np.linalg.lstsq(np.stack([x0, z], 1), between, rcond=None)
        close(along[0], [a, d + distance[i]], 10)
        close(np.stack([x0, z], 1) @ along[0], between, 10)
        close([z0 @ z, np.cross(z0, z) @ x0], [math.cos(alpha), math.sin(alpha)])
        turned = theta + angle[i]
        close([x0 @ x, np.cross(x0, x) @ z], [math.cos(turned), math.sin(turned)])
        tilt, turn, shift = np.eye(4), np.eye(4), np.eye(4)
        tilt[:3, :3], turn[:3, :3] = _active("x", alpha), _active("z", turned)
        tilt[0, 3], shift[2, 3] = a, d + distance[i]
        close(pose, before @ tilt @ turn @ shift)
        before = pose


def _active(axis, angle):
    """The rotation matrix that turns vectors, the transpose of a coordinate transform."""
    return np.array([[float(x) for x in row] for row in getattr(rotation, f"r{axis}")(angle)]).T


@pytest.mark.parametrize(("axis", "e"), [("x", (1, 0, 0)), ("y", (0, 1, 0)), ("z", (0, 0, 1))])
def test_f18_euler_parameters_of_single_axis_turns(axis, e):
    """Eq. 4.12 at (cos θ/2, sin θ/2 e) is rx, ry or rz of θ."""
    for theta in (0.0, 0.3, math.pi / 2, 3.0, -2.0):
        p = (math.cos(theta / 2), *(math.sin(theta / 2) * x for x in e))
        E = np.array(rotation.from_quaternion(p), dtype=float)
        close(E, _active(axis, theta).T)


def test_f19_yaw_pitch_roll_closed_forms():
    """Eqs. 4.7 to 4.9 as printed."""
    (q1, q2, q3), (v1, v2, v3) = (0.7, -0.4, 1.9), (0.3, -1.1, 0.8)
    s2, c2, s3, c3 = math.sin(q2), math.cos(q2), math.sin(q3), math.cos(q3)
    X, S, _, c = joints.YawPitchRoll().motion(Vector([q1, q2, q3]), Vector([v1, v2, v3]))
    close(np.array(X.E, dtype=float), _active("x", q3).T @ _active("y", q2).T @ _active("z", q1).T)
    close(array(S.matrix)[:3], [[-s2, 0, 1], [c2 * s3, c3, 0], [c2 * c3, -s3, 0]])
    c_1 = -c2 * v1 * v2
    c_2 = -s2 * s3 * v1 * v2 + c2 * c3 * v1 * v3 - s3 * v2 * v3
    c_3 = -s2 * c3 * v1 * v2 - c2 * s3 * v1 * v3 - c3 * v2 * v3
    close(array(c), [c_1, c_2, c_3, 0, 0, 0])


def test_f20_rolling_sphere_has_three_velocity_and_five_position_freedoms():
    """A sphere of radius r on a plane: no slip leaves 3 of 6 velocity freedoms, yet it reaches 5 dimensions.

    In world axes a rolling motion is (ω, v = ω × r ẑ). Brackets of such fields, [(ω, v), (ω', v')] = (ω × ω', 0), lead
    out of their span: the constraint cannot be integrated.
    """
    r = 0.7
    contact = Transform.translation((0.0, 0.0, -r))
    no_slip = array((contact @ Subspace(Motion, Motion.basis())).matrix)[3:]
    assert 6 - np.linalg.matrix_rank(no_slip) == 3
    fields = [np.concatenate([w, np.cross(w, [0.0, 0.0, r])]) for w in np.eye(3)]
    for field in fields:
        vanishes(no_slip @ field, no_slip, field)
    while True:
        brackets = [np.concatenate([np.cross(a[:3], b[:3]), np.zeros(3)]) for a in fields for b in fields]
        grown = [*fields, *brackets]
        if np.linalg.matrix_rank(grown) == np.linalg.matrix_rank(fields):
            break
        fields = [*fields, *brackets]
    assert np.linalg.matrix_rank(fields) == 5
    sliding = joints.Composite((joints.Planar("z"), joints.Universal()))
    assert sliding.nv == 5


# chapter 10.1 and 8.2


def planar_body(cx, cy):
    """Section 10.1: unit mass and inertia, centre of mass at c, v_C = (1, 0, 0), f_C = (1, −1, 1), all at O."""
    to_C = PlanarTransform.translation((cx, cy))
    return PlanarInertia.of(1, (cx, cy), 1), to_C.inv @ PlanarMotion(1, 0, 0), to_C.inv @ PlanarForce(1, -1, 1)


def test_x03_planar_equation_of_motion_far_from_the_origin():
    I, v, f = planar_body(Fraction(100), Fraction(10))
    right = f - v.cross(I @ v)
    assert I.matrix.rows == ((10101, -10, 100), (-10, 1, 0), (100, 0, 1))
    assert v.components == (1, 10, -100)
    assert right.components == (111, -1, 1)
    assert I.matrix.solve(Vector(right.components)).items == (1, 9, -99)


@pytest.mark.parametrize("c", [(0, 0), (3, -4), (Fraction(1, 3), Fraction(-7, 2)), (10**6, 10**9)])
def test_x03_general_solution(c):
    cx, cy = map(Fraction, c)
    I, v, f = planar_body(cx, cy)
    right = f - v.cross(I @ v)
    assert I.matrix.solve(Vector(right.components)).items == (1, cy - 1, 1 - cx)


def test_x03_rounding():
    """cond = 1.02e8: four digits of a double are lost, and an error of a part in 1e12 is left."""
    I = np.array([[10101.0, -10, 100], [-10, 1, 0], [100, 0, 1]])
    exact = np.array([1.0, 9, -99])
    assert f"{np.linalg.cond(I):.2e}" == "1.02e+08"
    solved = np.linalg.solve(I, [111.0, -1, 1])
    assert 1e-13 < np.abs(solved - exact).max() / np.abs(exact).max() < 1e-11


def test_x03_rounding_grows_with_the_square_of_the_distance():
    """Figure 10.2: the error of a_O, measured at C, is flat for |c| < 1 and grows as |c|² beyond."""

    def error(distance):
        angle = np.random.default_rng(3).uniform(0, 2 * np.pi, 400)
        one, o = np.ones(400), np.zeros(400)
        c = distance * np.cos(angle), distance * np.sin(angle)
        to_C = PlanarTransform.translation(c)
        I, v = PlanarInertia.of(one, c, one), to_C.inv @ PlanarMotion(one, o, o)
        right = to_C.inv @ PlanarForce(one, -one, one) - v.cross(I @ v)
        a_C = to_C @ PlanarMotion(*I.matrix.solve(Vector(right.components)))
        return np.median(np.abs(np.array(a_C.components) - np.array([one, -one, one])).max(axis=0))

    near, far = np.array([0.01, 0.03, 0.1, 0.3]), np.array([10.0, 30.0, 100.0, 300.0, 1000.0])
    slopes = [np.polyfit(np.log(x), np.log([error(d) for d in x]), 1)[0] for x in (near, far)]
    assert abs(slopes[0]) < 0.3
    assert abs(slopes[1] - 2) < 0.1


def test_x04_cylindrical_closure():
    """Example 8.1: δ = (X23, −X13, X53, −X43)."""
    X = Transform(rotation.from_rpy(0.02, -0.03, 0.9), (0.01, 0.02, 0.5))
    delta, T = joints.Cylindrical("z").loop(X)
    M = array(X.matrix)
    close(array(delta), [M[1, 2], -M[0, 2], M[4, 2], -M[3, 2]])
    close(array(T.matrix), np.eye(6)[:, [0, 1, 3, 4]])
