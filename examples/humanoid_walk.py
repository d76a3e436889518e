"""A humanoid stands on a floor, is pushed, walks ten steps, is pushed again on its way, and stands.

Run it with `python examples/humanoid_walk.py`. `motion.play()` shows it in the browser.

The controller knows the time and the state, and where the feet should go. A mass c at a constant height falls away from
its centre of pressure p with ω² (c − p), and ξ = c + ċ/ω is where it would have to step to come to rest. In a foot,
p keeps ξ on its way; what that cannot do the next step does, by landing where ξ will be. Accelerations of the mass, the
pelvis and the feet follow, from these the joints' by least squares, and the torques by inverse dynamics.
"""

import numpy as np

import knuckle as kn
from knuckle.model.edit import keep_collisions, with_ground
from knuckle.scalar import absolute, cos, exp, maximum, minimum, sin
from knuckle.spatial import Matrix, Vector

STEPS, STRIDE, APART = 10, 0.25, 0.18  # m: a step, and between the feet
STAND, BEGIN, BOTH, SWING = 3.5, 0.8, 0.12, 0.50  # s: before it walks, before the first step, on both feet, on one
HEIGHT, LIFT = 0.90, 0.06  # m: of the mass, and of a foot
OMEGA = np.sqrt(9.81 / HEIGHT)
SOLE = ((-0.075, 0.165), (-0.0475, 0.0475))  # m: heel and toe, right and left of the ankle
MARGIN = 0.012  # m: of the sole, where no pressure is asked for
PUSHES = ((0.5, (120.0, 0.0, 0.0)), (2.0, (0.0, 70.0, 0.0)), (7.4, (0.0, 60.0, 0.0)))  # s, N, for a fifth of a second
FEET = ("left_sole", "right_sole")

robot = kn.robots.load("humanoid")
soles = keep_collisions(robot, lambda body, shape: "foot" in body.name and shape.shape.size[0] > 0.2)
model = with_ground(soles, friction=0.8)
mass = float(kn.total_mass(model))
rows = [model.v_slices[model.joint_index(name)].start for name in model.joint_names]
is_leg = [any(part in name for part in ("floating", "hip", "knee", "ankle")) for name in model.joint_names]
upper = [i for i, leg in zip(rows, is_leg, strict=True) if not leg]
others = [i for i in range(model.nv) if i not in upper]
strongest = [x for joint in model.joints for x in joint.limits.effort]


# The plan: phases with the place of the pressure, where ξ is at the end, which foot swings (1: left), and where to

feet = np.array([[min(k, STEPS - 1) * STRIDE, (-1) ** k * APART / 2] for k in range(STEPS + 1)])  # one after the other
middle, last = np.zeros(2), np.array([feet[-1, 0], 0.0])
captures = [last, last]
for foot in feet[-2::-1]:  # where ξ must begin so that it ends where the next step needs it
    captures.insert(0, foot + (captures[0] - foot) * np.exp(-OMEGA * (BOTH + SWING)))
leaning = captures[0] / (1 - np.exp(OMEGA * BEGIN))  # at first to the other side
captures = np.array([middle, *captures])
pressures = np.array([middle, leaning, *feet[:-1], last])
earlier = np.array([middle, *pressures[:-1]])
swings = np.array([0, 0, *(-((-1) ** k) for k in range(STEPS)), 0])
landings = np.array([middle, middle, *feet[1:], last])
ends = np.array([STAND, *(STAND + BEGIN + (BOTH + SWING) * np.arange(STEPS + 1)), 1e3])
starts = np.array([0.0, *ends[:-1]])


def clip(x, low, high):
    return maximum(low, minimum(high, x))


def turned(T):
    """How far a frame has turned from level and straight ahead, as a small rotation vector."""
    return Vector((T[2][1] - T[1][2], T[0][2] - T[2][0], T[1][0] - T[0][1])) * 0.5


def pressure_and_error(t, left, s, phase, com, speed, soles, is_up):
    """The centre of pressure, and by how much ξ will miss its place at the end of the phase."""
    now, missed = [], []
    for i, (low, high) in enumerate(SOLE):
        old, new, goal = (phase(table[:, i]) for table in (earlier, pressures, captures))
        error = com[i] + speed[i] / OMEGA - (new + (goal - new) * exp(-OMEGA * left))
        places = [sole[i][3] for sole in soles]
        lowest = minimum(places[0] + 9 * is_up[0], places[1] + 9 * is_up[1]) + low + MARGIN
        highest = maximum(places[0] - 9 * is_up[0], places[1] - 9 * is_up[1]) + high - MARGIN
        wish = old + minimum(s / BOTH, 1.0) * (new - old) + (1 + 3.0 / OMEGA) * error
        now.append(clip(wish, lowest, highest))
        missed.append(now[i] - new + (error - (now[i] - new)) * exp(OMEGA * left))
    return now, missed


