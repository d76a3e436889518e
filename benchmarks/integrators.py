"""What the integrators of knuckle do: measured orders, time per step, what they keep, and MuJoCo's motion beside ours.

    python benchmarks/integrators.py [--steps 1000000]

Orders are measured in steps of 10 and 5 ms (adaptive: 25 and 12.5 ms) against steps of 0.6 ms of the fifth order, on a
free body, a heavy top on a spherical joint and a random tree of free, spherical, planar, universal and revolute joints;
within steps by the dense output. Energy and momentum are kept over `--steps` steps and a tenth of them, of 1 ms.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import knuckle as kn
from knuckle.integrators import (
    INTEGRATORS,
    DormandPrince,
    Integrator,
    RungeKutta4,
    SemiImplicitEuler,
    State,
    Variational,
    integrator_of,
)
from knuckle.simulation.steps.stepper import Stepper, stepper

Array = np.ndarray[Any, Any]
BODY: dict[str, Any] = {"mass": 2.0, "com": (0.1, -0.05, 0.2), "inertia": (0.11, 0.17, 0.23)}
DURATION, EXACT = 0.2, 320
DT = 1e-3


def single(joint: kn.joints.Joint) -> kn.Model:
    builder = kn.Builder(type(joint).__name__)
    builder.body("body", joint=joint, **BODY)
    return builder.build()


def tree() -> kn.Model:
    types = ["spherical", "planar", "universal", "revolute"]
    return kn.testing.random_tree(7, 4, types=types, floating=True, resistance=False)


def start(model: kn.Model) -> tuple[Array, Array]:
    rng = np.random.default_rng(1)
    return kn.random_configuration(model, rng), 0.7 * rng.normal(size=model.nv)


def states(stepping: Stepper, steps: int) -> Iterator[tuple[float, State, State]]:
    """(t, old, new) of every step."""
    dt = DURATION / steps
    old = stepping.start(0.0, *start(stepping.model), dt)
    for k in range(steps):
        new = stepping.step(k * dt, old, dt)
        yield k * dt, old, new
        old = new


def distance(model: kn.Model, a: State, b: State) -> float:
    return float(np.linalg.norm([*kn.difference(model, a.q, b.q), *(a.v - b.v)]))


def errors(model: kn.Model, integrator: Integrator, steps: int, exact: list[State]) -> tuple[float, float]:
    """The error at the end, and the largest in the middle of steps."""
    stepping, every = stepper(model, integrator), EXACT // steps
    within, end = 0.0, exact[0]
    for k, (t, old, new) in enumerate(states(stepping, steps)):
        middle = State(*stepping.dense(t, old, new, DURATION / steps)(0.5))
        within, end = max(within, distance(model, middle, exact[k * every + every // 2])), new
    return distance(model, end, exact[-1]), within


def orders() -> None:
    models = {"free": single(kn.joints.Free()), "ball": single(kn.joints.Spherical()), "tree": tree()}
    truths = {}
    for name, model in models.items():
        run = list(states(stepper(model, DormandPrince()), EXACT))
        truths[name] = [run[0][1], *(new for _, _, new in run)]
    print(f"{'':14}nominal    measured: at the end (within steps)")
    print(f"{'':14}       " + "".join(name.rjust(16) for name in models))
    for name in INTEGRATORS:
        cells = []
        counts = (20, 40) if integrator_of(name).order < 5 else (8, 16)  # the fifth order is soon at rounding
        for label, model in models.items():
            coarse, fine = (errors(model, integrator_of(name), n, truths[label]) for n in counts)
            measured = (np.log2(a / b) for a, b in zip(coarse, fine, strict=True))
            cells.append("{:6.2f} ({:5.2f})".format(*measured).rjust(16))
        print(f"{name:14}{integrator_of(name).order:7}" + "".join(cells))


def speed() -> None:
    """Microseconds for a step of one state, called from Python, and in the native loop of a rollout."""
    models = {"double_pendulum": 1.0, "arm": 1.0}
    print(f"\n{'µs per step':14}" + "".join(f"{name:>18}  rollout" for name in models))
    for name in INTEGRATORS:
        line = f"{name:14}"
        for label in models:
            model = kn.robots.load(label)
            stepping = stepper(model, integrator_of(name))
            state = stepping.start(0.0, kn.neutral(model), np.zeros(model.nv), DT)
            state = stepping.step(0.0, state, DT)
            each = timed(lambda s=stepping, x=state: s.step(0.0, x, DT), 200)
            native = "       -"
            if not name.startswith("bdf") and (label, name) != ("arm", "variational4"):
                roll: Callable[[], Any] = lambda m=model, x=state, n=name: kn.rollout(  # noqa: E731
                    m, x.q, x.v, None, DT, steps=5000, save_every=5000, integrator=n
                )
                roll()
                native = f"{timed(roll, 3) / 5000:8.2f}"
            line += f"{each:18.1f} {native}"
        print(line)


def timed(call: Callable[[], Any], times: int) -> float:
    """The shortest of five, in µs."""
    best = np.inf
    for _ in range(5):
        begin = time.perf_counter()
        for _ in range(times):
            call()
        best = min(best, (time.perf_counter() - begin) / times)
    return 1e6 * best


def energy(steps: int) -> None:
    model = kn.robots.load("double_pendulum")
    print(f"\ndouble pendulum, {steps} steps of a millisecond: energy error over the largest kinetic energy")
    for q0 in ((1.2, 0.4), (1.5, 1.0)):
        for integrator in (Variational(), Variational(order=4), RungeKutta4(), SemiImplicitEuler()):
            q, v = np.array(q0), np.zeros(2)
            begin = time.perf_counter()
            found = kn.rollout(model, q, v, None, DT, steps=steps, save_every=100, integrator=integrator)
            wall = time.perf_counter() - begin
            T = kn.kinetic_energy(model, found.q, found.v)
            error = T + kn.potential_energy(model, found.q)
            error = (error - error[0]) / T.max()
            drift = error[-len(error) // 10 :].mean() - error[: len(error) // 10].mean()
            name = f"{type(integrator).__name__} {integrator.order}"
            print(f"  from {q0}  {name:20} largest {np.abs(error).max():.1e}  drift {drift:+.1e}  {wall:.1f} s")


def momentum(steps: int) -> None:
    builder = kn.Builder("tumbling", gravity=(0.0, 0.0, 0.0))
    builder.body("body", joint=kn.joints.Free(), mass=1.0, inertia=(0.1, 0.2, 0.3))
    model = builder.build()
    v = np.array([0.01, 3.0, 0.02, 0.1, -0.2, 0.3])
    print(f"\ntumbling body, {steps} steps of a millisecond: largest change of the angular momentum, energy")
    for integrator in (Variational(), RungeKutta4(), SemiImplicitEuler()):
        found = kn.rollout(model, kn.neutral(model), v, None, DT, steps=steps, save_every=100, integrator=integrator)
        h, T = kn.momentum(model, found.q, found.v), kn.kinetic_energy(model, found.q, found.v)
        name = f"{type(integrator).__name__} {integrator.order}"
        print(f"  {name:20} {np.abs(h - h[0]).max():.1e}  {np.abs(T / T[0] - 1).max():.1e}")


def beside_mujoco() -> None:
    try:
        import mujoco
    except ImportError:
        print("\nMuJoCo is not installed")
        return
    mj: Any = mujoco
    print("\none second by RK4 at a millisecond, no contact, no damping: largest differences from MuJoCo in q and v")
    for name in ("arm", "humanoid"):
        model = kn.robots.load(name).without_friction()
        theirs = mj.MjModel.from_xml_string(kn.formats.to_mjcf(model, lossy=True))
        theirs.opt.integrator, theirs.opt.timestep = mj.mjtIntegrator.mjINT_RK4, DT
        theirs.opt.disableflags |= mj.mjtDisableBit.mjDSBL_CONTACT | mj.mjtDisableBit.mjDSBL_LIMIT
        there, data = kn.formats.adapters.mujoco(model, theirs), mj.MjData(theirs)
        rng = np.random.default_rng(0)
        q, v = kn.random_configuration(model, rng), 0.5 * rng.normal(size=model.nv)
        data.qpos[:], data.qvel[:] = there.q_to(q), there.v_to(q, v)
        found = kn.rollout(model, q, v, None, DT, steps=1000, save_every=1000, integrator="rk4")
        for _ in range(1000):
            mj.mj_step(theirs, data)
        dq = kn.difference(model, found.q[-1], there.q_from(data.qpos))
        dv = found.v[-1] - there.v_from(data.qpos, data.qvel)
        print(f"  {name:10} {np.abs(dq).max():.1e}  {np.abs(dv).max():.1e}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=1_000_000, help="steps of the energy run")
    steps = parser.parse_args().steps
    orders()
    speed()
    energy(steps)
    momentum(steps // 10)
    beside_mujoco()


if __name__ == "__main__":
    main()
