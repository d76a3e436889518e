"""Somebody's URDF, read and mended: what is wrong with it, what that does to the numbers, and a file that is right.

Run it with `python examples/mend_urdf.py`; it writes somebodys_arm.urdf and mended_arm.urdf.
"""

import warnings
from pathlib import Path

import numpy as np

import knuckle as kn
from knuckle.model import solid_cylinder
from knuckle.model.edit import with_inertia
from knuckle.spatial import Inertia

# An arm as one finds them: a mass in grams, and an inertia that no body has.
text = kn.robots.path("arm").read_text()
text = text.replace('<mass value="2.4"/>', '<mass value="2400"/>').replace('izz="0.0053816"', 'izz="0.53816"')
theirs = Path("somebodys_arm.urdf")
theirs.write_text(text)

# 1. What loading says, and what the audit finds: links by name, with numbers, and a guess at what went wrong
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = kn.load(theirs)
for warning in said:
    print("on loading:", str(warning.message).split(";")[0])
audit = kn.audit(model)
for note in (*audit.errors, *audit.warnings):
    print(f"  {note.subject}: {note.text.split(':')[0]}")

# 2. Mending: the mass in kilograms; the moments of a solid cylinder as large as the one that the link is drawn with
elbow, shoulder = (model.bodies[model.body_index(name)] for name in ("elbow", "shoulder"))
mended = with_inertia(model, "elbow", Inertia.of(1e-3 * elbow.inertia.mass, elbow.inertia.com, elbow.inertia.I_com))
drawn = max((x.shape for x in shoulder.visuals if hasattr(x.shape, "length")), key=lambda shape: shape.length)
solid = solid_cylinder(float(shoulder.inertia.mass), drawn.radius, drawn.length)
mended = with_inertia(mended, "shoulder", Inertia.of(solid.mass, shoulder.inertia.com, solid.I_com))

# 3. A file of what was mended, of which the audit has nothing to say
kn.save(mended, "mended_arm.urdf")
again = kn.load("mended_arm.urdf")
left = kn.audit(again)
print(f"after mending: {len(left.errors)} errors, {len(left.warnings)} warnings")
q = np.array([0.0, 0.8, 0.0, 0.8, 0.0, 0.0, 0.0])
torques = {"theirs": kn.gravity_force(model, q), "mended": kn.gravity_force(again, q)}
worst = {name: np.abs(tau).max() for name, tau in torques.items()}
print(f"to hold it bent takes {worst['mended']:.0f} N m at most; with their file it was {worst['theirs']:.0f} N m")
true = kn.robots.load("arm")
assert np.allclose(torques["mended"], kn.gravity_force(true, q), rtol=1e-6)
assert not left.errors
assert not left.warnings
