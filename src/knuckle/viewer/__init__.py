"""To look at: the viewer in the browser, and replays in one HTML file.

`knuckle.view` is this package and can be called: it is the function `view` as well.
"""

from __future__ import annotations

import sys
from inspect import Signature, signature
from types import ModuleType
from typing import Any

from .recording import Recording
from .replay import replay_html
from .viewer import Viewer, play, view

__all__ = ["Recording", "Viewer", "play", "replay_html", "view"]


class _CallableModule(ModuleType):
    """The package under the name of its main function."""

    def __call__(self, *args: Any, **kwargs: Any) -> Viewer:
        return view(*args, **kwargs)

    @property
    def __signature__(self) -> Signature:
        return signature(view)


sys.modules[__name__].__class__ = _CallableModule