def foot_acceleration(T, twist, landing, left, u, is_up):
    """Of a foot that stands: none; of one that swings: such that it is at its landing when the time is over."""
    left = maximum(left, 0.06)
    turn = -150.0 * turned(T) - 24.0 * twist[:3]
    across = [6 * (landing[i] - T[i][3]) / (left * left) - 4 * twist[3 + i] / left for i in range(2)]
    angle = 2 * np.pi * u
    z, rate, bend = LIFT * (1 - cos(angle)) / 2, np.pi * LIFT * sin(angle), 2 * np.pi**2 * LIFT * cos(angle)
    up = bend / SWING**2 + 400.0 * (z - 0.005 * u - T[2][3]) + 40.0 * ((rate - 0.005) / SWING - twist[5])
    standing, swinging = Vector([*turn, *(-40.0 * twist[3:])]), Vector([*turn, *across, up])
    return standing + is_up * (swinging - standing)


def posture(model, q, v, stride):
    """Accelerations of the upper body: upright, and an arm goes ahead with the foot of the other side."""
    goals = {"left_shoulder_pitch": -1.2 * stride, "right_shoulder_pitch": 1.2 * stride}
    goals |= {"left_shoulder_roll": 0.12, "right_shoulder_roll": -0.12, "left_elbow": -0.5, "right_elbow": -0.5}
    names = {model.v_slices[model.joint_index(name)].start: goal for name, goal in goals.items()}
    return [60.0 * (names.get(i, 0.0) - q[i + 1]) - 15.0 * v[i] for i in upper]


def joint_accelerations(tasks, known):
    """Of legs and pelvis such that all tasks (J, what J a should be) are done, beside known ones of the upper body."""
    J = [row for part, _ in tasks for row in part]
    goals = [x for _, part in tasks for x in part]
    A = Matrix([[row[i] for i in others] for row in J], len(others))
    b = Vector(x - sum(row[i] * a for i, a in zip(upper, known, strict=True)) for row, x in zip(J, goals, strict=True))
    found = (A.T @ A + 1e-6 * Matrix.identity(len(others))).solve(A.T @ b)
    together = dict(zip((*others, *upper), (*found, *known), strict=True))
    return Vector(together[i] for i in range(len(together)))


def shared(J, wrench, part):
    """Wrenches of both feet that make up the wrench on the pelvis, which has no motor; `part` is the right foot's."""
    ease = (0.002, 0.005, 0.002, 1.0, 1.0, 1.0)  # m², moments beside forces
    G = Matrix([[j[r][c] for j in J for r in range(6)] for c in range(6)], 12)
    W = Matrix.diagonal([w * x for w in (1 - part, part) for x in ease])
    f = W @ (G.T @ (G @ W @ G.T).solve(wrench))
    return f[:6], f[6:]


