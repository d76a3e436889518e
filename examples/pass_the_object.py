"""Two arms pick up a parcel, pass it on and let it fall onto a table, in one simulation without recompilation.

The arms are the primary system, the parcel the secondary one (`knuckle.operators`). To grasp, to regrasp and to let go
changes the closures between them, which are data; the arms' kernels are made once.

Run it with `python examples/pass_the_object.py`; it writes pass_the_object.html, a replay for any browser.
"""

import numpy as np

import knuckle as kn
from knuckle.joints import Fixed, Free
from knuckle.model import Body, Box, Geometry, LoopJoint, Material, edit, solid_box
from knuckle.operators import ClosedChain, SystemState, TreeSystem, closure_kernels
from knuckle.spatial import Inertia, Transform

SIZE, MASS = 0.16, 1.5
SHELF, MIDDLE, TABLE = np.array([0.4, 0.5, 0.35]), np.array([0.45, 0.05, 0.5]), np.array([0.4, -0.2, 0.3])
REACH = 0.4
STEP = 0.0025


def shelf(centre, color):
    """A board under a parcel whose centre is there."""
    at = Transform.translation(centre - [0.0, 0.0, SIZE / 2 + 0.01])
    return Geometry(Box((0.24, 0.24, 0.02)), at, material=Material(color=color))


# the mechanisms: two arms on one base, and a parcel that moves freely
boards = (shelf(SHELF, (0.55, 0.4, 0.25, 1.0)), shelf(TABLE, (0.3, 0.4, 0.5, 1.0)))
arm = kn.robots.load("arm")
arms = kn.Builder("arms", base=Body("world", Inertia.zero(), boards)).build()
for side, y in (("left", REACH), ("right", -REACH)):
    arms = edit.merge(arms, arm, "world", (0.0, y, 0.0), prefix=f"{side}_")
builder = kn.Builder("parcel", base="ground")
look = Geometry(Box((SIZE,) * 3), material=Material(color=(0.85, 0.55, 0.2, 1.0)))
builder.body("parcel", "ground", Free(), inertia=solid_box(MASS, (SIZE,) * 3), visuals=look)
parcel = builder.build()
HANDS = {"left": "left_tool0", "right": "right_tool0"}


def reach(side, position, down):
    """Joint positions of an arm whose tool is there, pointing down or along y: loop closure as inverse kinematics."""
    E = [[-1.0, 0, 0], [0, 1.0, 0], [0, 0, -1.0]] if down else [[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]]
    place = Transform.of(E, position - [0.0, REACH if side == "left" else -REACH, 0.0])
    tool = arm.frame("tool0")
    target = LoopJoint("target", Fixed(), -1, tool.body, place, tool.X)
    found = kn.loops.close(arm.replace(loops=(target,)), [0.0, 0.6, 0.0, 1.2, 0.0, 1.2, 0.0])
    if not found.closed:
        raise RuntimeError(f"the {side} arm cannot reach {position}: {found}")
    return (found.q + np.pi) % (2 * np.pi) - np.pi


# the plan: at these times the hands are at these places, and stand still
above, top, front = np.array([0, 0, 0.15]), np.array([0, 0, SIZE / 2]), np.array([0, -SIZE / 2, 0])
home = np.array([0.0, 0.2, 0.0, 1.4, 0.0, 1.2, 0.0])
left = [
    (0.0, home),
    (0.9, reach("left", SHELF + top + above, True)),
    (1.3, reach("left", SHELF + top, True)),
    (1.8, reach("left", SHELF + top + above, True)),
    (2.8, reach("left", MIDDLE + top, True)),
    (3.3, reach("left", MIDDLE + top, True)),
    (3.7, reach("left", MIDDLE + top + above, True)),
    (4.9, home),
    (6.0, home),
]
right = [
    (0.0, home),
    (1.2, home),
    (2.4, reach("right", MIDDLE + 2.5 * front, False)),
    (2.9, reach("right", MIDDLE + front, False)),
    (3.5, reach("right", MIDDLE + front, False)),
    (4.7, reach("right", TABLE + front + above, False)),
    (4.9, reach("right", TABLE + front + above, False)),
    (5.2, reach("right", TABLE + 2.5 * front + above, False)),
    (6.0, home),
]


def reference(t):
    """Positions, velocities and accelerations of all joints by the plan: the smoothest way between two places."""
    parts = []
    for plan in (left, right):
        k = min(max(sum(t >= time for time, _ in plan) - 1, 0), len(plan) - 2)
        (start, a), (end, b) = plan[k : k + 2]
        s, d = np.clip((t - start) / (end - start), 0, 1), end - start
        way = (b - a) * np.array([[10 * s**3 - 15 * s**4 + 6 * s**5], [30 * (s * (1 - s)) ** 2 / d],
                                  [60 * s * (1 - s) * (1 - 2 * s) / d**2]])  # fmt: skip
        parts.append(way + np.array([a, 0 * a, 0 * a]))
    return np.concatenate(parts, axis=1)


