"""A quadruped stands on a floor and is pushed: it sways, it steps, or it falls.

Run it with `python examples/quadruped_push.py`, or with `--view` to push it yourself: with the mouse, in the browser.

It steps where its capture point ξ = c + ċ/ω, the place above which its mass would come to rest, is too far from the
middle of its feet: legs on a diagonal go together to where ξ will be. The controller knows the time and the state.
"""

import sys

import numpy as np

import knuckle as kn
from knuckle.model import Box, Sphere
from knuckle.model.edit import keep_collisions, with_ground
from knuckle.scalar import absolute, arctan2, cos, exp, maximum, minimum, sin, sqrt
from knuckle.spatial import Matrix, Vector

HEIGHT, LIFT, RADIUS = 0.27, 0.05, 0.026  # m: of the mass, of a foot that steps, and of the ball that it is
SWING, FRICTION = 0.16, 0.6  # s for which a foot is in the air; what the feet rely on
ENOUGH = 0.045  # m from the middle to ξ, or from a foot to its place, for which no step is taken
OMEGA = np.sqrt(9.81 / HEIGHT)
LEGS = tuple(f"{end}_{side}" for end in ("front", "rear") for side in ("left", "right"))
PLACES = np.array([[x, y] for x in (0.245, -0.245) for y in (0.147, -0.147)])  # m, of the feet about the trunk
PAIRS = (1.0, -1.0, -1.0, 1.0)  # which diagonal a leg belongs to
STRONGEST = 40.0  # N m
LOOSE = Matrix.diagonal([1e-4, 1e-4, 1e-4, 1.0, 1.0, 1e-3])  # of moments and forces on the trunk, which may be missed

robot = kn.robots.load("quadruped")
parts = (Sphere(RADIUS), Box((0.46, 0.16, 0.12)))  # feet and trunk touch the floor
touching = keep_collisions(robot, lambda body, shape: shape.shape in parts)
model = with_ground(touching, friction=0.8)
mass = float(kn.total_mass(model))


def clip(x, low, high):
    return maximum(low, minimum(high, x))


