"""Pages in a real Chromium: what they say to the console, and what they ask of the network."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if CHROMIUM is None:
        pytest.skip("no chromium on this machine (set CHROMIUM to its path)")
    with playwright.sync_playwright() as api:
        launched = api.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield launched
        launched.close()


class OpenedPage:
    """A page, with everything it said to the console or asked of the network."""

    def __init__(self, browser: Browser, path: Path, **context: Any) -> None:
        size = {"width": 1280, "height": 800}
        self.context = browser.new_context(**({"viewport": size, "reduced_motion": "reduce"} | context))
        self.page: Page = self.context.new_page()
        self.trouble: list[str] = []
        self.requests: list[str] = []
        self.page.on("console", lambda message: self.trouble.append(message.text))
        self.page.on("pageerror", lambda error: self.trouble.append(str(error)))
        self.page.on("dialog", lambda dialog: self.trouble.append(dialog.message))
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.goto(path.as_uri())

    def close(self) -> None:
        self.context.close()

    def graph(self, expression: str) -> Any:
        """The value of an expression about the graph `cy`, after changes are drawn."""
        drawn = "await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));"
        return self.page.evaluate(
            f"async () => {{ {drawn} const cy = window.toolGraph; return {expression}; }}"
        )
