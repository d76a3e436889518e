"""The arm of `examples/muscle_arm.xml`, with more of what muscles and tendons may have."""

from __future__ import annotations

from pathlib import Path

PLAIN = (Path(__file__).resolve().parents[2] / "examples" / "muscle_arm.xml").read_text("utf-8")
CHANGES = {
    '<spatial name="triceps short">': '<spatial name="triceps short" stiffness="20" springlength="0.1" damping="0.4">',
    '<muscle name="biceps" tendon="biceps"': '<muscle name="biceps" tendon="biceps" gear="1.5" tausmooth="0.2"',
    'name="deltoid" tendon="deltoid" force="900"': 'name="deltoid" tendon="deltoid" force="-1" scale="150"',
    '<muscle name="latissimus"': '<muscle name="latissimus" timeconst="0.015 0.06" lmin="0.4" fpmax="1.1" vmax="4"',
    "</tendon>": '<fixed name="link" stiffness="3" damping="0.2" springlength="0.3">'
    '<joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-1"/></fixed></tendon>',
}


def changed() -> str:
    """The file with these changes."""
    text = PLAIN
    for old, new in CHANGES.items():
        assert old in text, old
        text = text.replace(old, new)
    return text


MUSCLE_ARM = changed()
