"""Random scenes with contact: no NaN, no tunnelling, no energy out of nothing.

    python benchmarks/contact_fuzz.py [--ways rollout soft …] [--groups 10] [--seed 0] [--rows file] [--out folder]

Bodies have random shapes, masses from 1 to 1e4 kg, friction from 0 to 2, restitution from 0 to 1, on a plane; many
overlap at the beginning. In a step no body goes more than a quarter of its width at the beginning. A group is some
bodies and surfaces from several states. They move by every way that contacts are solved:

- rollout: compiled steps, in `kn.rollout`, of one to three bodies;
- simulate: the same in `kn.simulate`;
- near: six to nine balls in `kn.simulate`, steps of those that are near each other;
- arrays: shapes without a text, and piles of boxes, in `kn.simulate`, solved on arrays;
- events: from event to event (`RigidContacts`), of bodies that do not overlap;
- soft: `CompliantContacts` in `kn.rollout`.

contact_laws.py has the laws that are checked. What was not solved, and runs that end with a message, are counted: a
status, not silence. With --rows a line of JSON is appended to a file for each group, and the table is that of the whole
file; with --out it is also written to contact_fuzz.md. Exits with 1 if a law was broken.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from contact_laws import Tally, check_events, check_soft, check_steps
from contact_random import (
    RandomScene,
    any_bodies,
    apart,
    boxes,
    few_bodies,
    many_balls,
    soft_bodies,
)

import knuckle as kn
from knuckle.contact import CompliantContacts, RigidContacts, ShapeCollider
from knuckle.integrators import ContactSteps
from knuckle.integrators.base import Integrator
from knuckle.integrators.methods.collider_steps import ColliderSteps

Way = Callable[[np.random.Generator, str, int], Tally]
COUNT = {"rollout": 100, "simulate": 8, "near": 5, "arrays": 5, "events": 5, "soft": 100}
"""Scenes of a group."""


@contextmanager
def counted(tally: Tally) -> Iterator[None]:
    """Steps that were not solved, by the warnings that say so."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for warning in caught:
        if found := re.match(r"contacts were not solved to .*? in (\d+) steps", str(warning.message)):
            tally.unsolved += int(found[1])


def by_rollout(rng: np.random.Generator, name: str, steps: int) -> Tally:
    scene, tally = few_bodies(rng, COUNT["rollout"], steps), Tally()
    with counted(tally):
        motion = kn.rollout(scene.model, scene.q, scene.v, None, scene.dt, steps=steps, integrator=ContactSteps())
    for k in range(len(scene.q)):
        check_steps(scene, f"{name}[{k}]", motion.q[k], motion.v[k], tally)
    return tally


def by_simulate(rng: np.random.Generator, name: str, steps: int) -> Tally:
    return _simulated(few_bodies(rng, COUNT["simulate"], steps), name)


def near(rng: np.random.Generator, name: str, steps: int) -> Tally:
    return _simulated(many_balls(rng, COUNT["near"], steps), name)


def on_arrays(rng: np.random.Generator, name: str, steps: int) -> Tally:
    made = any_bodies if rng.uniform() < 0.7 else boxes
    scene = made(rng, COUNT["arrays"], steps)
    return _simulated(scene, name, ColliderSteps(ShapeCollider.of(scene.model)))


def _simulated(scene: RandomScene, name: str, integrator: Integrator | None = None) -> Tally:
    """By `kn.simulate`, with what it chooses, if no integrator is given."""
    tally = Tally()
    for k, (q, v) in enumerate(zip(scene.q, scene.v, strict=True)):
        with counted(tally):
            motion = kn.simulate(scene.model, q, v, scene.steps * scene.dt, dt=scene.dt, integrator=integrator)
        if motion.reason != "finished":
            tally.broken.append(f"{name}[{k}]: {motion.reason}: {motion.message}")
        check_steps(scene, f"{name}[{k}]", motion.q, motion.v, tally)
    return tally


