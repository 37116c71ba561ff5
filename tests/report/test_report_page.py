"""The page of a report as a file; what it does is in test_report_page_browser.py."""

from __future__ import annotations

import base64
import gzip
import json
import re
from pathlib import Path
from typing import Any

from tests.support.builders import chain, plan, scored_folder
from tests.support.running import inside

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"


def data_of(page: str) -> Any:
    """The data that is embedded in a page."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    return json.loads(found[1])


def chunk_of(page: str, key: str) -> Any:
    """The items of a chunk."""
    found = re.search(f'<script type="text/plain" id="chunk-{key}">(.*?)</script>', page)
    assert found
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


def page_of(folder: Path, out: Path) -> str:
    """The page of every model of a folder."""
    assert inside("evaluate", "--data_dir", folder, "--llm", "all").code == 0
    done = inside("report", "--data_dir", folder, "--out", out)
    assert done.code == 0, done.err
    assert str(out) in done.out
    return out.read_text(encoding="utf-8")


def test_a_page_alone_with_every_item(tmp_path: Path) -> None:
    gold = {str(n): chain("a", "b") for n in range(3)} | {"x": plan("c", "b")}
    one = {str(n): chain("a", "b") for n in range(3)} | {"x": plan("a", "b")}
    two = {str(n): chain("a", "c") for n in range(3)} | {"x": None}
    folder = scored_folder(tmp_path / "d", gold, {"one": one, "two": two})
    page = page_of(folder, tmp_path / "report.html")
    (found,) = data_of(page)["folders"]
    assert [model["name"] for model in found["models"]] == ["one", "two"]
    assert found["items"]["id"] == ["0", "1", "2", "x"]
    assert found["items"]["score"] == [[1, 1, 1, 0], [0, 0, 0, 0]]
    assert found["outcome_names"] == ["answered", "malformed"]
    assert found["items"]["outcome"][1] == [0, 0, 0, 1]
    assert found["confusions"] == [[["c", "a", 1]], [["b", "c", 3]]]
    by_tool = {one["tool"]: one for one in found["tools"]}
    assert by_tool["b"]["n"] == 4
    assert by_tool["b"]["values"][0] == {"precision": 1.0, "recall": 1.0, "f1": 1.0, "harm": 0}
    assert by_tool["b"]["values"][1]["recall"] == 0.0
    items = chunk_of(page, "0-0")
    assert len(items) == 4
    assert [call["status"] for call in items[0]["answers"][1]["predicted"]["calls"]] == ["right", "extra"]
    assert items[3]["answers"][1]["predicted"] is None
    assert sorted(file.name for file in tmp_path.iterdir()) == ["d", "report.html"]


def test_texts_of_others_are_never_markup(tmp_path: Path) -> None:
    folder = scored_folder(
        tmp_path / "d",
        {HOSTILE: plan("a", arguments=[HOSTILE])},
        {"m": {HOSTILE: plan(HOSTILE, arguments=["\x00\u202e🙂"])}},
        tools=["a", HOSTILE],
        request=HOSTILE,
    )
    page = page_of(folder, tmp_path / "report.html")
    assert "<script>alert" not in page
    assert "<img src=x" not in page
    assert data_of(page)["folders"][0]["items"]["id"] == [HOSTILE]
    assert chunk_of(page, "0-0")[0]["request"] == HOSTILE
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy
    assert "default-src &#39;none&#39;" in policy[1]
    assert "unsafe" not in policy[1]


def test_half_of_a_surrogate_pair_stays_what_it_is(tmp_path: Path) -> None:
    folder = scored_folder(tmp_path / "d", {"1": plan("a")}, {"m": {"1": plan("a", arguments=["\ud800"])}})
    page = page_of(folder, tmp_path / "report.html")
    (argument,) = chunk_of(page, "0-0")[0]["answers"][0]["predicted"]["calls"][0]["arguments"]
    assert argument["value"] == "\ud800"
