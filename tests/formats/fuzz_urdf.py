"""Mutated URDF files: only a `ModelError` or a valid model may come out, within a second and 500 MB.

    python tests/formats/fuzz_urdf.py --count 100000 --seed 0 --jobs 2
    python tests/formats/fuzz_urdf.py --seed 0 --case 4711        # one case again, with its document

Every case is drawn from its own generator, seeded by (seed, number), so any of them can be run alone.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import math
import multiprocessing
import random
import re
import resource
import signal
import sys
import sysconfig
import time
import traceback
import xml.etree.ElementTree as ElementTree
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from knuckle.errors import ModelError
from knuckle.formats import loads, read_json, read_urdf, to_json, to_urdf
from knuckle.model import Model
from knuckle.model.rules import check

MAX_SECONDS = 1.0
MAX_MEGABYTES = 500.0
HANG_SECONDS = 20.0

INERTIAL = (
    '<inertial><origin xyz="0.1 0 0.2" rpy="0.1 0 0"/><mass value="1.5"/>'
    '<inertia ixx="0.2" ixy="0.01" ixz="0" iyy="0.3" iyz="0" izz="0.25"/></inertial>'
)


def _link(name: str, inside: str = INERTIAL) -> str:
    return f'<link name="{name}">{inside}</link>'


def _joint(name: str, kind: str, parent: str, child: str, inside: str = "") -> str:
    place = '<origin xyz="0 0.1 0.3" rpy="0 1.5707963267948966 0"/>'
    return (
        f'<joint name="{name}" type="{kind}">{place}<parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="0 0 1"/><limit lower="-1" upper="1" velocity="2" effort="3"/>{inside}</joint>'
    )


_SHAPES = (
    '<visual name="v"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry><material name="blue"/></visual>'
    '<visual><geometry><mesh filename="package://arm/meshes/a.stl" scale="0.001 0.001 0.001"/></geometry>'
    '<material name="own"><color rgba="1 0 0 1"/><texture filename="t.png"/></material></visual>'
    '<collision><geometry><cylinder radius="0.1" length="0.5"/></geometry></collision>'
    '<collision><geometry><sphere radius="0.1"/></geometry></collision>'
    '<collision><geometry><capsule radius="0.1" length="0.2"/></geometry></collision>'
)
_KINDS = ("revolute", "continuous", "prismatic", "floating", "planar", "fixed")

OWN = {
    "all joints": '<?xml version="1.0"?><robot name="all">'
    + "".join(_link(f"l{k}") for k in range(7))
    + "".join(_joint(f"j{k}", kind, f"l{k}", f"l{k + 1}") for k, kind in enumerate(_KINDS))
    + "</robot>",
    "gripper": '<robot name="gripper">'
    + "".join(map(_link, "abcde"))
    + _joint("ab", "revolute", "a", "b", '<dynamics damping="0.1" friction="0.2"/>')
    + _joint("bc", "prismatic", "b", "c", '<mimic joint="ab" multiplier="-2" offset="0.1"/>')
    + _joint("bd", "revolute", "b", "d", '<mimic joint="bc"/><calibration rising="0.1"/>')
    + _joint("ae", "continuous", "a", "e", '<safety_controller k_velocity="1" soft_lower_limit="-1"/>')
    + "</robot>",
    "shapes": '<robot name="shapes" version="1.0"><material name="blue"><color rgba="0 0 1 1"/></material>'
    + _link("a", INERTIAL + _SHAPES)
    + _link("b", _SHAPES)
    + _joint("ab", "fixed", "a", "b")
    + '<gazebo reference="a"><selfCollide>true</selfCollide></gazebo>'
    + '<transmission name="t"><type>x</type></transmission>'
    + "</robot>",
    "out of order": '<robot name="order" xmlns:xacro="http://ros.org/wiki/xacro">'
    + "".join(_link(f"l{k}", "" if k % 3 == 0 else INERTIAL) for k in range(12))
    + "".join(_joint(f"j{k}", _KINDS[k % 3], f"l{(k - 1) // 2}", f"l{k}") for k in (11, 3, 7, 1, 2, 9, 4, 5, 6, 8, 10))
    + "</robot>",
    "one link": '<robot name="r"><link name="a"/></robot>',
}

TAGS = (
    "robot", "link", "joint", "origin", "parent", "child", "axis", "limit", "mimic", "dynamics", "inertial", "mass",
    "inertia", "visual", "collision", "geometry", "box", "sphere", "cylinder", "capsule", "mesh", "material", "color",
    "texture", "calibration", "safety_controller", "gazebo", "sdf", "x", "xacro:macro", "ns:tag",
)  # fmt: skip
ATTRIBUTES = (
    "name", "type", "link", "joint", "xyz", "rpy", "value", "ixx", "iyy", "lower", "upper", "velocity", "effort",
    "size", "radius", "length", "filename", "scale", "rgba", "multiplier", "offset", "damping", "friction", "zzz",
)  # fmt: skip
VALUES = (
    "", " ", "nan", "inf", "-inf", "1e400", "-1e400", "1e-400", "-0", "0", "-1", "1e-300", "1e12", "1.0000001e12",
    "1e16", "0x10", "1_0", "1,5", "one", "1" * 400, "0." + "0" * 400 + "1",
    "0 0 0", "0 0 1", "1 2", "1 2 3 4", "nan nan nan", "1e300 1e300 1e300", "0 0 0 0", "1e12 -1e12 1e12", "1 " * 3000,
    "revolute", "fixed", "floating", "planar", "continuous", "prismatic", "helical",
    "a", "b", "l0", "l1", "j0", "ab", "bc", "world", "universe", "floating_base",
    "${pi}", "$(find x)", "package://", "file:///", "../../../etc/passwd", "http://x/y", "%00",
    "\u0663", "\u00e9\u4e2d\U0001f600", "\u202e", "&lt;", "a\nb", "x" * 2000, "x" * 200_000,
)  # fmt: skip


@dataclass
class Outcome:
    """What came of many cases."""

    counts: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)
    slowest: tuple[float, int] = (0.0, -1)
    megabytes: float = 0.0

    def add(self, other: Outcome) -> None:
        self.counts.update(other.counts)
        self.failures += other.failures
        self.slowest = max(self.slowest, other.slowest)
        self.megabytes = max(self.megabytes, other.megabytes)


def bases() -> list[bytes]:
    """Our own documents, and a few small real ones where the package example-robot-data is installed."""
    found = [text.encode() for text in OWN.values()]
    folder = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share" / "example-robot-data" / "robots"
    small = sorted(p for p in folder.rglob("*.urdf") if p.stat().st_size < 8_000) if folder.is_dir() else []
    return found + [p.read_bytes() for p in small[:6]]


# mutations of the tree


def _elements(root: ElementTree.Element) -> list[ElementTree.Element]:
    return list(root.iter())


def _pairs(root: ElementTree.Element) -> list[tuple[ElementTree.Element, ElementTree.Element]]:
    """(parent, child) of every element but the root."""
    return [(parent, child) for parent in root.iter() for child in parent]


def delete(root: ElementTree.Element, rng: random.Random) -> None:
    if pairs := _pairs(root):
        parent, child = rng.choice(pairs)
        parent.remove(child)


def duplicate(root: ElementTree.Element, rng: random.Random) -> None:
    if pairs := _pairs(root):
        parent, child = rng.choice(pairs)
        for _ in range(rng.choice((1, 1, 1, 2, 50))):
            parent.insert(rng.randint(0, len(parent)), child)


def move(root: ElementTree.Element, rng: random.Random) -> None:
    if pairs := _pairs(root):
        parent, child = rng.choice(pairs)
        inside = set(child.iter())
        parent.remove(child)
        target = rng.choice([e for e in root.iter() if e not in inside])
        target.insert(rng.randint(0, len(target)), child)


def shuffle(root: ElementTree.Element, rng: random.Random) -> None:
    element = rng.choice(_elements(root))
    children = list(element)
    rng.shuffle(children)
    element[:] = children


def retag(root: ElementTree.Element, rng: random.Random) -> None:
    rng.choice(_elements(root)).tag = rng.choice(TAGS)


def swap_tags(root: ElementTree.Element, rng: random.Random) -> None:
    a, b = rng.choice(_elements(root)), rng.choice(_elements(root))
    a.tag, b.tag = b.tag, a.tag


def set_value(root: ElementTree.Element, rng: random.Random) -> None:
    with_attributes = [e for e in root.iter() if e.attrib]
    if with_attributes:
        element = rng.choice(with_attributes)
        element.set(rng.choice(list(element.attrib)), rng.choice(VALUES))


def set_number(root: ElementTree.Element, rng: random.Random) -> None:
    """One number of an attribute replaced."""
    numeric = [(e, k) for e in root.iter() for k, v in e.attrib.items() if re.fullmatch(r"[-+0-9. eE]+", v)]
    if numeric:
        element, key = rng.choice(numeric)
        words = (element.get(key) or "").split() or ["0"]
        words[rng.randrange(len(words))] = rng.choice(VALUES)
        element.set(key, " ".join(words))


def swap_values(root: ElementTree.Element, rng: random.Random) -> None:
    """The values of two attributes of the same name exchanged: names, parents and children get mixed up."""
    places = [(e, k) for e in root.iter() for k in e.attrib]
    if places:
        a, key = rng.choice(places)
        b, _ = rng.choice([(e, k) for e, k in places if k == key])
        a.attrib[key], b.attrib[key] = b.attrib[key], a.attrib[key]


def drop_attribute(root: ElementTree.Element, rng: random.Random) -> None:
    places = [(e, k) for e in root.iter() for k in e.attrib]
    if places:
        element, key = rng.choice(places)
        del element.attrib[key]


def add_attribute(root: ElementTree.Element, rng: random.Random) -> None:
    rng.choice(_elements(root)).set(rng.choice(ATTRIBUTES), rng.choice(VALUES))


def add_element(root: ElementTree.Element, rng: random.Random) -> None:
    element = ElementTree.Element(rng.choice(TAGS), {rng.choice(ATTRIBUTES): rng.choice(VALUES)})
    rng.choice(_elements(root)).insert(0, element)


def nest(root: ElementTree.Element, rng: random.Random) -> None:
    element, tag = rng.choice(_elements(root)), rng.choice(TAGS)
    for _ in range(rng.choice((5, 150, 198, 205, 400))):
        element = ElementTree.SubElement(element, tag)


def add_text(root: ElementTree.Element, rng: random.Random) -> None:
    rng.choice(_elements(root)).text = rng.choice((*VALUES, "text " * 5000))


TREE: tuple[Callable[[ElementTree.Element, random.Random], None], ...] = (
    delete, duplicate, move, shuffle, retag, swap_tags, set_value, set_value, set_number, set_number, swap_values,
    swap_values, drop_attribute, add_attribute, add_element, nest, add_text,
)  # fmt: skip


# mutations of the bytes


def flip(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def truncate(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data))]


def cut(data: bytes, rng: random.Random) -> bytes:
    a = rng.randrange(len(data))
    return data[:a] + data[a + rng.choice((1, 5, 100)) :]


def repeat(data: bytes, rng: random.Random) -> bytes:
    a = rng.randrange(len(data))
    return data[:a] + data[a : a + rng.choice((1, 20, 300))] * rng.choice((2, 100)) + data[a:]


def bomb(data: bytes, rng: random.Random) -> bytes:
    levels = "".join(f'<!ENTITY e{i} "{f"&e{i - 1};" * 10}">' for i in range(1, rng.choice((3, 9, 30))))
    return f'<!DOCTYPE robot [<!ENTITY e0 "ha">{levels}]>'.encode() + data.replace(b'"0"', b'"&e1;"')


def external(data: bytes, rng: random.Random) -> bytes:
    return b'<!DOCTYPE robot SYSTEM "file:///dev/zero" [<!ENTITY x SYSTEM "/etc/passwd">]>' + data


def declare(data: bytes, rng: random.Random) -> bytes:
    encoding = rng.choice(("utf-16", "latin-1", "ascii", "utf-7", "cp037", "klingon", "zlib", "shift_jis", ""))
    return f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + re.sub(rb"^\s*<\?xml[^>]*\?>", b"", data)


def recode(data: bytes, rng: random.Random) -> bytes:
    return data.decode(errors="replace").encode(rng.choice(("utf-16", "utf-16-be", "utf-8-sig", "utf-32")))


def garbage(data: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((1, 10, 1000)))


BYTES: tuple[Callable[[bytes, random.Random], bytes], ...] = (
    flip, flip, flip, truncate, cut, repeat, bomb, external, declare, recode, garbage,
)  # fmt: skip


def document(base: list[bytes], seed: int, case: int) -> tuple[bytes, dict[str, Any], random.Random]:
    """The mutated document of a case, and how to load it."""
    rng = random.Random(f"{seed}:{case}")
    data = rng.choice(base)
    if rng.random() < 0.9:
        root = ElementTree.fromstring(data)
        for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
            rng.choice(TREE)(root, rng)
        data = ElementTree.tostring(root, encoding="utf-8")
    if rng.random() < 0.25:
        data = rng.choice(BYTES)(data, rng)
    options = {
        "base": rng.choice(("fixed", "fixed", "floating")),
        "mimic": rng.random() < 0.8,
        "merge_fixed": rng.random() < 0.8,
    }
    return data, options, rng


# judgement


def validate(model: Model, thorough: bool) -> None:
    """A model is valid if its own rules hold, its numbers are finite, and files give it again."""
    check(model)
    if not (0 <= model.nv <= model.nq <= 7 * max(model.nb, 1)):
        raise AssertionError(f"nq={model.nq}, nv={model.nv} with {model.nb} bodies")
    for X in (*model.X_tree, *(frame.X for frame in model.frames)):
        E = [[float(x) for x in row] for row in X.E]
        if not all(math.isfinite(float(x)) for x in X.r):
            raise AssertionError(f"a placement that is not finite: {X}")
        for i in range(3):
            for j in range(3):
                if abs(sum(a * b for a, b in zip(E[i], E[j], strict=True)) - (i == j)) > 1e-12:
                    raise AssertionError(f"a rotation that is none: {X.E}")
    for body in (model.base, *model.bodies):
        if not all(math.isfinite(float(x)) for x in (body.inertia.mass, *body.inertia.h, *body.inertia.I)):
            raise AssertionError(f"an inertia that is not finite: {body.name}")
    if thorough:
        if read_json(to_json(model)) != model:
            raise AssertionError("JSON does not give the model again")
        back = read_urdf(to_urdf(model), merge_fixed=not any(not j.type.nv for j in model.joints))
        if (back.nq, back.nv, back.couplings) != (model.nq, model.nv, model.couplings):
            raise AssertionError("URDF does not give the model again")


def category(message: str) -> str:
    """An error message without its particulars."""
    plain = re.sub(r"""'[^']*'|"[^"]*"|\([^)]*\)|[-+]?\d[\d.e+]*|<[^>]*>""", "·", message)
    return re.split(r"[;:.]", re.sub(r"\b[a-z_]+=·", "attribute", plain))[0].strip()