@kn.kernel
def control(model, q, v, q_ref, v_ref, a_ref, load_left, load_right):
    """Computed torque, and what holds the parcel's weight in each hand."""
    tau = kn.inverse_dynamics(model, q, v, a_ref + 900.0 * (q_ref - q) + 60.0 * (v_ref - v))
    for hand, load in (("left_tool0", load_left), ("right_tool0", load_right)):
        J = kn.jacobian(model, q, hand, expressed_in="aligned")
        tau = tau + kn.spatial.Vector(J[5]) * load
    return tau


# closures: the parcel on the shelf, in one hand, in both, in none
primary, secondary = TreeSystem(arms, (*HANDS.values(), "world")), TreeSystem(parcel, ("parcel",))
chain = ClosedChain(primary, secondary)
OBJECT = ("secondary", "parcel")
q = [np.concatenate([home, home]), np.array([1.0, 0, 0, 0, *SHELF])]
v = [np.zeros(arms.nv), np.zeros(6)]
times, record, worst, energy_lost = [], [], 0.0, 0.0


def states(q, v, t):
    """The states of both systems, the arms with the forces of their motors."""
    share = {side: MASS * 9.81 / max(1, len(held)) if side in held else 0.0 for side in HANDS}
    return SystemState(
        q[0], v[0], control(arms, q[0], v[0], *reference(t), share["left"], share["right"])
    ), SystemState(q[1], v[1])


def tie(chain, name, point, t):
    """The chain with the parcel tied to a point where it is, and velocities after the jerk of taking hold."""
    global v, energy_lost
    now = states(q, v, t)
    chain = chain.with_closure(chain.grasp(name, ("primary", point), OBJECT, *now))
    jump = chain.jumps(*now)
    before = sum(kn.kinetic_energy(m, x, y) for m, x, y in zip((arms, parcel), q, v, strict=True))
    v = [v[0] + jump.primary, v[1] + jump.secondary]
    energy_lost += before - sum(kn.kinetic_energy(m, x, y) for m, x, y in zip((arms, parcel), q, v, strict=True))
    return chain


def kernels():
    """How many have been compiled so far: for the arms, for the parcel, and for closures."""
    return np.array([primary.kernels, secondary.kernels, closure_kernels()])


def say(t, what):
    """What happens, and what holds the parcel now."""
    ties = " and ".join(closure.name for closure in chain.closures) or "nothing"
    print(f"{t:5.2f} s  {what:<28} held by: {ties:<15} kernels: {kernels()}")


held: list[str] = []
chain = tie(chain, "shelf", "world", 0.0)
chain.accelerations(*states(q, v, 0.0))
say(0.0, "the parcel is on its shelf")
landed = False
for k in range(round(6.0 / STEP)):
    t = k * STEP
    if k == round(1.3 / STEP):
        compiled = kernels()
        chain, held = tie(chain, "left", HANDS["left"], t).without_closure("shelf"), ["left"]
        say(t, "the left hand takes it")
    elif k == round(2.95 / STEP):
        chain, held = tie(chain, "right", HANDS["right"], t), ["left", "right"]
        say(t, "the right hand takes it too")
    elif k == round(3.25 / STEP):
        chain, held = chain.without_closure("left"), ["right"]
        say(t, "the left hand lets go")
    elif k == round(4.8 / STEP):
        chain, held = chain.without_closure("right"), []
        say(t, "the right hand lets go")
    elif not held and not landed and k > round(4.8 / STEP) and q[1][6] <= TABLE[2]:
        chain, landed = tie(chain, "table", "world", t), True
        say(t, "it lands on the table")
    if k % 8 == 0:
        times.append(t)
        record.append([x.copy() for x in q])
        errors = chain.errors(SystemState(q[0], v[0]), SystemState(q[1], v[1])).values()
        worst = max([worst, *(float(np.abs(delta).max()) for delta, _ in errors)])
    a = chain.accelerations(*states(q, v, t), stabilization=0.02)[:2]  # the midpoint rule
    half = [kn.integrate(m, x, STEP / 2 * y) for m, x, y in zip((arms, parcel), q, v, strict=True)]
    middle = [y + STEP / 2 * z for y, z in zip(v, a, strict=True)]
    a = chain.accelerations(*states(half, middle, t + STEP / 2), stabilization=0.02)[:2]
    q = [kn.integrate(m, x, STEP * y) for m, x, y in zip((arms, parcel), q, middle, strict=True)]
    v = [y + STEP * z for y, z in zip(v, a, strict=True)]

say(6.0, "the end")
print(f"kernels that taking hold, passing and letting go made: {sum(kernels() - compiled)} of {sum(kernels())}")
print(f"largest error of a closure: {worst:.1e} (m, rad)")
print(f"energy lost in taking hold and landing: {energy_lost:.3f} J; the parcel is at {np.round(q[1][4:], 4)}")
scene = edit.merge(arms, parcel, "world")
motion = scene, np.array(times), np.array([np.concatenate(both) for both in record])
print("replay:", kn.viewer.replay_html(motion, "pass_the_object.html", title="Two arms pass a parcel"))