def by_events(rng: np.random.Generator, name: str, steps: int) -> Tally:
    scene, tally = apart(rng, COUNT["events"], steps), Tally()
    for k, (q, v) in enumerate(zip(scene.q, scene.v, strict=True)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            motion = kn.simulate(scene.model, q, v, steps * 1e-3, dt=1e-3, contacts=RigidContacts())
        check_events(scene, f"{name}[{k}]", motion, tally)
    return tally


def softly(rng: np.random.Generator, name: str, steps: int) -> Tally:
    scene, tally = soft_bodies(rng, COUNT["soft"], steps), Tally()
    laws = ("linear", "featherstone", "hunt-crossley")
    contacts = CompliantContacts(laws[rng.integers(3)], friction=("spring", "regularized", None)[rng.integers(3)])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        motion = kn.rollout(
            scene.model, scene.q, scene.v, None, scene.dt, steps=2 * steps, integrator="rk4", contacts=contacts
        )
    is_told = any("too stiff for rk4" in str(warning.message) for warning in caught)
    for k in range(len(scene.q)):
        name_k = f"{name}[{k}] {contacts.law}, {contacts.friction}"
        check_soft(scene, contacts, name_k, motion.q[k], motion.v[k], tally, is_told=is_told)
    return tally


WAYS: dict[str, Way] = {
    "rollout": by_rollout, "simulate": by_simulate, "near": near, "arrays": on_arrays, "events": by_events,
    "soft": softly,
}  # fmt: skip


def fuzz(way: str, seed: int, group: int, steps: int) -> Tally:
    """A group of scenes of one way."""
    rng = np.random.default_rng([seed, list(WAYS).index(way), group])
    return WAYS[way](rng, f"{way}, seed {seed}, group {group}", steps)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(WAYS), help="some only")
    parser.add_argument("--groups", type=int, default=10, help="of scenes, for each way")
    parser.add_argument("--count", type=int, default=None, help="scenes of a group, where not the usual number")
    parser.add_argument("--first", type=int, default=0, help="the number of the first group")
    parser.add_argument("--steps", type=int, default=200, help="of each scene")
    parser.add_argument("--seed", type=int, default=0, help="another one makes other scenes")
    parser.add_argument("--rows", type=Path, default=None, help="a file to which a line is added for each group")
    parser.add_argument("--out", type=Path, default=None, help="where contact_fuzz.md goes")
    chosen = parser.parse_args()
    if chosen.count is not None:
        COUNT.update(dict.fromkeys(chosen.ways, chosen.count))
    whole, begin = {way: Tally() for way in chosen.ways}, time.perf_counter()
    for group in range(chosen.first, chosen.first + chosen.groups):
        for way in chosen.ways:
            tally = fuzz(way, chosen.seed, group, chosen.steps)
            whole[way].add(tally)
            if chosen.rows is not None:
                row = {"way": way, "seed": chosen.seed, "group": group, "tally": vars(tally)}
                with chosen.rows.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
            print("\n".join(tally.broken), end="\n" if tally.broken else "", flush=True)
        done = sum(tally.scenes for tally in whole.values())
        print(f"group {group}: {done} scenes, {time.perf_counter() - begin:.0f} s", flush=True)
    if chosen.rows is not None:
        whole = read(chosen.rows)
    print(page(whole))
    if chosen.out is not None:
        (chosen.out / "contact_fuzz.md").write_text(page(whole) + "\n", "utf-8")
    return int(any(tally.broken for tally in whole.values()))


def read(path: Path) -> dict[str, Tally]:
    """All groups of a file, by their ways."""
    whole: dict[str, Tally] = {}
    for line in path.read_text("utf-8").splitlines():
        row = json.loads(line)
        whole.setdefault(row["way"], Tally()).add(Tally(**row["tally"]))
    return {way: whole[way] for way in WAYS if way in whole}


def page(whole: dict[str, Tally]) -> str:
    """The results as a table in Markdown."""
    head = ("way", "scenes", "steps", "unsolved", "ended with a message", "energy rises by", "deepest", "laws broken")
    both = Tally()
    for tally in whole.values():
        both.add(tally)
    rows = [*whole.items(), ("all", both)]
    cells = (
        (
            way,
            x.scenes,
            x.steps,
            x.unsolved,
            x.ended,
            f"{max(x.rise, 0.0):.0e}" if x.rise > 0 else "0",
            f"{x.depth:.0e}",
            len(x.broken),
        )
        for way, x in rows
    )
    lines = ["| " + " | ".join(map(str, row)) + " |" for row in (head, ["---"] * len(head), *cells)]
    return "\n".join(["\n".join(lines), EXPLAINED, *(f"- {text}" for text in both.broken)])


EXPLAINED = """
Unsolved are steps whose residual is above 1e-6 m/s, by the warning that says so; of soft contacts those of scenes whose
energy rises after a warning that the steps are too long. Energy: the largest rise beyond the
laws of contact_laws.py, in parts of the energy of a scene; for events and soft contacts the largest rise at all.
Deepest: the largest overlap beyond that of the beginning, in widths of the smallest body.
"""


if __name__ == "__main__":
    sys.exit(main())
