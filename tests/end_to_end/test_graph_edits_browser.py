"""Edits of a schema graph from its page to the graph and back, with the real commands and browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.browsing import OpenedPage
from tests.support.builders import imported_tool
from tests.support.film_graphs import film_library
from tests.support.running import process
from toolassay import build_graph
from toolassay.files.data_files import write_json
from toolassay.graph import ToolGraph

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser


def run(stage: str, *arguments: str, cwd: Path) -> str:
    """What a command prints."""
    done = process(stage, *arguments, cwd=cwd)
    assert done.code == 0, done.err
    return done.out


def graph_of(folder: Path) -> ToolGraph:
    return ToolGraph.load(folder / "graph_desc.json")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    cast = imported_tool("film_cast", "Lists the cast of a film.", {"film_id": {"type": "integer"}})
    write_json(tmp_path / "tool_desc.json", {"nodes": [*film_library().to_json()["nodes"], cast]})
    build_graph(tmp_path, dependency_type="schema")
    return tmp_path


def test_edits_made_in_the_page_are_in_the_next_graph_and_in_its_page(browser: Browser, folder: Path) -> None:
    derived = graph_of(folder)
    removed, changed = ("search_film", "film_details"), ("search_film", "film_cast")
    assert derived.dependency(*removed) is not None
    assert derived.dependency(*changed) is not None
    assert derived.dependency("film_details", "search_film") is None
    run("visualize", "--data_dir", str(folder), cwd=folder)
    first = OpenedPage(browser, folder / "graph_desc.html")
    page = first.page
    page.fill("#search", "search_film")
    page.press("#search", "Enter")
    page.get_by_role("button", name="Remove search_film → film_details").click()
    page.get_by_role("button", name="Change search_film → film_cast").click()
    page.locator("#form-pairs .from").fill("results[].title")
    page.fill("#form-note", "The cast is found by title.")
    page.click("#form-save")
    page.click("#add")
    page.fill("#form-source", "film_details")
    page.fill("#form-target", "search_film")
    page.locator("#form-pairs .from").fill("id")
    page.locator("#form-pairs .to").fill("query")
    page.click("#form-save")
    with page.expect_download() as download:
        page.click("#export")
    download.value.save_as(folder / download.value.suggested_filename)
    command = page.inner_text("#command").split()
    assert first.trouble == []
    first.close()

    assert command[0] == "toolassay"
    assert "3 of 3 edits applied" in run(*command[1:], cwd=folder)
    for _ in range(2):
        graph = graph_of(folder)
        assert graph.dependency(*removed) is None
        link = graph.dependency(*changed)
        assert link is not None
        assert [tuple(pair) for pair in link.fields] == [("results[].title", "film_id")]
        assert dict(link.further) == {"pinned": True, "note": "The cast is found by title."}
        added = graph.dependency("film_details", "search_film")
        assert added is not None
        assert added.origin == "user"
        # A regenerated graph has the same edits.
        run("graph", "--data_dir", str(folder), cwd=folder)

    run("visualize", "--data_dir", str(folder), cwd=folder)
    second = OpenedPage(browser, folder / "graph_desc.html")
    page = second.page
    rows = page.locator("#edit-list li").all_inner_texts()
    assert [row.split("\n")[0] for row in rows[1:]] == [
        "Removed: search_film → film_details",
        "Changed: search_film → film_cast",
        "Added: film_details → search_film",
    ]
    assert page.inner_text("#edits h2") == "No new edits"
    page.fill("#search", "search_film")
    page.press("#search", "Enter")
    cards = page.locator(".cards.after > li").all_inner_texts()
    assert any("removed in graph_edits.json" in card for card in cards)
    assert any("changed in graph_edits.json" in card and "results[].title" in card for card in cards)
    assert "added in graph_edits.json" in page.locator(".cards.before > li").first.inner_text()
    assert second.trouble == []
    second.close()
