"""To look at: the viewer in the browser, and replays in one HTML file."""

from .offscreen.video import picture, video
from .recording import Recording
from .replay_page import Replay, replay, replay_html
from .viewer import Viewer, play, view

__all__ = ["Recording", "Replay", "Viewer", "picture", "play", "replay", "replay_html", "video", "view"]
