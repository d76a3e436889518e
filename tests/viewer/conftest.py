"""A real browser for the pages: Chromium without a window, found on this computer."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ARTEFACTS = Path(__file__).parent / "artefacts"
"""Where the tests leave their screenshots; git does not keep them."""

_FLAGS = [
    "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--disable-quic", "--no-first-run",
    "--disable-sync", "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
]  # fmt: skip
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")


def chromium() -> str | None:
    """The browser's program: what CHROMIUM names, or the first that is on the path."""
    named = os.environ.get("CHROMIUM")
    return named or next((found for name in _NAMES if (found := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    program = chromium()
    if program is None:
        pytest.skip("no Chromium here: install one, or name it in the environment variable CHROMIUM")
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the extra `browser`: playwright")
    with playwright.sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=program, headless=True, args=_FLAGS)
        yield running
        running.close()


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page that must not complain, and must not ask for anything but from this computer."""
    context = browser.new_context(viewport={"width": 760, "height": 460})
    opened = context.new_page()
    errors: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    asked: list[str] = []
    opened.on("request", lambda request: asked.append(request.url))
    opened.set_default_timeout(30_000)
    yield opened
    context.close()
    assert errors == []
    local = ("file:", "data:", "blob:", "http://localhost:", "http://127.0.0.1:", "ws://localhost:", "ws://127.0.0.1:")
    assert [url for url in asked if not url.startswith(local)] == []


@pytest.fixture(scope="session")
def artefacts() -> Path:
    ARTEFACTS.mkdir(exist_ok=True)
    return ARTEFACTS
