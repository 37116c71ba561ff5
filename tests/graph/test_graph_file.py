"""Graph files: the fast way of reading must agree with `json` and with reading link by link."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.files.data_files import read_json
from toolassay.graph import ToolGraph, graph_file
from toolassay.graph.graph_file import LinkReader, WrittenLinks, read_graph_file
from toolassay.graph.links import ListedLinks
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

SPEAK = {"id": "speak", "input-type": ["text"], "output-type": ["Audio"]}
HEAR = {"id": "hear", "input-type": ["audio"], "output-type": ["text"]}
DUB = {"id": "dub ü},{", "input-type": ["audio", "text"], "output-type": ["text", "audio"]}
TOOLS = [SPEAK, HEAR, DUB]
PLAIN = [{"id": tool["id"]} for tool in TOOLS]

names = st.sampled_from([str(tool["id"]) for tool in TOOLS])
types = st.sampled_from(["audio", " Audio", "text", "complete", "", None])
good_links = st.fixed_dictionaries({"source": names, "target": names}, optional={"type": types})
odd_values = st.sampled_from(
    [None, 3, 1e400, float("nan"), 10**400, "nobody", "\ud800", "}, {", [{"a": 1}, {"b": 2}], {"score": 1}]
)
odd_links = st.one_of(
    odd_values,
    st.fixed_dictionaries({"source": names, "target": st.just("nobody")}),
    good_links.map(lambda link: {**link, "score": 1, "origin": "user", "note": "kept"}),
    st.dictionaries(st.sampled_from(["source", "target", "type", "score", "weight"]), odd_values | names),
    st.builds(lambda link, key, value: {**link, key: value}, good_links, st.text(max_size=2), odd_values),
)
shared = [
    {"source": source["id"], "target": target["id"], "type": kind}
    for source in TOOLS
    for target in TOOLS
    for kind in (*source["output-type"], "AUDIO")
    if kind.lower() in target["input-type"] and kind.lower() in str(source["output-type"]).lower()
]
graphs = st.fixed_dictionaries(
    {
        "nodes": st.sampled_from([TOOLS, PLAIN]),
        "links": st.one_of(
            st.lists(st.sampled_from(shared)),
            st.lists(good_links),
            st.lists(good_links | odd_links),
            odd_values,
        ),
    },
    optional={
        "dependency_type": st.sampled_from(["resource", "temporal", "schema", "causal"]),
        "normalise_types": st.booleans(),
        "note": odd_values,
    },
)


def outcome(path: Path, kind: str | None) -> Any:
    """The links of a graph, or the error of reading it."""
    try:
        graph = ToolGraph.load(path, dependency_type=kind)
    except UsageError as error:
        return str(error)
    return graph.dependency_type, list(graph.links()), list(graph.dependencies())


def outcome_link_by_link(path: Path, kind: str | None) -> Any:
    """The same without the fast decoder and without columns: `json`, then `LinkReader.read`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(graph_file, "read_graph_file", read_json)
        return outcome(path, kind)


def check(path: Path, text: bytes, kind: str | None) -> None:
    path.write_bytes(text)
    assert outcome(path, kind) == outcome_link_by_link(path, kind)


kinds = st.sampled_from([None, "resource", "temporal", "schema"])


@settings(deadline=None, max_examples=50)
@given(graphs, kinds, st.booleans(), st.sampled_from([None, 1, "\t"]))
def test_a_graph_is_the_same_as_link_by_link(
    tmp_path_factory: pytest.TempPathFactory,
    value: Any,
    kind: str | None,
    escaped: bool,
    indent: Any,
) -> None:
    text = json.dumps(value, ensure_ascii=escaped, indent=indent).encode("utf-8", "backslashreplace")
    check(tmp_path_factory.mktemp("graph") / "graph_desc.json", text, kind)


