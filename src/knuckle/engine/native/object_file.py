"""What object code asks of whoever loads it: read from the ELF file that it is.

Code for one block of memory may reach its constants by their distance, in four bytes: instructions are shorter by that
and there are fewer of them. That needs code that reaches for nothing else.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import NamedTuple

_ELF64, _X86_64 = b"\x7fELF\x02\x01", 62
_RELOCATIONS, _SYMBOLS, _LOADED = 4, (2, 11), 2
_WITHIN = frozenset({1, 2, 4, 24})
"""Relocations that need no table of addresses: 64 bits, and distances of 32 and 64 bits, of calls too."""


class _Section(NamedTuple):
    """An entry of the table of sections."""

    name: int
    kind: int
    flags: int
    address: int
    start: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


def stands_alone(code: bytes) -> bool:
    """Whether code for this kind of processor refers to nothing outside itself, as far as can be told."""
    if code[:6] != _ELF64 or struct.unpack_from("<H", code, 18) != (_X86_64,):
        return False
    sections = list(_sections(code))
    return all(_is_within(code, section, sections) for section in sections)


def _sections(code: bytes) -> Iterator[_Section]:
    (start,), (size, count) = struct.unpack_from("<Q", code, 40), struct.unpack_from("<HH", code, 58)
    for k in range(count):
        yield _Section(*struct.unpack_from("<IIQQQQIIQQ", code, start + k * size))


def _is_within(code: bytes, section: _Section, sections: list[_Section]) -> bool:
    """Whether no symbol of a table of symbols, but the first, is undefined; and the relocations of a table of
    relocations are of the kinds known here."""
    rows = range(section.start, section.start + section.size, section.entry or 1)
    if section.kind in _SYMBOLS:
        return all(struct.unpack_from("<H", code, row + 6) != (0,) for row in rows[1:])
    if section.kind == _RELOCATIONS and sections[section.info].flags & _LOADED:
        return all(struct.unpack_from("<I", code, row + 8)[0] in _WITHIN for row in rows)
    return True