@kn.kernel
def stand(model, t, q, v):
    """Torques that keep the trunk above the feet, and bring the feet to where they hold it."""
    feet = [kn.pose(model, q, f"{leg}_foot") for leg in LEGS]
    J = [Matrix(kn.jacobian(model, q, f"{leg}_foot", "aligned").rows[3:], model.nv) for leg in LEGS]
    drift = [kn.acceleration(model, q, v, 0 * v, f"{leg}_foot", "aligned", classical=True)[3:] for leg in LEGS]
    at = [Vector(T[i][3] for i in range(3)) for T in feet]
    middle = (at[0] + at[1] + at[2] + at[3]) / 4
    ahead = at[0] + at[1] - at[2] - at[3]
    length = sqrt(ahead[0] * ahead[0] + ahead[1] * ahead[1])
    c, s = ahead[0] / length, ahead[1] / length

    # the mass
    A, com = kn.centroidal_matrix(model, q), kn.center_of_mass(model, q)
    speed = (A @ v)[3:] / mass
    off = [com[i] + speed[i] / OMEGA - middle[i] for i in range(2)]
    back = [40.0 * (middle[i] - com[i]) - 10.0 * speed[i] for i in range(2)]
    pull = Vector([*back, 90.0 * (HEIGHT - com[2]) - 18.0 * speed[2]])

    # feet that step: a diagonal for half of the time each, if ξ or the feet are too far off
    angle = arctan2(sin(np.pi * t / SWING), cos(np.pi * t / SWING))
    T = kn.pose(model, q, "trunk")
    wishes, is_up = [], []
    for k, (place, pair) in enumerate(zip(PLACES, PAIRS, strict=True)):
        u = kn.where(pair * angle > 0, absolute(angle), 0.0) / np.pi
        left = maximum((1 - u) * SWING, 0.03)
        about = (c * place[0] - s * place[1], s * place[0] + c * place[1])
        home = [com[i] + about[i] for i in range(2)]
        goal = [middle[i] + off[i] + clip(off[i] * (exp(OMEGA * left) - 1), -0.2, 0.2) + about[i] for i in range(2)]
        astray = maximum(absolute(home[0] - at[k][0]), absolute(home[1] - at[k][1]))
        much = maximum(maximum(absolute(off[0]), absolute(off[1])), astray) - ENOUGH
        begins = kn.where(much > 0, kn.where(u < 0.4, 1.0, 0.0), 0.0)
        flies = kn.where(at[k][2] - RADIUS > 0.006, 1.0, 0.0)
        up = kn.where(u > 0, maximum(begins, flies), 0.0)
        w, x, fast = J[k] @ v, np.pi * u, np.pi / SWING
        z, rate, bend = LIFT * sin(x), LIFT * fast * cos(x), -LIFT * fast * fast * sin(x)
        across = [6 * (goal[i] - at[k][i]) / (left * left) - 4 * w[i] / left for i in range(2)]
        rise = bend + 900.0 * (z - 0.01 + RADIUS - at[k][2]) + 60.0 * (rate - w[2])
        wishes.append(up * Vector([*across, rise]) - (1 - up) * 30.0 * w - drift[k])
        is_up.append(up)

    # the trunk, level and along its feet
    Jt = kn.jacobian(model, q, "trunk", "aligned").rows[:3]
    level = Vector((T[2][1], -T[2][0], c * T[1][0] - s * T[0][0]))
    turn = -150.0 * level - 20.0 * (Matrix(Jt, model.nv) @ v)
    turn = turn - kn.acceleration(model, q, v, 0 * v, "trunk", "aligned", classical=True)[:3]
    rows = [*(row for j in J for row in j.rows), *Jt, *([x / mass for x in row] for row in A.rows[3:])]
    goals = [*(x for wish in wishes for x in wish), *turn, *(pull - kn.centroidal_bias(model, q, v)[3:] / mass)]
    tasks = Matrix(rows, model.nv)
    a = (tasks.T @ tasks + 1e-6 * Matrix.identity(model.nv)).solve(tasks.T @ Vector(goals))
    tau = kn.inverse_dynamics(model, q, v, a)

    # what the trunk needs, shared by the feet on the floor, each within its cone of friction: to stay level comes first
    G = Matrix([[j[r][col] for j in J for r in range(3)] for col in range(6)], 12)
    W = Matrix.diagonal([1.0001 - x for x in is_up for _ in range(3)])
    f = W @ (G.T @ (G @ W @ G.T + LOOSE).solve(tau[:6]))
    for k, j in enumerate(J):
        x, y, z = f[3 * k], f[3 * k + 1], maximum(f[3 * k + 2], 0.0)
        slip = minimum(1.0, FRICTION * z / (sqrt(x * x + y * y) + 1e-6))
        tau = tau - j.T @ Vector([slip * x, slip * y, z])
    stands = kn.where(T[2][2] > 0.4, 1.0, 0.0)  # when it has fallen, dampers only
    tau = stands * Vector([clip(x, -STRONGEST, STRONGEST) for x in tau[6:]]) - (1 - stands) * v[6:]
    return [0.0] * 6 + [*tau]


@kn.kernel
def pushed(model, t, q, force, time):
    """A force at the trunk, from some time on, for a fifth of a second."""
    on = kn.where(absolute(t - time - 0.1) < 0.1, 1.0, 0.0)
    return kn.external_force(model, q, "trunk", Vector([0.0, 0.0, 0.0, *(on * force)]), "aligned")


q0 = kn.neutral(model)
q0[6] -= kn.contact.gaps(model, q0).min()

if "--view" in sys.argv:
    kn.view(model, q0, controller=stand, run=True)
    sys.exit()

feet = [f"{leg}_foot" for leg in LEGS]
found = []
for force in ((0.0, 25.0, 0.0), (0.0, 100.0, 0.0), (200.0, 0.0, 0.0), (0.0, 400.0, 0.0)):
    motion = kn.simulate(
        model, q0, None, 4.0, controller=stand, external_forces=pushed, parameters={"force": force, "time": 0.6},
        frames=["trunk", *feet],
    )  # fmt: skip
    heights = np.array([motion.frames[foot][:, 2, 3] for foot in feet]).T - RADIUS
    steps = int(np.sum(np.diff((heights > 0.015).astype(int), axis=0) == 1))
    way, fell = np.linalg.norm(motion.q[-1, 4:6] - q0[4:6]), motion.frames["trunk"][-1, 2, 2] < 0.4
    how = "falls" if fell else f"stands {way:.2f} m away after {steps} steps" if steps else "sways and stands"
    print(f"{max(force):4.0f} N {'ahead' if force[0] else 'aside'} for 0.2 s: it {how}")
    found.append((steps, way, fell, motion))
motion = found[2][3]
assert [fell for _, _, fell, _ in found] == [False, False, False, True]
assert found[0][0] == 0 < found[1][0]
assert all(np.abs(result.v[-1]).max() < 0.05 for _, _, fell, result in found if not fell)
