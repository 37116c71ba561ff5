"""The page in a real Chromium: decided by keys, mended in a form, nothing lost when the server is killed."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.browsing import OpenedPage
from tests.support.reviewing import HOSTILE, actions, folder_of, folder_with, label, say, session_of
from tests.support.running import environment, started
from toolassay.review.session import Session

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

# A server in a process of its own, held against the gates of `reviewing`.
SERVE = """
import asyncio, sys
from pathlib import Path
from tests.support.reviewing import session_of
from toolassay.review.server import ReviewServer
async def main():
    server = ReviewServer(session_of(Path(sys.argv[1])), reviewer=sys.argv[2], queue=sys.argv[3])
    await server.open()
    print(server.address, flush=True)
    await asyncio.Event().wait()
asyncio.run(main())
"""


class Address:
    """What `OpenedPage` opens."""

    def __init__(self, url: str) -> None:
        self.url = url

    def as_uri(self) -> str:
        return self.url


def opened(browser: Browser, url: str, **context: Any) -> OpenedPage:
    shown = OpenedPage(browser, Address(url), **context)  # type: ignore[arg-type]
    shown.page.wait_for_load_state("networkidle")
    return shown


def quiet(shown: OpenedPage) -> None:
    """Nothing went wrong, and nobody but the server was asked."""
    assert shown.trouble == []
    assert {re.sub(r":\d+/.*", "", url) for url in shown.requests if not url.startswith("data:")} == {
        "http://127.0.0.1"
    }
    shown.close()


@contextmanager
def served(folder: Path, reviewer: str = "Ann", queue: str = "all") -> Iterator[str]:
    """The address of a server with strict gates."""
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE, str(folder), reviewer, queue],
        env=environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()


def press(page: Page, key: str, words: str) -> None:
    """Press a key and wait until the page says so."""
    page.keyboard.press(key)
    page.wait_for_function(
        "(words) => document.getElementById('status').textContent.includes(words)", arg=words
    )


def at(page: Page, place: str) -> None:
    page.wait_for_function("(text) => document.getElementById('place').textContent.includes(text)", arg=place)


def test_twenty_decisions_by_keys_with_the_server_killed_in_the_middle(
    browser: Browser, tmp_path: Path
) -> None:
    folder = folder_with(tmp_path / "d", 20)
    ids = [item.id for item in session_of(folder).samples]
    keys = ["c", "d", "c", "c", "d"] * 4
    file = folder / "reviews" / "Ann.jsonl"
    first = started("review", "--data_dir", folder, "--reviewer", "Ann", cwd=tmp_path)
    assert first.stdout is not None
    shown = opened(browser, first.stdout.readline().strip())
    at(shown.page, "Sample 1 of 20")
    for number in range(11):
        press(shown.page, keys[number], f"Saved: {ids[number]} ")
    press(shown.page, "u", f"Undone: {ids[10]}")
    press(shown.page, keys[10], f"Saved: {ids[10]} ")
    first.kill()  # -9
    first.wait()
    assert [action for _, action in actions(file)].count("undo") == 1
    press(shown.page, "c", "does not answer")
    assert "Sample 12 of 20" in shown.page.inner_text("#place")  # nothing is shown as decided that is not
    assert shown.page.inner_text("#done") == "11 of 20 decided"
    shown.close()
    # A crash in the middle of a write leaves half a line.
    with file.open("ab") as stream:
        stream.write(b'{"id": "s11", "finger')
    again = started("review", "--data_dir", folder, "--reviewer", "Ann", cwd=tmp_path)
    assert again.stdout is not None
    shown = opened(browser, again.stdout.readline().strip())
    at(shown.page, "Sample 12 of 20")
    for number in range(11, 20):
        press(shown.page, keys[number], f"Saved: {ids[number]} ")
    assert "Everything is decided" in shown.page.inner_text("#status")
    assert shown.page.inner_text("#done") == "20 of 20 decided"
    quiet(shown)
    again.kill()
    again.communicate()
    standing = session_of(folder).store.log("Ann").standing("reviewer")
    names = {"c": "correct", "d": "discard"}
    assert {key: record.action for key, record in standing.items()} == {
        key: names[pressed] for key, pressed in zip(ids, keys, strict=True)
    }
    assert len(list(actions(file))) == 22  # twenty, one taken back and made again
    assert all(record.seconds >= 0 and record.when for record in standing.values())


def test_a_fix_is_made_in_a_form_and_held_against_the_gates(browser: Browser, tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "d", 3)
    with served(folder) as address:
        shown = opened(browser, address)
        page = shown.page
        at(page, "Sample 1 of 3")
        page.keyboard.press("g")
        tool = page.get_by_label("Tool of node 1")
        tool.fill("Paintr")
        page.get_by_role("button", name="Check").click()
        page.wait_for_selector("dialog .box.reject")
        assert "'Paintr' is no tool" in page.inner_text("dialog [role=alert] >> nth=-1")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => document.querySelector('dialog').innerText.includes('Not saved')")
        assert session_of(folder).store.log("Ann").standing("reviewer") == {}
        tool.fill("Captioner")
        page.get_by_label("Argument 1 of node 1", exact=True).fill("a cat")
        page.get_by_role("button", name="Remove link 1").click()
        page.get_by_role("button", name="Remove node 0").click()
        page.get_by_role("button", name="Remove step 1").click()
        page.keyboard.press("Control+Enter")
        at(page, "Sample 2 of 3")
        record = session_of(folder).store.log("Ann").standing("reviewer")[0]
        assert (record.action, record.insisted) == ("fix_graph", ())
        assert record.parts == {
            "task_steps": ["Step 2: call Painter"],
            "task_nodes": [{"task": "Captioner", "arguments": ["a cat"]}],
            "task_links": [],
        }
        page.keyboard.press("k")
        at(page, "Sample 1 of 3")
        assert "Shown as you fixed it: steps, nodes, links" in page.inner_text("#notice")
        assert page.evaluate("() => planGraph.nodes().map((node) => node.data('label'))") == ["0  Captioner"]
        page.get_by_role("button", name="Show the original").click()
        assert page.evaluate("() => planGraph.nodes().length") == 2
        # Insisting is possible, and recorded.
        page.keyboard.press("j")
        at(page, "Sample 2 of 3")
        page.keyboard.press("s")
        page.get_by_label("Tool of node 0").fill("Nobody")
        page.keyboard.press("Control+Enter")
        page.get_by_label("Save it all the same").check()
        page.keyboard.press("Control+Enter")
        at(page, "Sample 3 of 3")
        record = session_of(folder).store.log("Ann").standing("reviewer")["s1"]
        assert record.insisted == ("schema: 'Nobody' is no tool",)
        page.keyboard.press("i")
        assert page.evaluate("() => document.activeElement.id") == "edit-request"
        page.fill("#edit-request", "Put it into English.")
        page.keyboard.press("Control+Enter")
        page.wait_for_function("() => document.getElementById('status').textContent.includes('Everything')")
        expected = {"user_request": "Put it into English."}
        assert session_of(folder).store.log("Ann").standing("reviewer")[2].parts == expected
        assert "409" in " ".join(shown.trouble)  # the browser notes refusals
        shown.trouble.clear()
        quiet(shown)


def test_two_reviewers_differ_and_an_adjudicator_settles_it(browser: Browser, tmp_path: Path) -> None:
    folder = folder_with(tmp_path / "d", 3)
    with served(folder, reviewer="") as address:
        ann, bob = opened(browser, address), opened(browser, address)
        for shown, name in ((ann, "Ann"), (bob, "Bob")):
            assert shown.page.evaluate("() => document.activeElement.id") == "your-name"
            shown.page.keyboard.type(name)
            shown.page.keyboard.press("Enter")
            at(shown.page, "Sample 1 of 3")
        for number, (first, second) in enumerate((("c", "c"), ("d", "c"), ("c", "c"))):
            sample = [0, "s1", 2][number]
            press(ann.page, first, f"Saved: {sample} ")
            press(bob.page, second, f"Saved: {sample} ")
        assert "1" in bob.page.inner_text("#queue")
        bob.page.click("#who")
        bob.page.keyboard.press("Control+a")
        bob.page.keyboard.type("Cem")
        bob.page.keyboard.press("Enter")
        bob.page.wait_for_function("() => document.getElementById('who').textContent === 'Cem'")
        bob.page.click("#queue")
        at(bob.page, "Conflict 1 of 1")
        assert "Ann" in bob.page.inner_text("#votes") and "Discarded" in bob.page.inner_text("#votes")
        press(bob.page, "1", "Saved: s1 discarded. Everything is decided.")
        bob.page.keyboard.press("t")
        bob.page.wait_for_selector("dialog table")
        text = bob.page.inner_text("dialog")
        assert "Ann and Bob" in text and "66.7 %" in text
        quiet(ann)
        quiet(bob)
    session: Session = session_of(folder)
    decisions = [item.decision.action if item.decision else None for item in session.outcomes()]
    assert decisions == ["correct", "discard", "correct"]


def test_what_models_wrote_is_inert(browser: Browser, tmp_path: Path) -> None:
    made = label(0)
    made["id"] = HOSTILE
    made["user_request"] = made["task_steps"][0] = HOSTILE
    made["task_nodes"] = [
        {"task": HOSTILE, "arguments": [HOSTILE, {"name": HOSTILE, "value": HOSTILE}]},
        {"task": "Painter", "arguments": ["<node-0>", f"{HOSTILE}.png"]},
    ]
    made["task_links"] = [{"source": HOSTILE, "target": "Painter"}]
    folder = folder_of(tmp_path / "<b>d&quot;", [made, label(1)])
    desc = json.loads((folder / "tool_desc.json").read_text())
    desc["nodes"][2] |= {"desc": HOSTILE}
    (folder / "tool_desc.json").write_text(json.dumps(desc))
    say(session_of(folder), "<i>Bob", 0, "discard", note=HOSTILE)
    with served(folder, reviewer=HOSTILE[:59]) as address:
        shown = opened(browser, address)
        page = shown.page
        at(page, "Sample 1 of 2")
        assert page.inner_text("#request") == HOSTILE
        assert HOSTILE in page.inner_text("#cards") and HOSTILE in page.inner_text("#findings")
        page.keyboard.press("n")
        page.keyboard.type(HOSTILE)
        press(page, "Escape", "Comment saved")
        press(page, "c", "Saved: ")
        for key in ("/", "t", "?"):
            page.keyboard.press(key)
            page.wait_for_selector("dialog h2")
            page.wait_for_function("() => document.querySelector('dialog').open")
            page.keyboard.press("Escape")
        page.keyboard.press("k")
        at(page, "Sample 1 of 2")
        page.keyboard.press("g")
        assert page.get_by_label("Tool of node 0").input_value() == HOSTILE
        page.get_by_role("button", name="Check").click()
        page.wait_for_selector("dialog .box.reject")
        page.keyboard.press("Escape")
        page.click("#queue")
        page.wait_for_function("() => document.getElementById('queue').textContent === 'All samples'")
        assert page.locator("img, #main script, dialog script, #main b, #main i").count() == 0
        assert page.evaluate("() => window.seen === undefined")
        quiet(shown)


def test_the_policy_stops_foreign_scripts_and_connections(browser: Browser, tmp_path: Path) -> None:
    with served(folder_with(tmp_path / "d", 1)) as address:
        shown = opened(browser, address)
        shown.page.evaluate(
            """() => { const bad = document.createElement('script'); bad.textContent = 'window.bad = 1';
            document.body.append(bad); }"""
        )
        assert shown.page.evaluate("() => window.bad === undefined")
        assert shown.page.evaluate("() => fetch('http://127.0.0.1:9/').then(() => false, () => true)")
        assert "token" not in shown.page.url
        assert any("Content Security Policy" in text for text in shown.trouble)
        shown.close()
