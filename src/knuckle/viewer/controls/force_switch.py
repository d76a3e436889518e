"""What shows the forces of contacts, and says what their colours mean."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from knuckle.viewer.scene.force_arrows import SLIP_COLOR, STICK_COLOR


def add_force_switch(gui: Any, on: bool, scale: str, show: Callable[[bool], None]) -> None:
    """A box that calls `show`, and below it a legend with the scale of arrows, in words."""
    box = gui.add_checkbox("contact forces", initial_value=on)
    colors = ((STICK_COLOR, "sticks"), (SLIP_COLOR, "slides"))
    words = " &nbsp; ".join(f'<span style="color:{color}">▬</span> {word}' for color, word in colors)
    gui.add_html(
        f'<div style="font-size:0.8em;padding:0 0.8em 0.6em">{words}{" &nbsp; " + scale if scale else ""}</div>'
    )
    box.on_update(lambda event: show(bool(event.target.value)))
