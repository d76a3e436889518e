"""Xacro, the macro language that URDF files are often written in, is not read: this says so, and what to do."""

from __future__ import annotations

from knuckle.errors import ModelError
from knuckle.formats.xml import Element, shorten

EXPAND = 'Expand the file first ("xacro robot.urdf.xacro > robot.urdf", or pip install xacro) and load the result'
_READ = ("link", "joint", "material")


def refuse_xacro(robot: Element, file: str | None) -> None:
    """Raise if anything is left to expand: xacro's own elements, or expressions where we would read numbers or names.

    A declaration of the namespace alone is no xacro: expanded files keep it.
    """
    for element in robot.walk():
        if element.tag.startswith("xacro:"):
            text = f"this is a xacro file: it has to be expanded before it can be read. {EXPAND}"
            raise ModelError(text, file=file, line=element.line, element=f"<{shorten(element.tag)}>")
    for part in robot.children:
        for element in part.walk() if part.tag in _READ else ():
            for key, value in element.attributes.items():
                if "${" in value or "$(" in value:
                    text = f'{shorten(key)}="{shorten(value)}" is a xacro expression. {EXPAND}'
                    raise ModelError(text, file=file, line=element.line, element=f"<{shorten(element.tag)}>")
