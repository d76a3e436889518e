"""An arm reaches for three postures in turn: a PD law through inverse dynamics, compiled with the steps.

Run it with `python examples/arm_reaching.py`.
"""

import numpy as np

import knuckle as kn
from knuckle.scalar import less, maximum, minimum, select

POSTURES = np.array(
    [
        [0.9, 0.7, 0.2, 1.2, 0.1, 0.6, 0.3],
        [-0.8, 0.9, -0.3, 0.5, 0.4, 1.1, -0.5],
        [0.1, 0.2, 0.0, 1.6, 0.0, -0.9, 0.0],
    ]
)


@kn.kernel
def reach(model, t, q, v, first, second, third, kp, kd, efforts):
    """Every joint a critically damped spring to the posture of the moment: τ = ID(q, v, kp (q_ref − q) − kd v)."""
    then = [select(less(t, 3.0), s, r) for s, r in zip(second, third, strict=True)]
    q_ref = [select(less(t, 1.5), f, r) for f, r in zip(first, then, strict=True)]
    wanted = [kp * (r - x) - kd * xd for r, x, xd in zip(q_ref, q, v, strict=True)]
    tau = kn.inverse_dynamics(model, q, v, wanted)
    return [minimum(maximum(x, -most), most) for x, most in zip(tau, efforts, strict=True)]


arm = kn.robots.load("arm")
efforts = np.concatenate([joint.limits.effort for joint in arm.joints])  # the drives can do no more
given = dict(zip(("first", "second", "third"), POSTURES, strict=True), kp=64.0, kd=16.0, efforts=efforts)
motion = kn.simulate(arm, None, None, 4.5, controller=reach, parameters=given, frames=["tool0"])

for t, goal in zip((1.5, 3.0, 4.5), POSTURES, strict=True):
    _, q, _ = motion.state(t)
    hand = kn.pose(arm, q, "tool0")[:3, 3]
    print(f"at {t:.1f} s the hand is at {np.round(hand, 3)} m, the joints within {np.abs(q - goal).max():.1e} rad")
    assert np.abs(q - goal).max() < 1e-3
busiest = (np.abs(motion.tau) / efforts).max(axis=0).argmax()
print(f"the busiest drive is {arm.joint_names[busiest]}: up to {np.abs(motion.tau[:, busiest]).max():.0f} N m")
