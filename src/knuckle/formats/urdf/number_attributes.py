"""Numbers in XML attributes: plain decimal, finite, of a size that means something, whatever the locale."""

from __future__ import annotations

import math
import re

from knuckle.formats.xml import Element, shorten

from .urdf_source import UrdfSource

LARGEST = 1e12
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_INFINITE = re.compile(r"([+-]?)inf(?:inity)?", re.IGNORECASE)
_SPACE = re.compile(r"[ \t\r\n]+")


def numbers(
    source: UrdfSource, element: Element, key: str, n: int, owner: str, default: tuple[float, ...] | None = None
) -> tuple[float, ...]:
    """The `n` numbers of an attribute; `default` where it is missing, or an error if there is none."""
    if default is not None and key not in element.attributes:
        return default
    text = source.attribute(element, key, owner)
    words = [word for word in _SPACE.split(text) if word]
    if len(words) != n:
        expected = "a number" if n == 1 else f"{n} numbers"
        raise source.error(element, owner, f'{key}="{shorten(text)}" has {len(words)} entries; expected {expected}')
    return tuple(_number(source, element, key, word, owner) for word in words)


def number(source: UrdfSource, element: Element, key: str, owner: str, default: float | None = None) -> float:
    """The number of an attribute; `default` where it is missing, or an error if there is none."""
    return numbers(source, element, key, 1, owner, None if default is None else (default,))[0]


def bound(source: UrdfSource, element: Element, key: str, owner: str, default: float) -> float:
    """A number that limits another. Beyond 10¹², as files write for "none", it is infinite."""
    text = element.attributes.get(key, "").strip()
    infinite = _INFINITE.fullmatch(text)
    huge = _NUMBER.fullmatch(text) and abs(float(text)) > LARGEST
    if infinite or huge:
        return -math.inf if text.startswith("-") else math.inf
    return number(source, element, key, owner, default)


def _number(source: UrdfSource, element: Element, key: str, word: str, owner: str) -> float:
    what = f'{key}="{shorten(element.attributes[key])}"'
    if not _NUMBER.fullmatch(word):
        expected = "a finite number" if word.lower().lstrip("+-") in ("nan", "inf", "infinity") else "a decimal number"
        raise source.error(element, owner, f"{what}: {shorten(word)!r} is not {expected}")
    value = float(word)
    if abs(value) > LARGEST:
        raise source.error(
            element, owner, f"{what} is beyond ±{LARGEST:g}: is the unit right? Everything is in SI units"
        )
    return value + 0.0
