"""To look at: the viewer in the browser, and replays in one HTML file."""

from .recording import Recording
from .replay import replay_html
from .viewer import Viewer, play, view

__all__ = ["Recording", "Viewer", "play", "replay_html", "view"]
