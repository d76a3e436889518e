"""A figure that a notebook shows once in the cell that draws it, and again wherever it is named later."""

from __future__ import annotations

import importlib
import io
from typing import Any

import matplotlib as mpl
from matplotlib import pyplot
from matplotlib.figure import Figure


class ShownFigure(Figure):
    """A figure of pyplot's. A notebook that shows open figures at the end of a cell shows it there or as its value.

    Whichever comes first closes it, so that the other finds nothing to show. In a window it stays open.
    """

    def _ipython_display_(self) -> None:
        if not mpl.get_backend().lower().endswith("inline"):
            print(self)
            return
        memory = io.BytesIO()
        self.savefig(memory, format="png")
        pyplot.close(self)
        shown = importlib.import_module("IPython.display")
        shown.display(shown.Image(memory.getvalue()))


def shown_figure() -> Any:
    """A new figure that pyplot shows, in a window or at the end of a notebook's cell."""
    return pyplot.figure(FigureClass=ShownFigure)
