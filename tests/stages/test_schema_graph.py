"""The graph stage of schema graphs through the command line: links, recorded calls, corrections, reasons."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.support.builders import data_folder, workshop_tools
from tests.support.running import Finished, each_has, inside
from toolassay.files.locks import exclusive_folder
from toolassay.graph import Dependency, FieldPair, ToolFilesDiffer
from toolassay.graph.traces import lower_bound
from toolassay.records.data_folder import DataFolder

BENCH = Dependency(
    "find_benches", "book_bench", "bench", 0.6, (FieldPair("benches[]", "bench"),), ("named alike",)
)
WEAK = Dependency(
    "find_benches", "search-notes", "query", 0.2, (FieldPair("benches[]", "query"),), ("a text",)
)
NOTES = Dependency("book_bench", "search-notes", "query", 0.5, (FieldPair("booking", "query"),), ("a text",))
CALLS = [
    {"tool": "book_bench", "arguments": {"bench": "B2"}, "result": {"booking": "Q-8812"}},
    {"tool": "search-notes", "arguments": {"query": "Q-8812"}},
    {"tool": "report_damage", "arguments": {"machine": "saw"}},
]


def build_folder(path: Path) -> Path:
    (path / "tool_desc.json").write_text(json.dumps(workshop_tools()))
    (path / "benchmark.json").write_text('{"benchmark": "taskbench", "dependency_type": "schema"}')
    return path


@pytest.fixture(autouse=True)
def derived(monkeypatch: pytest.MonkeyPatch) -> list[Dependency]:
    """The links that follow from the schemas."""
    links = [BENCH, WEAK, NOTES]
    monkeypatch.setattr("toolassay.link_proposals.schema_links.Derivation.links", lambda _: iter(links))
    monkeypatch.setattr(
        "toolassay.link_proposals.schema_links.Derivation.explain", lambda *_: ["`benches[]` fits"]
    )
    return links


def graph(folder: Path, *more: str | Path) -> Finished:
    return inside("graph", "--data_dir", folder, *more)


def links(folder: Path) -> dict[tuple[str, str], Dependency]:
    found = DataFolder(folder).graph(None).dependencies()
    return {(one.source, one.target): one for one in found}


def edits(folder: Path) -> list[dict[str, Any]]:
    value: list[dict[str, Any]] = json.loads((folder / "graph_edits.json").read_text())["edits"]
    return value


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.fixture
def calls(tmp_path: Path) -> Path:
    path = tmp_path / "calls.jsonl"
    path.write_text(f"{json.dumps(CALLS)}\n" * 3)
    return path


def test_links_above_the_threshold_are_written_and_counted(folder: Path) -> None:
    done = graph(folder)
    assert done.code == 0
    assert links(folder) == {("find_benches", "book_bench"): BENCH, ("book_bench", "search-notes"): NOTES}
    assert "graph_desc.json: written (8 tools, 2 links, schema)" in done.out
    assert "links by origin: 2 schema" in done.out
    assert "left out by --min_confidence 0.4: 1 link" in done.out
    assert "up to date" in graph(folder).out
    assert names(folder) == {"tool_desc.json", "benchmark.json", "graph_desc.json"}


def test_thresholds_are_remembered(folder: Path) -> None:
    graph(folder, "--min_confidence", "0.1", "--max_edges_per_tool", "1")
    kept = set(links(folder))
    assert graph(folder, "--pin", "find_benches", "book_bench").code == 0
    assert set(links(folder)) == kept
    assert DataFolder(folder).benchmark.links == {"min_confidence": 0.1, "max_edges_per_tool": 1}
    graph(folder, "--max_edges_per_tool", "0")
    assert len(links(folder)) == 3
    graph(folder, "--min_confidence", "0.4")
    assert len(links(folder)) == 2


def test_a_second_command_at_the_same_time_is_refused(folder: Path) -> None:
    with exclusive_folder(folder, ".graph.lock", what="a test", fix="wait"):
        done = graph(folder, "--add", "find_benches", "search-notes")
        assert done.code == 2
        assert "another graph command is writing it" in done.err
        assert graph(folder, "--explain", "find_benches", "search-notes").code == 0
    assert names(folder) == {"tool_desc.json", "benchmark.json"}


def test_a_graph_whose_schemas_changed_is_refused(folder: Path) -> None:
    graph(folder)
    value = workshop_tools()
    tool = next(one for one in value["nodes"] if one["id"] == "book_bench")
    tool["input_schema"] = {**tool["input_schema"], "description": "Books."}
    (folder / "tool_desc.json").write_text(json.dumps(value))
    assert len(links(folder)) == 2
    tool["output_schema"] = {"type": "object", "properties": {"number": {"type": "string"}}}
    (folder / "tool_desc.json").write_text(json.dumps(value))
    with pytest.raises(ToolFilesDiffer, match="'book_bench' has other output_schema"):
        links(folder)
    graph(folder)
    assert len(links(folder)) == 2


def test_a_folder_with_data_keeps_its_dependency_type(folder: Path) -> None:
    graph(folder)
    (folder / "data.json").write_text("")
    done = graph(folder, "--dependency_type", "temporal")
    assert done.code == 2
    assert "the folder has data of a schema graph" in done.err
    assert len(links(folder)) == 2


def test_recorded_calls_add_links_and_are_kept_for_later_graphs(folder: Path, calls: Path) -> None:
    done = graph(folder, "--traces", calls)
    assert "recorded calls: 9 calls in 3 sequences" in done.err
    found = links(folder)
    notes = found["book_bench", "search-notes"]
    assert (notes.origin, notes.count) == ("trace", 3)
    assert notes.score == pytest.approx(1 - 0.5 * (1 - lower_bound(3, 3)), abs=0.001)
    assert found["search-notes", "report_damage"].kind == "observed"
    assert "1 schema, 1 trace, 1 trace (order only)" in done.out
    calls.unlink()
    again = graph(folder)
    assert "up to date" in again.out
    assert "graph_traces.json: 2 links of recorded calls (--traces replaces them)" in again.err
    assert graph(folder, "--remove", "find_benches", "book_bench").code == 0
    assert set(links(folder)) == set(found) - {("find_benches", "book_bench")}


def test_recorded_calls_that_were_not_read_are_named_by_their_keys(folder: Path, calls: Path) -> None:
    with calls.open("a") as stream:
        stream.write('{"calls": [{"used": "book_bench", "sent": {}, "got": 3}]}\n')
    done = graph(folder, "--traces", calls)
    assert "9 calls in 3 sequences\n" in done.err
    assert "1 with the keys used, sent, got" in done.err
    calls.write_text('{"toolName": "book_bench", "id": "1", "sent": {}, "got": 3}\n')
    done = graph(folder, "--traces", calls)
    assert done.code == 2 and "no recorded call could be read" in done.error
    assert "toolName, id, sent, got" in done.err and "failed" not in done.err


@pytest.mark.parametrize("text", ["{", "[]", '{"links": [{"source": 3}]}'])
def test_broken_stored_calls_are_one_line(text: str, folder: Path) -> None:
    (folder / "graph_traces.json").write_text(text)
    assert "graph_traces.json" in graph(folder).error


def test_corrections_survive_every_regenerated_graph(
    folder: Path, calls: Path, derived: list[Dependency]
) -> None:
    given = ("--add", "report_damage", "order_material", "--field", "part=project")
    assert graph(folder, *given).code == 0
    assert graph(folder, "--remove", "book_bench", "search-notes").code == 0
    done = graph(folder, "--pin", "find_benches", "search-notes")
    assert done.code == 0
    assert "graph_edits.json: 3 of 3 edits applied" in done.out
    assert [one["action"] for one in edits(folder)] == ["add", "remove", "pin"]

    derived.remove(WEAK)
    done = graph(folder, "--traces", calls, "--min_confidence", "0.9")
    found = links(folder)
    assert set(found) == {("report_damage", "order_material"), ("find_benches", "search-notes")}
    assert found["report_damage", "order_material"].fields == (FieldPair("part", "project"),)
    assert found["find_benches", "search-notes"].score == 0.2
    assert "'pin find_benches → search-notes' no longer fits" in done.err
    assert [one["action"] for one in edits(folder)] == ["add", "remove", "pin"]


def test_an_edit_can_be_taken_back(folder: Path) -> None:
    pair = ("find_benches", "book_bench")
    graph(folder, "--remove", *pair)
    assert pair not in links(folder)
    assert graph(folder, "--undo", *pair).code == 0
    assert (pair in links(folder), edits(folder)) == (True, [])
    done = graph(folder, "--undo", *pair)
    assert (done.code, "there is no edit of the link" in done.error) == (2, True)


def test_a_patch_file_is_merged_and_what_does_not_fit_is_reported(folder: Path) -> None:
    graph(folder, "--pin", "find_benches", "book_bench")
    before = (folder / "graph_edits.json").read_bytes()
    patch = folder.parent / "patch.json"
    items = [
        {"action": "remove", "source": "find_benches", "target": "book_bench"},
        {"action": "pin", "source": "book_bench", "target": "search-notes"},
        {"action": "add", "source": "book_bench", "target": "gone"},
    ]
    patch.write_text(json.dumps({"edits": items}))
    done = graph(folder, "--edits", patch)
    assert done.code == 0
    assert "no longer fits: the tools have no 'gone'" in done.err
    assert set(links(folder)) == {("book_bench", "search-notes")}
    assert [copy.read_bytes() for copy in folder.glob("graph_edits.2*.json")] == [before]
    assert edits(folder)[1] == {**items[1], "link": NOTES.to_json()}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--remove", "book_bench", "find_benches"], "there is no such link to remove"),
        (["--retype", "find_benches", "book_bench", "hours"], "no value that flows .* fills 'hours'"),
        (["--add", "book_bench", "find_bench"], "unknown tool 'find_bench'.*write 'find_benches'"),
        (["--add", "book_bench", "add_member", "--field", "price=x"], "'add_member' has no argument 'x'"),
        (["--field", "id=plan"], "--field needs one --add or --retype"),
        (
            ["--pin", "find_benches", "book_bench", "--remove", "find_benches", "book_bench"],
            "two corrections of the link",
        ),
        (["--edits", "nowhere.json"], "no such file"),
        (["--max_links", "3"], "--max_links is not for schema graphs"),
    ],
)
def test_a_given_correction_that_does_not_fit_writes_nothing(
    arguments: list[str], message: str, folder: Path
) -> None:
    graph(folder)
    before = {path: path.read_bytes() for path in folder.iterdir()}
    done = graph(folder, *arguments)
    assert done.code == 2
    assert re.search(message, done.error), done.error
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_explain_gives_the_reasons_and_writes_nothing(folder: Path, calls: Path) -> None:
    done = graph(folder, "--traces", calls, "--explain", "book_bench", "search-notes")
    assert each_has(
        done.out.splitlines(),
        *(
            "a link from book_bench",
            "`benches[]` fits",
            "took `query` from `booking`",
            "before `search-notes`",
        ),
        *("recorded calls: score 0.53", "corrections: 0.76", "score 0.76, dependency, origin trace"),
    )
    assert names(folder) == {"tool_desc.json", "benchmark.json"}


@pytest.mark.parametrize(
    "arguments", [["--min_confidence", "0.5"], ["--traces", "calls.jsonl"], ["--undo", "a", "b"]]
)
def test_options_of_schema_graphs_are_refused_for_others(arguments: list[str], tmp_path: Path) -> None:
    done = graph(data_folder(tmp_path / "data", kind="temporal"), *arguments)
    assert done.code == 2
    assert f"{arguments[0]} is only for schema graphs, this one is temporal" in done.error