PUBLISHED = json.dumps(
    {
        "nodes": TOOLS,
        "links": [
            {"source": "speak", "target": "hear", "type": "audio"},
            {"source": "hear", "target": "dub ü},{", "type": "text"},
            {"source": "dub ü},{", "target": "hear", "type": "audio"},
        ],
    },
    ensure_ascii=False,
    indent=2,
).encode()


@settings(deadline=None, max_examples=50)
@given(
    st.integers(0, len(PUBLISHED)),
    st.integers(0, 30),
    st.sampled_from([b"", b"}", b"{", b'"', b",", b"[", b"]", b"\\", b"\xff", b"\n", b"\x00", b"NaN", b"1"]),
)
@example(0, 0, b"\xef\xbb\xbf")  # a byte order mark
@example(0, 0, b"\xef\xbb\xbf\xef\xbb\xbf")
@example(len(PUBLISHED) - 1, 0, b', "links": [{"source": "hear", "target": "nobody"}]')
@example(1, 0, b'"n": "\xed\xa0\x80", ')  # half of a surrogate pair is not UTF-8
@example(1, 0, b'"links": "\xff", ')  # not even in a value that a later one replaces
@example(1, 0, b'"n": ' + b"9" * 5000 + b", ")
@example(1, 0, b'"n": ' + b"[" * 100_000 + b"]" * 100_000 + b", ")
def test_a_damaged_file_is_refused_as_by_json(
    tmp_path_factory: pytest.TempPathFactory, place: int, length: int, inserted: bytes
) -> None:
    text = PUBLISHED[:place] + inserted + PUBLISHED[place + length :]
    check(tmp_path_factory.mktemp("graph") / "graph_desc.json", text, None)


def test_well_formed_links_are_columns(tmp_path: Path) -> None:
    path = tmp_path / "graph_desc.json"
    path.write_bytes(PUBLISHED)
    read = read_graph_file(path)

    assert isinstance(read["links"], WrittenLinks)
    assert read["nodes"] == TOOLS
    assert list(read["links"]) == json.loads(PUBLISHED)["links"]


def test_columns_are_used_unless_a_link_has_to_be_read(tmp_path: Path) -> None:
    """Otherwise, the property above would compare one way with itself."""
    path = tmp_path / "graph_desc.json"
    path.write_bytes(PUBLISHED)
    reader = LinkReader(path, ToolLibrary.from_json(TOOLS), resource=True, normalise_types=True)
    links = read_graph_file(path)["links"]
    columns = reader.columns(links)

    assert columns is not None
    listed = ListedLinks(3, columns)
    assert [tuple(link) for link in listed] == [(0, 1, "audio"), (1, 2, "text"), (2, 1, "audio")]
    links.names[0] = "video"
    assert reader.columns(links) is None


def test_links_with_scores_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "graph_desc.json"
    path.write_text(json.dumps({"nodes": TOOLS, "links": [{**shared[0], "score": 0.5, "note": "kept"}]}))
    graph = ToolGraph.load(path)

    assert graph.dependency_type == "schema"
    assert [(one.score, one.further) for one in graph.dependencies()] == [(0.5, (("note", "kept"),))]
    path.write_text(json.dumps({"nodes": TOOLS, "links": [{**shared[0], "note": "kept"}]}))
    assert [one.further for one in ToolGraph.load(path, dependency_type="schema").dependencies()] == [
        (("note", "kept"),)
    ]


def test_the_tools_of_a_folder_are_read_like_those_of_its_graph(tmp_path: Path) -> None:
    folder = DataFolder(tmp_path)
    folder.graph_desc.write_bytes(PUBLISHED)
    assert folder.library().tools == folder.graph(None).library.tools

    folder.graph_desc.write_bytes(PUBLISHED[:-40])
    with pytest.raises(UsageError, match=r"graph_desc\.json:\d+: not valid JSON"):
        folder.library()
    folder.graph_desc.unlink()
    with pytest.raises(UsageError, match="no such file"):
        folder.library()
