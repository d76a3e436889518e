"""Looking closely: what a body is that was clicked on, the trail of a frame, pictures of the scene."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import numpy as np

from knuckle.extras import need
from knuckle.viewer.scene.robot_view import RobotView
from knuckle.viewer.scene.triangles import Array

from .body_words import body_words

_NONE = "no frame"
_ASK = "*Click on a body to see what it is.*"
_PICTURE = (1080, 1620)
"""Height and width of saved pictures."""


class Inspection:
    """The folder of one robot with what was clicked on. `state` gives the position now and, if known, the velocity."""

    def __init__(self, server: Any, view: RobotView, state: Callable[[], tuple[Array, Array | None]]) -> None:
        self.view, self.state = view, state
        self.body: int | None = None
        gui = server.gui
        with gui.add_folder("Inspect"):
            self.words = gui.add_markdown(_ASK)
            frames = (_NONE, *view.model.frame_names)
            self.trail = gui.add_dropdown("trail of", frames, initial_value=_NONE)
            picture = gui.add_button("Save a picture", icon="camera", color="gray")
        for body, mesh in view.meshes:
            mesh.on_click(lambda _, body=body: self.choose(body))
        self.trail.on_update(lambda event: self.follow_frame(event.target.value))
        picture.on_click(lambda event: save_picture(event.client))

    def choose(self, body: int | None) -> None:
        """Shows what a body is, from now on."""
        self.body = body
        self.refresh()

    def refresh(self) -> None:
        """Says again where the chosen body is and how it moves."""
        words = _ASK
        if self.body is not None:
            words = body_words(self.view.model, self.body, *self.state())
        if self.words.content != words:
            self.words.content = words

    def follow_frame(self, name: str) -> None:
        """Draws the trail of a frame from now on, or none."""
        self.view.start_trail(None if name == _NONE else name)


def save_picture(client: Any) -> None:
    """Sends what a browser shows as a PNG file to its user."""
    if client is None:
        return
    image = need("PIL.Image", "a picture as a file needs", "video")
    shown = np.asarray(client.get_render(height=_PICTURE[0], width=_PICTURE[1], transport_format="png"))
    memory = io.BytesIO()
    image.fromarray(shown[..., :3].astype(np.uint8)).save(memory, "PNG")
    client.send_file_download("knuckle.png", memory.getvalue())
