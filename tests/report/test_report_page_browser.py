"""The page of a report in a real Chromium: what people do with it; it asks the network for nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browsing import OpenedPage
from tests.support.builders import chain, plan, scored_folder, workbench_folder
from tests.support.known_trials import agents
from tests.support.running import inside
from toolassay import build_graph, evaluate, infer, write_report
from toolassay.files.data_files import safe_name, write_json

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.browser

HOSTILE = "<img src=x onerror=alert(1)>"
VERY_LONG = "long " * 20_000  # 100 kB


def folder_of(path: Path) -> Path:
    """Thirty requests, two models that differ, and hostile texts."""
    gold: dict[str, Mapping[str, Any]] = {f"r{n}": chain("a", "b") for n in range(30)}
    good = {key: chain("a", "b") for key in gold}
    bad = {key: chain("a", "c") if int(key[1:]) % 3 else chain("a", "b") for key in gold}
    gold["one"], good["one"], bad["one"] = plan("a"), plan("a"), plan("a")
    gold["hostile"] = plan("a", HOSTILE, arguments=["</script><script>alert(2)</script>", "\u202eab\x00🙂"])
    good["hostile"] = plan(HOSTILE, arguments=[VERY_LONG])
    bad["hostile"] = plan("a")
    folder = scored_folder(
        path,
        gold,
        {"good": good, safe_name(HOSTILE): bad},
        tools=["a", "b", "c", HOSTILE],
        request=f'"><script>alert(3)</script>{HOSTILE}',
        type="chain",
    )
    name = path / f"predictions/runs/{safe_name(HOSTILE)}/manifest.json"
    name.parent.mkdir(parents=True)
    write_json(name, {"settings": {"llm": HOSTILE}})
    build_graph(folder, dependency_type="resource")
    evaluate(folder)
    return folder


@pytest.fixture(scope="module")
def page_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("page")
    path = place / "report.html"
    write_report(folder_of(place / "d"), out=path, require=["accuracy>=80%"])
    return path


@pytest.fixture
def opened(browser: Browser, page_file: Path) -> Iterator[OpenedPage]:
    shown = OpenedPage(browser, page_file)
    yield shown
    assert shown.trouble == []
    requests = {url.split("#")[0] for url in shown.requests if not url.startswith(("data:", "blob:"))}
    assert requests == {page_file.as_uri()}
    shown.close()


def go(opened: OpenedPage, route: str) -> None:
    """Open a view."""
    opened.page.evaluate("route => { location.hash = route }", route)


def test_the_verdict_is_first(opened: OpenedPage) -> None:
    first = opened.page.locator(".said").first.inner_text()
    assert first.startswith("good leads: ")
    assert opened.page.locator("#verdict tbody tr").first.inner_text().startswith("1")
    assert "pass" in opened.page.locator("td.pass").first.inner_text()


def test_filters_leave_what_matches_and_have_an_address(opened: OpenedPage) -> None:
    opened.page.click("header >> text=Items")
    opened.page.wait_for_selector(".tabulator-row")
    status = opened.page.locator("[role=status]")
    assert status.inner_text() == "32 of 32 requests"
    opened.page.check("text=models differ")
    opened.page.wait_for_selector("[role=status]:has-text('20 of 32')")
    opened.page.fill("input[type=search]", "r1")
    opened.page.wait_for_selector("[role=status]:has-text('8 of 32')")
    address = opened.page.evaluate("location.hash")
    assert "differ=1" in address
    assert "text=r1" in address
    opened.page.reload()
    opened.page.wait_for_selector(".tabulator-row")
    assert status.inner_text() == "8 of 32 requests"


def test_an_item_shows_both_plans_and_has_an_address(opened: OpenedPage) -> None:
    opened.page.click("header >> text=Items")
    opened.page.click("#view a >> text=r1")
    opened.page.wait_for_selector(".plan canvas")
    assert opened.page.locator(".plan").count() == 4  # gold and plan, for two models
    assert "#/item/0/r1" in opened.page.evaluate("location.hash") or "r1" in opened.page.inner_text(
        "h2 >> nth=-1"
    )
    text = opened.page.inner_text("#view")
    assert "– missing" in text
    assert "+ extra" in text
    opened.page.goto(opened.page.url.split("#")[0] + "#/item/0/r2?models=0")
    opened.page.wait_for_selector("#view h2:text-is('request r2')")
    assert opened.page.locator(".plan").count() == 2
    opened.page.click("text=Next")
    opened.page.wait_for_selector("#view h2:text-is('request r3')")
    opened.page.go_back()
    opened.page.wait_for_selector("#view h2:text-is('request r2')")


def test_hostile_texts_are_shown_and_run_nothing(opened: OpenedPage) -> None:
    go(opened, "#/item/0/hostile")
    opened.page.wait_for_selector(".plan canvas")
    assert HOSTILE in opened.page.inner_text(".request")
    assert "</script><script>alert(2)</script>" in opened.page.inner_text("#view")
    assert opened.page.locator("#view img").count() == 0
    go(opened, "#/where/0")
    opened.page.wait_for_selector(".tabulator-row")
    assert opened.page.locator("#view img").count() == 0
    go(opened, "#/items/0?tool=" + HOSTILE)
    opened.page.wait_for_selector(".tabulator-row")
    assert opened.page.locator("#view img").count() == 0


def test_the_data_set_has_a_graph_with_neighbours(opened: OpenedPage) -> None:
    opened.page.click("header >> text=Data set")
    opened.page.wait_for_selector(".graph.big canvas")
    assert "32" in opened.page.inner_text("#view table >> nth=0")
    opened.page.fill("#view input[type=search]", "b")
    opened.page.wait_for_selector("h4:has-text('b')")
    assert "a (30)" in opened.page.inner_text("#view")


@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (390, "dark")])
def test_no_view_is_wider_than_the_screen(browser: Browser, page_file: Path, width: int, scheme: str) -> None:
    shown = OpenedPage(browser, page_file, viewport={"width": width, "height": 800}, color_scheme=scheme)
    for route in ("#/", "#/where/0", "#/items/0", "#/item/0/r1", "#/data/0", "#/method"):
        go(shown, route)
        shown.page.wait_for_timeout(300)
        assert shown.page.evaluate("document.documentElement.scrollWidth") <= width
    assert shown.trouble == []
    shown.close()


def test_an_agent_shows_what_it_changed(browser: Browser, tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "d", slice(200, 240))
    assert inside("infer", "--data_dir", folder, "--llm", "random").code == 0
    evaluate(folder, llm="random")
    path = tmp_path / "report.html"
    write_report(folder, out=path)
    shown = OpenedPage(browser, path)
    go(shown, "#/items/0?harm=1")
    shown.page.wait_for_selector(".tabulator-row a")
    shown.page.click(".tabulator-row a >> nth=0")
    shown.page.wait_for_selector("text=Changes")
    text = shown.page.inner_text("#view")
    assert "unwanted changes by" in text
    assert "Calls and what came back" in text and "in the gold" in text
    go(shown, "#/where")
    shown.page.wait_for_selector("text=Steps of agents")
    cells = shown.page.locator("[aria-label='Steps of agents'] tbody tr >> nth=0").inner_text().split("\t")
    assert cells[0] == "random" and len(cells) == 10 and cells[4] != "0.0"
    assert shown.trouble == []
    shown.close()


def test_the_runs_of_an_item_and_every_column_are_shown(browser: Browser, tmp_path: Path) -> None:
    known = agents(tmp_path / "d")
    known.write("m", 0, known.ids)
    known.write("m", 1, ())
    infer(known.folder, llm="offline", security=True)
    infer(known.folder, llm="offline", limit=40, trials=2)
    evaluate(known.folder)
    path = tmp_path / "report.html"
    write_report(known.folder, out=path)
    shown = OpenedPage(browser, path)
    table = shown.page.locator(".wide").first
    assert table.evaluate("one => one.scrollWidth - one.clientWidth") == 0
    assert "attacks that succeed" in table.inner_text() and "asked" in table.inner_text()
    go(shown, f"#/item/0/{known.ids[0]}?models=0")
    shown.page.wait_for_selector("[aria-label='Runs of this item']")
    found = shown.page.locator("[aria-label='Runs of this item'] tbody tr").all()
    rows = [row.inner_text().split() for row in found]
    assert rows == [["0", "✓", "answered", "0"], ["1", "✗", "answered", "1"]]
    assert shown.trouble == []
    shown.close()
