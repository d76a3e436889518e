"""A URDF file while it is being read: where errors point to, and what there is to tell about it afterwards."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Collection, Iterable

from knuckle.errors import ModelError
from knuckle.formats.xml import Element, shorten
from knuckle.model import Note

_MAX_HINTS = 2000
_LONG = 200


class UrdfSource:
    """Collects notes and makes errors. `owner` is the link or joint an element belongs to, as a person would say it."""

    def __init__(self, file: str | None) -> None:
        self.file = file
        self.notes: list[Note] = []
        self.read: Counter[str] = Counter()

    def error(self, element: Element, owner: str, message: str) -> ModelError:
        """What is wrong with an element."""
        own = owner == element.tag or owner.startswith(f"{element.tag} ")
        where = owner if own else f"{owner}, <{shorten(element.tag)}>"
        return ModelError(message, file=self.file, line=element.line, element=where)

    def note(self, level: str, element: Element, subject: str, text: str) -> None:
        """Something to tell about an element that was read all the same."""
        self.notes.append(Note(level, subject, text, element.line))

    def name(self, element: Element, taken: Iterable[str], what: str) -> str:
        """The name of a link or joint: there, not empty, not used before."""
        name = element.attributes.get("name")
        if not name or not name.strip():
            found = 'name=""' if name is not None else "no name"
            raise self.error(element, what, f"{found}; every {what} needs a name of its own")
        if name in taken:
            raise self.error(element, called(what, name), f"a second {what} with this name; names are unique")
        return name

    def attribute(self, element: Element, key: str, owner: str) -> str:
        """An attribute that has to be there."""
        value = element.attributes.get(key)
        if value is None:
            found = ", ".join(map(shorten, element.attributes)) or "none"
            raise self.error(element, owner, f'needs the attribute {key}="…"; its attributes are: {found}')
        return value

    def child(self, element: Element, tag: str, owner: str) -> Element | None:
        """The child with a tag that may be there once."""
        found = [child for child in element.children if child.tag == tag]
        if len(found) > 1:
            raise self.error(found[1], owner, f"a second <{tag}> (the first is on line {found[0].line}); one is enough")
        return found[0] if found else None

    def required(self, element: Element, tag: str, owner: str) -> Element:
        """The child with a tag that has to be there once."""
        found = self.child(element, tag, owner)
        if found is None:
            raise self.error(element, owner, f"needs a <{tag}>; it has: {_tags(element)}")
        return found

    def account(self, element: Element, subject: str, tags: Collection[str], attributes: Collection[str]) -> None:
        """Count an element as read, and note which of its children and attributes are not understood."""
        self.read[element.tag] += 1
        for child in element.children:
            if child.tag not in tags:
                self.note("info", child, subject, f"<{shorten(child.tag)}> in <{element.tag}> ignored")
        for key in element.attributes:
            if key not in attributes and not key.startswith("xmlns"):
                self.note("info", element, subject, f"{shorten(key)}=… of <{element.tag}> ignored")

    def near(self, name: str, known: Collection[str]) -> str:
        """The end of a message about an unknown name."""
        if len(known) > _MAX_HINTS or len(name) > _LONG:
            return ""
        close = difflib.get_close_matches(name, [other for other in known if len(other) <= _LONG], n=3)
        return f"; did you mean {', '.join(map(repr, close))}?" if close else ""


def called(what: str, name: str) -> str:
    """A link or joint in an error message: what it is, and its name, shortened if it is very long."""
    return f"{what} {shorten(name)!r}"


def _tags(element: Element) -> str:
    tags = list(dict.fromkeys(f"<{shorten(child.tag)}>" for child in element.children))
    return ", ".join(tags[:8]) if tags else "no elements"