@contextlib.contextmanager
def alarm(seconds: float) -> Iterator[None]:
    """Turn a hang into an error, where the system can."""

    def ring(*_: object) -> None:
        raise TimeoutError(f"no answer within {seconds:g} s")

    if not hasattr(signal, "setitimer"):
        yield
        return
    old = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, old)


def run_case(base: list[bytes], seed: int, case: int) -> tuple[str, float]:
    """The category of a case's outcome, and the seconds it took. Anything but a model or `ModelError` is raised.

    The seconds are those of the processor, so that a busy machine does not count; the alarm sees a wait.
    """
    data, options, rng = document(base, seed, case)
    read = loads if rng.random() < 0.1 else read_urdf
    start = time.process_time()
    try:
        with alarm(HANG_SECONDS):
            model = read(data, **options)
    except ModelError as error:
        seconds = time.process_time() - start
        if len(str(error)) > 2000:
            raise AssertionError(f"an error message of {len(str(error))} characters") from None
        return f"error: {category(error.message)}", seconds
    seconds = time.process_time() - start
    validate(model, thorough=rng.random() < 0.05)
    return "model", seconds


def megabytes() -> float:
    """The most memory this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def run(seed: int, first: int, last: int) -> Outcome:
    """The cases from `first` up to `last`."""
    outcome, base, before = Outcome(), bases(), megabytes()
    for case in range(first, last):
        try:
            name, seconds = run_case(base, seed, case)
        except Exception:
            outcome.failures.append(f"case {case} of seed {seed}:\n{traceback.format_exc(limit=-4)}")
            continue
        outcome.counts[name] += 1
        outcome.slowest = max(outcome.slowest, (seconds, case))
        if seconds > MAX_SECONDS:
            outcome.failures.append(f"case {case} of seed {seed} took {seconds:.2f} s")
    outcome.megabytes = megabytes()
    if outcome.megabytes > max(MAX_MEGABYTES, before + 50):  # the process may have been large before
        outcome.failures.append(f"{outcome.megabytes:.0f} MB of memory, {before:.0f} MB before")
    return outcome


def _run(arguments: tuple[int, int, int]) -> Outcome:
    return run(*arguments)


def report(outcome: Outcome, seconds: float) -> str:
    total = sum(outcome.counts.values()) + len(outcome.failures)
    lines = [f"{n:8d}  {name}" for name, n in outcome.counts.most_common()]
    seconds_of_slowest, case = outcome.slowest
    lines += [
        f"{total:8d}  cases in {seconds:.0f} s; slowest {seconds_of_slowest:.3f} s (case {case}); "
        f"peak {outcome.megabytes:.0f} MB; {len(outcome.failures)} failures",
    ]
    return "\n".join([*lines, *outcome.failures[:20]])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    if options.case is not None:
        data, how, _ = document(bases(), options.seed, options.case)
        print(data[:5000].decode(errors="backslashreplace"), how, sep="\n")
        print(*run_case(bases(), options.seed, options.case))
        return 0
    start, outcome = time.perf_counter(), Outcome()
    edges = [options.count * k // (10 * options.jobs) for k in range(10 * options.jobs + 1)]
    parts = [(options.seed, a, b) for a, b in itertools.pairwise(edges) if a < b]
    if options.jobs == 1:
        for part in parts:
            outcome.add(_run(part))
    else:
        with multiprocessing.Pool(options.jobs) as pool:
            for done in pool.imap_unordered(_run, parts):
                outcome.add(done)
    print(report(outcome, time.perf_counter() - start))
    return 1 if outcome.failures else 0


if __name__ == "__main__":
    sys.exit(main())
