"""The page of the axes in a real Chromium."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from browsing import OpenedPage

from toolassay.benchmarks.registry import benchmark_named
from toolassay.metrics.confidence_interval import Interval
from toolassay.report.axes import Axes, draw_axes, write_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"
ABOUT = benchmark_named("classic").about
RUNS = [Axes(ABOUT, "data_classic", HOSTILE, 9, Interval(0.5, 0.25, 0.75), notes={"cost": HOSTILE})]


@pytest.mark.parametrize("width", [1280, 400])
def test_the_page_shows_everything_as_text_and_asks_for_nothing(
    browser: Browser, tmp_path: Path, width: int
) -> None:
    picture = draw_axes(RUNS, tmp_path / "axes.svg")
    path = write_page(RUNS, picture, [HOSTILE], tmp_path / "index.html")
    shown = OpenedPage(browser, path, viewport={"width": width, "height": 800})
    assert shown.page.inner_text("tbody th") == HOSTILE
    assert shown.page.evaluate("() => document.images[0].naturalWidth") > 100
    assert shown.page.evaluate("() => document.documentElement.scrollWidth <= window.innerWidth")
    assert shown.trouble == []
    assert [url for url in shown.requests if not url.startswith("data:")] == [path.as_uri()]
    shown.close()
