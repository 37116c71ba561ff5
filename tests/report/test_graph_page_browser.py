"""The page in a real Chromium: what people do with it, and that it asks the network for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browsing import OpenedPage
from toolassay.graph import ToolGraph
from toolassay.reports.graph_page import write_graph_page
from toolassay.tools.library import Tool, ToolLibrary

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"


LIBRARY = ToolLibrary(
    [
        Tool("Speech Writer", "Writes down speech.", ("audio",), ("text",)),
        Tool("Speaker", "Reads a text aloud.", ("text",), ("audio",)),
        Tool("Painter", "Paints what a text says.", ("text",), ("image",)),
        Tool("Describer", "Says what a picture shows.", ("image",), ("text",)),
        Tool(HOSTILE, "</script><script>alert(2)</script>", ("image",), (HOSTILE,)),
    ]
)


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[OpenedPage]:
    path = write_graph_page(ToolGraph.build(LIBRARY, "resource"), tmp_path / "graph_desc.html")
    shown = OpenedPage(browser, path)
    yield shown
    assert shown.trouble == []
    assert [url for url in shown.requests if not url.startswith("data:")] == [path.as_uri()]
    shown.close()


def test_search_finds_highlights_and_centres(opened: OpenedPage) -> None:
    opened.page.fill("#search", "paint")
    assert opened.page.locator("#tools button").all_inner_texts() == ["Painter"]
    assert opened.page.inner_text("#found") == "1 tool found"
    assert opened.graph("cy.nodes('.found').map((node) => node.data('name'))") == ["Painter"]
    opened.page.wait_for_function(
        """() => { const cy = window.toolGraph, box = cy.nodes('.found').renderedBoundingBox();
        return Math.hypot((box.x1 + box.x2 - cy.width()) / 2, (box.y1 + box.y2 - cy.height()) / 2) < 2; }""",
        timeout=5000,
    )
    opened.page.press("#search", "Enter")
    assert opened.page.inner_text("#detail h2") == "Painter"


def test_a_click_on_a_tool_in_the_drawing_shows_its_details(opened: OpenedPage) -> None:
    at = opened.graph("cy.nodes()[0].renderedPosition()")
    opened.page.locator("#graph").click(position={"x": at["x"], "y": at["y"]})
    detail = opened.page.inner_text("#detail")
    assert "Writes down speech." in detail
    assert "Can come before it (1)" in detail
    assert "Can come after it (2)" in detail
    assert opened.graph("cy.edges('.near').length") == 3
    assert opened.graph("cy.nodes('.faded').length") == 2
    opened.page.keyboard.press("Escape")
    assert opened.page.inner_text("#detail h2") == "No tool chosen"
    assert opened.graph("cy.elements('.faded').length") == 0


def test_everything_can_be_reached_with_the_keyboard(opened: OpenedPage) -> None:
    opened.page.focus("#search")
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("Enter")
    assert opened.page.inner_text("#detail h2") == "Speaker"
    names = opened.page.eval_on_selector_all(
        "button, input, [tabindex]",
        "(all) => all.map((item) => (item.ariaLabel || item.innerText || item.labels?.[0]?.innerText || ''))",
    )
    assert all(name.strip() for name in names)


def test_hostile_names_are_text(opened: OpenedPage) -> None:
    opened.page.locator("#tools button", has_text="<img").click()
    assert opened.page.inner_text("#detail h2") == HOSTILE
    assert "</script><script>alert(2)</script>" in opened.page.inner_text("#detail")
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 3


def test_the_policy_stops_scripts_and_connections(browser: Browser, tmp_path: Path) -> None:
    path = write_graph_page(ToolGraph.build(LIBRARY, "resource"), tmp_path / "graph_desc.html")
    shown = OpenedPage(browser, path)
    shown.page.evaluate(
        """() => { const bad = document.createElement('script'); bad.textContent = 'window.bad = 1';
        document.body.append(bad); }"""
    )
    assert shown.page.evaluate("() => window.bad === undefined")
    blocked = shown.page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => false, () => true)")
    assert blocked
    assert any("Content Security Policy" in text for text in shown.trouble)
    assert shown.requests == [path.as_uri()]
    shown.close()
