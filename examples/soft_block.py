"""Two fingers that tendons pull squeeze a soft block, and let go: it bulges, shakes and springs back.

Run it with `python examples/soft_block.py`, or with `--view` to see it in the browser.

Each finger has two bones, and a tendon that bends it towards the other; the tip gives way. The block is a solid of
tetrahedra, glued to the tips by two of its sides: fingers deform it, it pushes them back, and joints and nodes are one
system.
"""

import sys

import numpy as np

import knuckle as kn
from knuckle.elements import ConstantTension, NeoHookean, box_mesh
from knuckle.model import Capsule, Geometry, solid_cylinder
from knuckle.scalar import cos, less, select
from knuckle.spatial import Transform

WIDTH, BONE, RADIUS = 0.06, 0.05, 0.008  # m: of the block, of a bone
PULL, LETS_GO, DURATION = 22.0, 0.8, 1.5  # N of each tendon at most; s

b = kn.Builder("two fingers", base="palm")
mesh = box_mesh((WIDTH, 0.05, 0.05), (6, 5, 5))
sides = {}
for name, side in (("left", -1), ("right", 1)):
    x = side * (WIDTH / 2 + RADIUS)
    shape = Geometry(Capsule(RADIUS, BONE - 2 * RADIUS), Transform.translation((0, 0, -BONE / 2)))
    bone = solid_cylinder(0.02, RADIUS, BONE, at=(0, 0, -BONE / 2))
    b.body(f"{name} bone", at=(x, 0, 0), joint=kn.joints.Revolute("y"), inertia=bone, damping=3e-4, visuals=shape)
    b.body(f"{name} tip", on=f"{name} bone", at=(0, 0, -BONE), joint=kn.joints.Revolute("y"), inertia=bone,
           damping=3e-4, stiffness=0.6, visuals=shape)  # fmt: skip
    inside = -side * 0.9 * RADIUS  # the tendon comes from the middle of the palm, to the inner side of the finger
    b.line(
        f"{name} tendon",
        [("palm", (3 * inside + x, 0, 0.0)), (f"{name} bone", (inside, 0, -0.8 * BONE))],
        ConstantTension(0.0),
    )
    sides[f"{name} tip"] = mesh.where(lambda x, y, z, side=side: side * x > WIDTH / 2 - 1e-9)
b.deformable(
    "block", mesh, material=NeoHookean(3e3, 0.42), density=600.0, damping=1e-3, at=(0, 0, -1.5 * BONE), attach=sides
)
model = b.build()


@kn.kernel
def squeeze(model, t, q, v, pull, lets_go):
    """Tendons tighten, and go slack at once; what they do at the joints is Rᵀ T, by their moment arms."""
    tension = select(less(t, lets_go), pull * (1.0 - cos(np.pi * t / lets_go)) / 2.0, 0.0)
    R = kn.elements.moment_arms(model, q)
    return [tension * (R[0][k] + R[1][k]) for k in range(4)]


motion = kn.simulate(
    model, None, None, DURATION, dt=0.004, controller=squeeze, parameters={"pull": PULL, "lets_go": LETS_GO}
)

nodes, masses = motion.nodes("block"), kn.elements.SoftBodies(model).masses
left, right = (nodes[:, list(side)].mean(axis=1) for side in sides.values())
width = np.linalg.norm(right - left, axis=1)  # between the middles of the two sides
height = np.ptp(nodes[:, :, 2], axis=1)
tightest = int(np.argmin(width))
print(f"{len(mesh.cells)} tetrahedra, {len(mesh.nodes)} nodes, {model.nv} joints; {len(motion) - 1} steps")
print(f"squeezed to {1e3 * width[tightest]:.1f} mm of {1e3 * WIDTH:.0f} mm at {motion.times[tightest]:.2f} s,")
print(f"where it is {1e3 * height[tightest]:.1f} mm high, and stores {1e3 * motion.elastic_energy.max():.1f} mJ")
drift = np.abs(np.einsum("tn,n->t", nodes[:, :, 0], masses)).max() / masses.sum()
print(f"its middle stays between the fingers, to {1e6 * drift:.2g} µm")

free = motion.times > LETS_GO
lost = np.diff(motion.energy[free])
assert width[tightest] < 0.8 * WIDTH
assert np.all(lost < 1e-9)  # nothing pulls any more: damping and implicit steps only take energy away
assert drift < 1e-4
kn.viewer.replay_html(motion, "soft_block.html", title="Two fingers squeeze a soft block")
if "--view" in sys.argv:
    motion.play()
