"""The page of a schema graph in a real Chromium: reading, filtering and editing its links."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browsing import OpenedPage
from tests.support.film_graphs import HOSTILE, film_graph, film_links
from toolassay.graph.dependencies import Dependency
from toolassay.reports.graph_page import write_graph_page

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.browser


class SchemaPage(OpenedPage):
    """The page of a schema graph."""

    def choose(self, tool: str) -> None:
        self.page.fill("#search", tool)
        self.page.press("#search", "Enter")

    def cards(self, side: str) -> list[str]:
        return self.page.locator(f".cards.{side} > li").all_inner_texts()

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)

    def fill_pair(self, number: int, source: str, target: str) -> None:
        row = self.page.locator("#form-pairs li").nth(number)
        row.locator(".from").fill(source)
        row.locator(".to").fill(target)

    def export(self) -> dict[str, Any]:
        """The content of the exported file."""
        with self.page.expect_download() as download:
            self.page.click("#export")
        assert download.value.suggested_filename == "graph_edits_patch.json"
        value: dict[str, Any] = json.loads(Path(download.value.path()).read_text(encoding="utf-8"))
        return value

    def unload_is_refused(self) -> bool:
        """Whether the page asks before it is left."""
        return bool(
            self.page.evaluate("() => !window.dispatchEvent(new Event('beforeunload', { cancelable: true }))")
        )


@pytest.fixture
def opened(browser: Browser, tmp_path: Path) -> Iterator[SchemaPage]:
    path = write_graph_page(film_graph(), tmp_path / "graph_desc.html", folder="my films")
    shown = SchemaPage(browser, path)
    yield shown
    assert shown.trouble == []
    own = (path.as_uri(), "data:", "blob:")
    assert [url for url in shown.requests if not url.startswith(own)] == []
    shown.close()


def test_a_tool_lists_its_links_the_best_first_with_all_that_is_known(opened: SchemaPage) -> None:
    opened.choose("search_film")
    details, reviews = opened.cards("after")
    assert opened.cards("before") == []
    assert details.startswith("film_details")
    assert "0.95" in details
    assert "results[].id → film_id" in details
    assert "results[].id is the id of a film; both are integers" in details
    assert "dependency · from schema" in details
    assert "results[].id → filter.film_id" in reviews
    assert "from trace · seen 7 times" in reviews
    opened.choose("film_details")
    assert "verdict: keep: true, reason: a cast has actors" in opened.cards("after")[0]
    search, observed = opened.cards("before")
    assert search.startswith("search_film")
    assert "observed · from trace · seen 2 times" in observed


def test_texts_of_tools_and_links_are_never_markup(opened: SchemaPage) -> None:
    opened.choose("actor")
    (card,) = opened.cards("after")
    assert card.count(HOSTILE) == 3
    assert f"whole result → {HOSTILE}" in card
    opened.button(f"Remove actor → {HOSTILE}").click()
    opened.page.click("#add")
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("script").count() == 3


def test_a_removed_link_can_be_restored(opened: SchemaPage) -> None:
    opened.choose("search_film")
    opened.button("Remove search_film → film_details").click()
    removed, _ = opened.cards("after")
    assert "removed here" in removed
    assert opened.graph("cy.edges().length") == 4
    assert opened.page.inner_text("#edits h2") == "1 new edit"
    assert opened.export() == {
        "edits": [{"action": "remove", "source": "search_film", "target": "film_details"}]
    }
    opened.button("Keep search_film → film_details").click()
    assert opened.page.inner_text("#edits h2") == "No new edits"
    assert opened.graph("cy.edges().length") == 5


def test_a_pinned_link_is_exported_as_it_is(opened: SchemaPage) -> None:
    opened.choose("film_details")
    opened.button("Pin film_details → actor").click()
    assert "pinned here" in opened.cards("after")[0]
    (edit,) = opened.export()["edits"]
    assert edit["action"] == "pin"
    assert Dependency.from_json(edit["link"]) == film_links()[2]
    assert opened.page.inner_text("#command") == (
        "toolassay graph --data_dir 'my films' --edits graph_edits_patch.json"
    )


def test_a_link_can_be_changed(opened: SchemaPage) -> None:
    opened.choose("film_details")
    opened.button("Change film_details → actor").click()
    assert opened.page.locator("#form-source").is_disabled()
    offered = opened.page.locator("#form-paths option").evaluate_all("(all) => all.map((one) => one.value)")
    assert offered == ["id", "cast_id"]
    opened.fill_pair(0, "id", "actor_id")
    opened.page.fill("#form-note", "The cast has no ids.")
    opened.page.click("#form-save")
    assert "id → actor_id" in opened.cards("after")[0]
    (edit,) = opened.export()["edits"]
    assert {key: edit[key] for key in ("action", "type", "fields", "kind", "note")} == {
        "action": "retype",
        "type": "actor_id",
        "fields": [{"from": "id", "to": "actor_id"}],
        "kind": "dependency",
        "note": "The cast has no ids.",
    }


def test_a_link_can_be_added_with_several_values(opened: SchemaPage) -> None:
    opened.choose("film_reviews")
    opened.page.click("#add")
    assert opened.page.input_value("#form-source") == "film_reviews"
    opened.page.fill("#form-target", "search_film")
    opened.fill_pair(0, "text", "query")
    opened.page.click("#form-more")
    opened.fill_pair(1, "", "any[].other")
    opened.page.keyboard.press("Enter")
    assert "text → query" in opened.cards("after")[0]
    (edit,) = opened.export()["edits"]
    assert edit == {
        "action": "add",
        "source": "film_reviews",
        "target": "search_film",
        "type": "query",
        "fields": [{"from": "text", "to": "query"}, {"from": "", "to": "any[].other"}],
        "kind": "dependency",
    }
    assert opened.graph("cy.edges('.edited').length") == 1
    opened.button("Remove film_reviews → search_film").click()
    assert opened.page.inner_text("#edits h2") == "No new edits"


@pytest.mark.parametrize(
    ("source", "target", "pairs", "message"),
    [
        ("nothing", "actor", [("id", "actor_id")], "There is no tool 'nothing'."),
        ("search_film", "actor", [], "A dependency needs a value that flows."),
        ("search_film", "actor", [("page", "x"), ("results", "x")], "An argument is filled twice."),
        ("film_details", "actor", [("id", "actor_id")], "There is a link of these tools already."),
    ],
)
def test_a_link_that_cannot_be_is_not_saved(
    opened: SchemaPage, source: str, target: str, pairs: list[tuple[str, str]], message: str
) -> None:
    opened.page.click("#add")
    opened.page.fill("#form-source", source)
    opened.page.fill("#form-target", target)
    for number, pair in enumerate(pairs):
        if number:
            opened.page.click("#form-more")
        opened.fill_pair(number, *pair)
    opened.page.click("#form-save")
    assert message in opened.page.inner_text("#form-error")
    opened.page.click("#form-cancel")
    assert opened.page.inner_text("#edits h2") == "No new edits"


def test_edits_of_the_folder_are_shown_as_such(browser: Browser, tmp_path: Path) -> None:
    edits: list[dict[str, Any]] = [
        {"action": "remove", "source": "actor", "target": "film_details", "note": "No films in it."},
        {"action": "pin", "source": "search_film", "target": "film_details"},
        {"action": "pin", "source": "gone", "target": "film_details"},
        {"action": "constructor", "source": HOSTILE, "target": 5},
    ]
    shown = SchemaPage(browser, write_graph_page(film_graph(), tmp_path / "graph_desc.html", edits=edits))
    rows = shown.page.locator("#edit-list li").all_inner_texts()
    assert rows[0].startswith("In graph_edits.json")
    assert "Removed: actor → film_details" in rows[1]
    assert "No films in it." in rows[1]
    assert "no tool 'gone'" in rows[3]
    assert HOSTILE in rows[4]
    shown.choose("film_details")
    assert "pinned in graph_edits.json" in shown.cards("before")[0]
    shown.button("Add again actor → film_details").click()
    shown.fill_pair(0, "id", "film_id")
    shown.page.click("#form-save")
    assert [edit["action"] for edit in shown.export()["edits"]] == ["add"]
    assert "replaced by a new edit" in shown.page.locator("#edit-list").inner_text()
    assert not shown.trouble
    shown.close()
