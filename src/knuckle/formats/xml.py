"""Reading XML that nobody vouches for: a small frozen tree, with line numbers, or a `ModelError`.

Document type declarations are refused, and with them every entity trick. Size, depth, number of elements and the
length of a single tag are bounded, so that time and memory are too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from knuckle.errors import ModelError, printable

from .files import MAX_BYTES

MAX_DEPTH = 200
MAX_ELEMENTS = 100_000
MAX_TOKEN = 4 * 2**20
_CHUNK = 2**18
_SPACES = str.maketrans("\t\n\r", "   ")


@dataclass(frozen=True, slots=True)
class Element:
    """An XML element: its tag and attributes as written (prefixes are not resolved), and the line it starts on."""

    tag: str
    attributes: Mapping[str, str]
    children: tuple[Element, ...]
    text: str
    line: int

    def walk(self) -> Iterator[Element]:
        """This element and everything below it, in document order."""
        stack: list[Element] = [self]
        while stack:
            element = stack.pop()
            yield element
            stack.extend(reversed(element.children))


@dataclass(slots=True)
class _Open:
    """An element whose end tag has not come yet."""

    tag: str
    attributes: Mapping[str, str]
    line: int
    children: list[Element] = field(default_factory=list)
    text: list[str] = field(default_factory=list)

    def close(self) -> Element:
        return Element(self.tag, self.attributes, tuple(self.children), "".join(self.text).strip(), self.line)


class _Builder:
    """Puts the tree together from expat's events."""

    def __init__(self, file: str | None, encoding: str | None) -> None:
        self.file = file
        self.open: list[_Open] = []
        self.root: Element | None = None
        self.count = 0
        self.parser = expat.ParserCreate(encoding)
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.characters
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.parser.EntityDeclHandler = self.doctype

    def fail(self, message: str, element: str | None = None) -> NoReturn:
        raise ModelError(message, file=self.file, line=self.parser.CurrentLineNumber, element=element)

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self.count += 1
        if len(self.open) >= MAX_DEPTH:
            self.fail(f"elements are nested more than {MAX_DEPTH} deep", f"<{shorten(tag)}>")
        if self.count > MAX_ELEMENTS:
            self.fail(f"more than {MAX_ELEMENTS} elements")
        for text in (tag, *attributes, *attributes.values()):
            plain = text.translate(_SPACES)
            if printable(plain) != plain:
                self.fail(f"the text holds a control character: {shorten(repr(text))}", f"<{shorten(tag)}>")
        self.open.append(_Open(tag, attributes, self.parser.CurrentLineNumber))

    def end(self, _: str) -> None:
        element = self.open.pop().close()
        if self.open:
            self.open[-1].children.append(element)
        else:
            self.root = element

    def characters(self, text: str) -> None:
        if self.open:
            self.open[-1].text.append(text)

    def doctype(self, *_: object) -> NoReturn:
        self.fail("a document type declaration (<!DOCTYPE …>) is not allowed: remove it, and write entities out")

    def parse(self, data: bytes) -> Element:
        for start in range(0, len(data), _CHUNK):
            self.parser.Parse(data[start : start + _CHUNK], False)
            if min(start + _CHUNK, len(data)) - max(self.parser.CurrentByteIndex, 0) > MAX_TOKEN:
                self.fail(f"a single tag or comment of more than {MAX_TOKEN // 2**20} MiB")
        self.parser.Parse(b"", True)
        if self.root is None:
            self.fail("the file holds no element")
        return self.root


def shorten(text: str, limit: int = 60) -> str:
    """`text` for an error message: on one line, the middle left out if it is long."""
    line = " ".join(text.split())
    return line if len(line) <= limit else f"{line[: limit // 2]}…{line[-limit // 4 :]}"


def parse_xml(data: bytes | str, *, file: str | None = None) -> Element:
    """The root element of an XML document.

    Args:
        data: the document; bytes are decoded as the XML declaration says (UTF-8 if it says nothing).
        file: the name to give in errors.

    Raises:
        ModelError: it is not well-formed, cannot be decoded, has a document type declaration, or exceeds a bound.
    """
    try:
        raw = data.encode() if isinstance(data, str) else data
    except UnicodeEncodeError as error:
        raise ModelError(f"not valid Unicode: {error.reason}", file=file) from None
    if len(raw) > MAX_BYTES:
        raise ModelError(f"{len(raw)} bytes; the limit is {MAX_BYTES // 2**20} MiB", file=file)
    if not raw.strip():
        raise ModelError("empty; expected an XML document", file=file, line=1)
    builder = _Builder(file, "utf-8" if isinstance(data, str) else None)
    try:
        return builder.parse(raw)
    except expat.ExpatError as error:
        text = expat.errors.messages.get(error.code, "syntax error") if hasattr(error, "code") else str(error)
        raise ModelError(f"not well-formed XML: {text}", file=file, line=getattr(error, "lineno", None)) from None
    except ModelError:
        raise
    except (LookupError, ValueError) as error:
        raise ModelError(f"cannot be decoded: {error}", file=file, line=1) from None