@kn.kernel
def walk(model, t, q, v):
    """Torques of the joints."""
    begun = [*(kn.where(t < start, 0.0, 1.0) for start in starts[1:]), 0.0]
    is_now = [a - b for a, b in zip((1.0, *begun[:-1]), begun, strict=True)]

    def phase(table):
        return sum((float(x) * w for x, w in zip(table, is_now, strict=True) if x), 0.0)

    left, s = minimum(phase(ends) - t, BEGIN), t - phase(starts)
    swing = kn.where(s < BOTH, 0.0, phase(swings))
    is_up = [kn.where(sign * swing > 0.5, 1.0, 0.0) for sign in (1, -1)]

    feet = [kn.pose(model, q, foot) for foot in FEET]
    J = [kn.jacobian(model, q, foot, "aligned") for foot in FEET]
    A, com = kn.centroidal_matrix(model, q), kn.center_of_mass(model, q)
    speed = (A @ v)[3:] / mass
    p, missed = pressure_and_error(t, left, s, phase, com, speed, feet, is_up)
    up = 60.0 * (HEIGHT - com[2]) - 15.0 * speed[2]
    pull = Vector([(9.81 + up) / HEIGHT * (com[i] - p[i]) for i in range(2)] + [up])

    landing = [phase(landings[:, i]) + 1.05 * clip(missed[i], -0.3, 0.3) for i in range(2)]
    u = clip((s - BOTH) / SWING, 0.0, 1.0)
    pelvis, Jp = kn.pose(model, q, "pelvis"), kn.jacobian(model, q, "pelvis", "aligned")
    turn = -150.0 * turned(pelvis) - 24.0 * (Jp @ v)[:3]
    drift = [kn.acceleration(model, q, v, 0 * v, frame, "aligned", classical=True) for frame in (*FEET, "pelvis")]
    going = [foot_acceleration(feet[k], J[k] @ v, landing, left, u, is_up[k]) - drift[k] for k in (0, 1)]
    tasks = [((3.0 * j).rows, 3.0 * a) for j, a in zip(J, going, strict=True)]
    tasks.append(([[x / mass for x in row] for row in A.rows[3:]], pull - kn.centroidal_bias(model, q, v)[3:] / mass))
    tasks.append((Jp.rows[:3], turn - drift[2][:3]))
    a = joint_accelerations(tasks, posture(model, q, v, feet[1][0][3] - feet[0][0][3]))
    tau = kn.inverse_dynamics(model, q, v, a)

    across = [feet[1][i][3] - feet[0][i][3] for i in range(2)]
    part = sum(x * (p[i] - feet[0][i][3]) for i, x in enumerate(across)) / sum(x * x for x in across)
    part = kn.where(swing > 0.5, 1.0, kn.where(swing < -0.5, 0.0, clip(part, 0.02, 0.98)))
    for j, wrench in zip(J, shared(J, tau[:6], part), strict=True):
        tau = tau - j.T @ wrench
    return [0.0] * 6 + [clip(x, -most, most) for x, most in zip(tau[6:], strongest[6:], strict=True)]


@kn.kernel
def pushed(model, t, q, times, forces):
    """Forces at the torso, a fifth of a second each."""
    acting = [kn.where(absolute(t - time - 0.1) < 0.1, 1.0, 0.0) for time in times]
    force = [sum(on * forces[3 * k + i] for k, on in enumerate(acting)) for i in range(3)]
    return kn.external_force(model, q, "torso", Vector([0.0, 0.0, 0.0, *force]), "aligned")


def on_both_feet():
    """Knees bent until the mass is at its height, feet on the floor."""
    q = kn.neutral(model)
    bend = np.arccos((0.76 - (0.98 - HEIGHT)) / 0.76)  # thigh and shank have 0.38 m each
    for name, x in (("hip_pitch", -bend), ("knee", 2 * bend), ("ankle_pitch", -bend)):
        for leg in ("left", "right"):
            q[model.q_slices[model.joint_index(f"{leg}_{name}")]] = x
    q[6] -= kn.contact.gaps(model, q).min()
    return q


pushes = {"times": [time for time, _ in PUSHES], "forces": np.ravel([force for _, force in PUSHES])}
motion = kn.simulate(
    model, on_both_feet(), None, 12.5, controller=walk, external_forces=pushed, parameters=pushes,
    frames=("pelvis", *FEET),
)  # fmt: skip

pelvis, left, right = (motion.frames[name] for name in ("pelvis", *FEET))
for time, force in PUSHES:
    k = np.searchsorted(motion.times, [time, time + 1.0])
    sway = np.abs(motion.v[k[0] : k[1], 3:5]).max(axis=0) @ (np.array(force[:2]) != 0)
    print(
        f"{time:4.1f} s   a push of {np.linalg.norm(force):.0f} N for 0.2 s: the pelvis goes with up to {sway:.2f} m/s"
    )
steps = sum(int(np.sum(np.diff((foot[:, 2, 3] > 0.03).astype(int)) == 1)) for foot in (left, right))
tilt = np.degrees(np.arccos(pelvis[:, 2, 2].clip(-1, 1)))
print(f"{steps} steps, {pelvis[-1, 0, 3]:.2f} m ahead and {abs(pelvis[-1, 1, 3]):.3f} m aside; tilted by at most"
      f" {tilt[motion.times > STAND].max():.1f}° on the way")  # fmt: skip
print(f"at the end it stands, with {np.abs(motion.v[-1]).max():.0e} m/s left")
assert steps >= STEPS
assert pelvis[-1, 0, 3] > 2.0
assert pelvis[:, 2, 3].min() > 0.8
assert np.abs(motion.v[-1]).max() < 0.02
