import base64
import hashlib
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from toolassay.graph import ToolGraph
from toolassay.reports.graph_page import json_for_script, render_page, write_graph_page
from toolassay.tools.library import Tool, ToolLibrary

HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "</script><script>alert(1)</script>",
    "<!--<script>",
    "a\u2028b\u2029c",
    "{{ policy }}{% raw %}{# data",
    "\ud800",
    "\"'`&amp;\\",
]


def page_of(graph: ToolGraph, folder: Path) -> str:
    return write_graph_page(graph, folder / "graph_desc.html").read_text(encoding="utf-8")


def data_of(page: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


@pytest.fixture
def hostile() -> ToolGraph:
    tools = [Tool(name, f"{name} described", (name,), ("text",)) for name in HOSTILE]
    return ToolGraph.build(ToolLibrary(tools), "resource")


@given(
    st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner))
)
def test_json_in_a_script_is_the_same_json_and_plain_ascii(value: Any) -> None:
    text = json_for_script(value)
    assert json.loads(text) == value
    assert "<" not in text
    assert text.isascii()


def test_hostile_names_stay_inside_the_data(hostile: ToolGraph, tmp_path: Path) -> None:
    page = page_of(hostile, tmp_path)
    assert [tool["id"] for tool in data_of(page)["tools"]] == HOSTILE
    assert "<img" not in page
    assert page.count("</script>") == 3


def test_the_policy_allows_the_two_scripts_and_the_style_only(hostile: ToolGraph, tmp_path: Path) -> None:
    page = page_of(hostile, tmp_path)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = html.unescape(policy.group(1))
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed
    assert "http" not in allowed
    inline = re.findall(r"<(script|style)(?: id=\"_+cytoscape_stylesheet\")?>(.*?)</\1>", page, re.DOTALL)
    assert [name for name, _ in inline] == ["style", "script", "script"]
    for _, text in inline:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in allowed


def test_a_page_escapes_what_its_template_does_not_mark_safe() -> None:
    values = dict.fromkeys(("style", "script", "library", "data", "schema"), "<b>")
    page = render_page("graph_page.html", policy='"><script>alert(1)</script>', **values)
    assert 'content="&#34;&gt;&lt;script&gt;alert(1)&lt;/script&gt;"' in page
    with pytest.raises(UndefinedError, match="policy"):
        render_page("graph_page.html", **values)


def test_the_page_names_nothing_to_load(hostile: ToolGraph, tmp_path: Path) -> None:
    page = page_of(hostile, tmp_path)
    own = re.sub(r"<script>/\*\*.*?</script>", "", page, flags=re.DOTALL)
    assert re.findall(r"https?://", own) == []
    assert set(re.findall(r'(?:src|href)="([^"]*)"', own)) == {"data:,"}
    assert "@import" not in own
    assert "url(" not in own


@pytest.mark.parametrize("name", ["huggingface", "multimedia", "dailylifeapis"])
def test_published_graphs_make_pages_under_a_megabyte(reference: Path, name: str, tmp_path: Path) -> None:
    graph = ToolGraph.load(reference / "taskbench" / name / "graph_desc.json")
    page = page_of(graph, tmp_path)
    assert len(page.encode()) < 1_000_000
    assert [tool["id"] for tool in data_of(page)["tools"]] == list(graph.library.ids)
    assert page == page_of(graph, tmp_path / "again")
