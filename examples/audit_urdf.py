"""Loads a URDF file, shows what the audit says about it, and what it takes to hold the robot still.

Run it with `python examples/audit_urdf.py robot.urdf`; without a file it takes the bundled arm with two mistakes in it.
"""

import sys
from pathlib import Path

import numpy as np

import knuckle as kn


def broken_arm() -> Path:
    """The bundled arm with a mass that is a thousand times too large and an inertia that no body has."""
    text = kn.robots.path("arm").read_text()
    text = text.replace('<mass value="2.4"/>', '<mass value="2400"/>').replace('izz="0.0053816"', 'izz="0.53816"')
    path = Path("broken_arm.urdf")
    path.write_text(text)
    return path


path = Path(sys.argv[1]) if len(sys.argv) > 1 else broken_arm()
model = kn.load(path)
audit = kn.audit(model)
print(audit)
suspects = sorted({note.subject for note in (*audit.errors, *audit.warnings)})
print("look at:", ", ".join(suspects) or "nothing in particular")

tau = kn.gravity_force(model, kn.neutral(model))
worst = int(np.argmax(np.abs(tau)))
print(f"held still at its neutral position, it needs at most {abs(tau[worst]):.1f} N m (or N), at variable {worst}")
