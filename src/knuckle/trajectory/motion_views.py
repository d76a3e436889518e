"""Motions to look at: what one motion and many have in common, plots, the viewer, replays, videos and notebooks."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .trajectory_plot import WHAT, Quantity

if TYPE_CHECKING:
    from typing import Unpack

    from knuckle.viewer.offscreen.video import VideoOptions
    from knuckle.viewer.replay_page import Replay, ReplayOptions
    from knuckle.viewer.viewer import Viewer


class MotionViews:
    """Ways to look at a motion; those of many are shown together: their medians and spread, or a few side by side."""

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        what: Quantity | Sequence[Quantity] = WHAT,
        joints: Iterable[str] | None = None,
        title: str | None = None,
        size: tuple[float, float] | None = None,
    ) -> Any:
        """A matplotlib figure of positions, velocities, forces, energies and contact, by joint and with units.

        Of many motions, medians, the range that nine of ten are in, and a few one by one; `rollout[3].plot()` shows a
        single one, and what is not finite is left out. In a notebook it is shown once, at the end of the cell.

        Args:
            path: the file that it goes to (.png, .pdf, .svg), without a window; a figure of pyplot's, if not given.
            what: the panels, one or several.
            joints: the names of the joints that are shown; all, if not given.
            title: what is written above; the model's name, if not given.
            size: width and height in inches.

        Example:
            motion.plot("motion.png", what=["q", "tau"], joints=["elbow_pitch"])
        """
        from .trajectory_plot import plot

        motions: Any = self
        return plot(motions, path, what=what, joints=joints, title=title, size=size)

    def play(
        self,
        *,
        port: int = 8080,
        host: str = "127.0.0.1",
        block: bool | None = None,
        speed: float = 1.0,
        loop: bool = True,
        spacing: float | None = None,
        contacts: bool = True,
    ) -> Viewer:
        """Plays it in the viewer, a few side by side as `rollout[:4].play()`; see `knuckle.viewer.play`."""
        from knuckle.viewer import play

        return play(self, port=port, host=host, block=block, speed=speed, loop=loop, spacing=spacing, contacts=contacts)

    def replay(self, **options: Unpack[ReplayOptions]) -> Replay:
        """Its replay, which a notebook shows in place; `kn.viewer.replay_html` writes it to a file.

        The options are those of `kn.viewer.replay`.
        """
        from knuckle.viewer import replay

        return replay(self, **options)

    def video(self, path: str | os.PathLike[str], **options: Unpack[VideoOptions]) -> Path:
        """Writes it as a video (.mp4, .webm, .gif, .webp, or a folder of pictures), drawn without a browser.

        The options are those of `kn.viewer.video`: size, rate, speed, theme, trails, follow and others.
        """
        from knuckle.viewer import video

        return video(self, os.fspath(path), **options)

    def _repr_html_(self) -> str:
        """In a notebook: what it is, of many how they spread, and its plot."""
        from knuckle.viewer.notebook.motion_html import motion_html

        motions: Any = self
        return motion_html(motions)
