"""A compiled MuJoCo model while it is being translated: names, notes, where its frames are."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

from knuckle.formats.right_angles import placed
from knuckle.model import Note
from knuckle.spatial import Transform, rotation

from .geoms.geom_contact import GeomContacts, geom_contacts

_OBJECTS = {
    "joint": ("mjOBJ_JOINT", "njnt"), "body": ("mjOBJ_BODY", "nbody"), "site": ("mjOBJ_SITE", "nsite"),
    "mesh": ("mjOBJ_MESH", "nmesh"), "material": ("mjOBJ_MATERIAL", "nmat"), "equality": ("mjOBJ_EQUALITY", "neq"),
    "tendon": ("mjOBJ_TENDON", "ntendon"), "keyframe": ("mjOBJ_KEY", "nkey"), "geom": ("mjOBJ_GEOM", "ngeom"),
    "pair": ("mjOBJ_PAIR", "npair"), "flex": ("mjOBJ_FLEX", "nflex"),
}  # fmt: skip


class MjcfSource:
    """What MuJoCo compiled (`m`), and the notes on what does not come over as it was."""

    def __init__(self, m: Any) -> None:
        import mujoco

        self.m, self.mujoco = m, mujoco
        self.notes: list[Note] = []
        self.soft: set[int] = set()
        """Bodies that are vertices of deformable bodies, and no bodies here"""
        self._taken: dict[str, set[str]] = {"frame": {"world"}, "joint": set(), "element": set(), "actuator": set()}
        self.muscles: set[int] = set()
        """Actuators that have become laws of lines"""
        self.actuators: set[int] = set()
        """Those that have become actuators"""
        self.unread: dict[int, str] = {}
        """Why others have not"""
        self.lines: dict[int, str] = {}
        """Names of the lines of tendons"""
        self._names: dict[str, list[str]] = {}

    def note(self, level: str, subject: str, text: str) -> None:
        self.notes.append(Note(level, subject, text))

    def name(self, kind: str, k: int) -> str:
        """The name of an element; one without gets its kind and number."""
        if kind not in self._names:
            self._names[kind] = self._named(kind)
        return self._names[kind][k]

    def _named(self, kind: str) -> list[str]:
        actuators = "mjOBJ_ACTUATOR", "nactuator" if hasattr(self.m, "nactuator") else "nu"
        word, size = actuators if kind == "actuator" else _OBJECTS[kind]
        code = getattr(self.mujoco.mjtObj, word)
        given = [self.mujoco.mj_id2name(self.m, code, k) or "" for k in range(int(getattr(self.m, size)))]
        taken = set(given)
        for k, name in enumerate(given):
            if not name:
                given[k] = f"{kind}{k}"
                while given[k] in taken:
                    given[k] += "_"
        return given

    @cached_property
    def contacts(self) -> GeomContacts:
        """How its geoms touch."""
        return geom_contacts(self)

    @cached_property
    def start(self) -> Any:
        """MuJoCo's data where the mechanism starts: where its parts are."""
        data = self.mujoco.MjData(self.m)
        self.mujoco.mj_kinematics(self.m, data)
        return data

    def listed(self, kind: str, numbers: Sequence[int], most: int = 8) -> str:
        """The names of some elements, the first of them if there are many."""
        names = ", ".join(self.name(kind, k) for k in numbers[:most])
        return names + (f" and {len(numbers) - most} more" if len(numbers) > most else "")

    def disabled(self, *features: str) -> bool:
        """Whether the file switches one of these features off: "GRAVITY", "SPRING", "DAMPER", …"""
        bits = sum(int(getattr(self.mujoco.mjtDisableBit, f"mjDSBL_{name}", 0)) for name in features)
        return bool(int(self.m.opt.disableflags) & bits)

    def has(self, field: str, k: int) -> bool:
        """Whether a property of element k is not zero; not every version of MuJoCo has it."""
        return hasattr(self.m, field) and bool(getattr(self.m, field)[k].any())

    def claim(self, space: str, name: str, suffix: str) -> str:
        """A name that nothing else of the model has; bodies, sites and the world share one space here."""
        taken, chosen = self._taken[space], name
        while chosen in taken:
            chosen += suffix
        if chosen != name:
            self.note("info", chosen, f"renamed: something else is called {name!r}")
        taken.add(chosen)
        return chosen

    def used(self, names: Iterable[str]) -> None:
        """Names of frames that are given later."""
        self._taken["frame"].update(names)


def numbers(values: Any) -> tuple[float, ...]:
    """An array of MuJoCo's as Python's own floats, without negative zeros."""
    return tuple(float(x) + 0.0 for x in values)


def transform(pos: Any, quat: Any, origin: Any = (0.0, 0.0, 0.0)) -> Transform:
    """The transform to a frame at `pos` with orientation `quat`, from a frame with the same axes at `origin`."""
    r = tuple(a - b for a, b in zip(numbers(pos), numbers(origin), strict=True))
    return placed(rotation.from_quaternion(numbers(quat)), r)  # type: ignore[arg-type]
