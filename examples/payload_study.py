"""How heavy may an unknown payload be? A study of 4096 reaches, with a picture; stop it and call it again as you like.

Run it with `python examples/payload_study.py`; `--workers 4` spreads it over processes, `--address auto` over Ray.
"""

import argparse

import numpy as np

import knuckle as kn
from knuckle.model.edit import attach
from knuckle.spatial import Inertia

arm = kn.robots.load("arm")
goal = np.array([0.4, 0.7, 0.0, 1.0, 0.0, 0.6, 0.0])


def with_payload(model, mass, height):
    """The arm with a point mass before its flange."""
    return attach(model, "flange", Inertia.of(mass[0], (0.0, 0.0, height[0]), ((0.0, 0.0, 0.0),) * 3))


@kn.kernel
def reach(model, q, v, goal, bandwidth):
    """Springs and dampers at the joints by inverse dynamics, for the arm as the controller knows it: empty-handed."""
    return kn.inverse_dynamics(model, q, v, bandwidth**2 * (goal - q) - 2.0 * bandwidth * v)


def results(rollout, goal):
    """How far the joints end from where they should be, and how far they overshoot on the way."""
    return {
        "missed": np.abs(rollout.final[0] - goal).max(-1),
        "fastest": np.abs(rollout.v).max((-1, -2)),
    }


def study(into: str, **where):
    """The study: payloads and gains that fill their ranges evenly, and starts at random."""
    u = kn.cluster.uniform
    design = kn.cluster.sobol(
        {"mass": (0, 3), "height": (0.05, 0.25), "bandwidth": (15, 60), "q0": u(-0.3, 0.3, 7)}, 4096
    )
    return kn.sweep(
        arm, design, into, steps=500, dt=2e-3, save_every=10, controller=reach, model_fn=with_payload, measure=results,
        parameters={"goal": goal}, chunk=512, **where,
    )  # fmt: skip


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int)
    parser.add_argument("--address")
    options = parser.parse_args()
    found = study("payload_study.sweep", workers=options.workers, address=options.address)
    print(found)
    mass, missed = found["mass"][:], found["missed"][:]
    for low in (0.0, 1.0, 2.0):
        some = (mass >= low) & (mass < low + 1.0)
        print(f"{low:.0f} to {low + 1:.0f} kg: nine of ten end within {np.nanquantile(missed[some], 0.9):.3f} rad")
    found.plot("payload_study.png", what="missed")
