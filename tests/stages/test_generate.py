from __future__ import annotations

import json
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.answering import Answering, served
from tests.support.builders import deep_tool, imported_folder, text_tools, workshop_tools
from tests.support.running import inside, lines_of
from toolassay import build_graph, generate
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.files.data_files import write_json
from toolassay.interface import flat
from toolassay.models import ChatRequest, ChatResponse
from toolassay.offline.model_tasks import BackInstructTask
from toolassay.runs.settings import RunStart
from toolassay.stages.generate import play

NAMES = "ABCDEFGH"


def written_for(request: ChatRequest) -> ChatResponse:
    """What was sampled, as it was sampled."""
    task = request.task
    assert isinstance(task, BackInstructTask)
    nodes = [{"id": tool, "input": ["words"]} for tool in task.sample.nodes]
    links = [{"source": link.source, "target": link.target} for link in task.sample.links]
    value = {
        "task_steps": [f"use {tool}" for tool in task.sample.nodes],
        "user_request": "words",
        "invoking_graph": {"nodes": nodes, "links": links},
    }
    return ChatResponse(json.dumps(value))


def folder_at(path: Path) -> Path:
    path.mkdir(exist_ok=True, parents=True)
    (path / "tool_desc.json").write_text(json.dumps(text_tools(NAMES)))
    build_graph(path)
    return path


def run(folder: Path | None, model: Answering, **more: Any) -> tuple[Path, bool]:
    with served(model):
        return generate(folder, llm="scripted", **{"seed": 1, "number_of_samples": 5, **more})


def records(folder: Path) -> list[dict[str, Any]]:
    return lines_of(folder / "data_raw.json")


def test_the_published_form_of_a_record(tmp_path: Path) -> None:
    folder, complete = run(folder_at(tmp_path), Answering(written_for), method="chain", tool_number=3)
    assert (folder, complete) == (tmp_path, True)
    record = records(folder)[4]
    first = {"id": "1-00004", "seed": 1, "method": "chain", "number_of_tools": 3}
    assert list(record)[:7] == [*first, "sampled_nodes", "sampled_links", "result"]
    assert {key: record[key] for key in first} == first
    assert record["critics"] == {"node": True, "link": True, "both": True, "llm": "unknown"}


def test_check_asks_for_the_review(tmp_path: Path) -> None:
    for check in (False, True):
        model = Answering(written_for)
        run(folder_at(tmp_path / str(check)), model, check=check)
        assert all(("check_by_teacher" in r.messages[0]["content"]) == check for r in model.asked)


def test_the_date_is_kept_and_used_again(tmp_path: Path) -> None:
    folder = folder_at(tmp_path / "dated")
    model = Answering(written_for)
    run(folder, model, today="2026-11-30", number_of_samples=2)
    known = json.loads((folder / "benchmark.json").read_text())
    assert (known["today"], known["generation"]["today"]) == ("2026-11-30", "2026-11-30")
    run(folder, model, number_of_samples=3)
    assert len(model.asked) == len(records(folder)) == 3
    assert all(
        request.messages[0]["content"].startswith("Today is Monday, 30 November 2026.\n\n")
        for request in model.asked
    )
    with pytest.raises(UsageError, match="--today says 2026-12-01"):
        run(folder, model, today="2026-12-01", number_of_samples=4)
    run(folder, model, today=date(2026, 12, 1), number_of_samples=1, choices=RunStart(force=True))
    assert json.loads((folder / "benchmark.json").read_text())["today"] == "2026-12-01"


def test_without_a_date_nothing_says_one(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    model = Answering(written_for)
    run(folder, model)
    assert not any("Today is" in request.messages[0]["content"] for request in model.asked)
    assert not any("today" in path.read_text() for path in folder.rglob("*.json*"))
    with pytest.raises(UsageError, match="today is not set"):
        run(folder, model, today="2026-11-30")


def test_a_preview_has_the_date_of_the_folder(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    write_json(folder / "benchmark.json", {"dependency_type": "resource", "today": "2026-11-30"})
    model = Answering(written_for)
    with served(model):
        flat(play)(folder, llm="scripted", seed=1)
    assert model.asked[0].messages[0]["content"].startswith("Today is Monday")


def test_what_is_no_date_is_one_line(tmp_path: Path) -> None:
    for command in ("generate", "pipeline"):
        done = inside(command, "--data_dir", folder_at(tmp_path), "--today", "2026-02-30")
        assert done.code == 2
        assert done.error == "error: --today: '2026-02-30' is not a date. Fix: write YYYY-MM-DD"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["A", "B", "yes", "\ud83d"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "input", "arguments", "source", "target", "x"]), inner, max_size=3
        )
    ),
    max_leaves=10,
)
answers = st.text(max_size=30) | st.builds(
    lambda steps, request, nodes, links, check: json.dumps(
        {
            "task_steps": steps,
            "user_request": request,
            "invoking_graph": {"nodes": nodes, "links": links},
            "check_by_teacher": check,
        }
    ),
    json_values | st.just(["a"]),
    json_values | st.just("words"),
    json_values | st.lists(json_values, max_size=3),
    json_values | st.lists(json_values, max_size=3),
    json_values,
)


@settings(deadline=None, max_examples=25)
@given(st.lists(answers, min_size=1, max_size=4))
def test_whatever_a_model_says_is_either_a_record_or_asked_again(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = folder_at(Path(name))
        model = Answering(lambda request: ChatResponse(texts[(len(model.asked) - 1) % len(texts)]))
        small: dict[str, Any] = {"method": "chain", "tool_number": 2, "number_of_samples": len(texts)}
        _, complete = run(folder, model, **small)
        there = len(records(folder)) if (folder / "data_raw.json").exists() else 0
        assert complete == (there == len(texts))
        asked = len(model.asked)
        again = Answering(written_for)
        assert run(folder, again, **small)[1]
        assert len(again.asked) == asked - there
        assert [record["id"] for record in records(folder)] == [f"1-{n:05d}" for n in range(len(texts))]


def test_a_template_of_ones_own(tmp_path: Path) -> None:
    folder = folder_at(tmp_path / "data")
    template = tmp_path / "t.txt"
    template.write_text("Only $$5: $nodes / $links")
    model = Answering(written_for)
    run(folder, model, prompt_template=template)
    assert model.asked[0].messages[0]["content"].startswith("Only $5: Node 1: {")
    template.write_text("no such words")
    with pytest.raises(UsageError, match=r"\$nodes and \$links"):
        run(folder_at(tmp_path / "other"), model, prompt_template=template)
    assert not (tmp_path / "other" / "runs").exists()


def test_play_keeps_nothing(tmp_path: Path) -> None:
    folder = folder_at(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    shown: list[str] = []
    with served(Answering(written_for)):
        record = flat(play)(
            folder, llm="scripted", method="dag", tool_number=4, screen=Screen(show=shown.append)
        )
    assert record is not None
    assert json.loads(shown[0]) == record
    assert record["number_of_tools"] == 4
    assert sorted(tmp_path.rglob("*")) == before


def test_a_sample_the_model_declines_is_kept_and_not_asked_again(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> ChatResponse:
        text = written_for(request).text
        return ChatResponse(text, "content_filter", refused=len(model.asked) == 2)

    model, folder = Answering(answer), folder_at(tmp_path)
    for _ in range(2):
        _, complete = run(folder, model)
        assert not complete
        assert len(model.asked) == 5
        assert [record["id"] for record in records(folder)] == ["1-00000", "1-00002", "1-00003", "1-00004"]
    assert {request.role for request in model.asked} == {"generator"}
    assert model.asked[0].item == "1-00000"


def test_what_was_refused_or_malformed_is_named(tmp_path: Path) -> None:
    def answer(request: ChatRequest) -> ChatResponse:
        number = int((request.item or "").rpartition("-")[2])
        if number == 3:
            return ChatResponse("I will not help with \x1b[31mtool E.", "stop", refused=True)
        return ChatResponse("no plan") if number == 1 else written_for(request)

    folder = folder_at(tmp_path)
    for _ in range(2):
        said: list[str] = []
        run(folder, Answering(answer), screen=Screen(say=said.append))
        (refused,) = (text for text in said if "refused by the model" in text)
        assert "1-00003: I will not help with ?[31mtool E." in refused and "1-00001" not in refused
        assert any("1-00001: " in text and "malformed" in text for text in said)
        assert lines_of(folder / "statistics.json")[-1]["refused"].keys() == {"1-00003"}


def test_a_run_that_goes_on_says_to_which_number(tmp_path: Path) -> None:
    def said(**more: Any) -> list[str]:
        lines: list[str] = []
        run(tmp_path / "d", Answering(written_for), screen=Screen(say=lines.append), **more)
        return [line for line in lines if "goes on" in line]

    folder_at(tmp_path / "d")
    assert said() == []
    (line,) = said(number_of_samples=7)
    assert "7 samples" in line
    (line,) = said(number_of_samples=None, until=2, dry_run=True)
    assert "until 2 samples pass" in line


def test_samples_that_were_cut_off_are_asked_for_again_with_a_higher_limit(tmp_path: Path) -> None:
    folder = folder_at(tmp_path / "data")

    def short(request: ChatRequest) -> ChatResponse:
        answer = written_for(request)
        return answer if len(first.asked) == 1 else ChatResponse(answer.text[:20], "length")

    first, second = Answering(short), Answering(written_for)
    assert not run(folder, first, number_of_samples=3, max_tokens=50)[1]
    kept = records(folder)
    assert run(folder, second, number_of_samples=3, max_tokens=5000)[1]
    assert len(kept) == 1 and len(second.asked) == 2
    assert {request.parameters["max_tokens"] for request in second.asked} == {5000}
    manifest = json.loads((folder / "runs/scripted/manifest.json").read_text())
    assert manifest["settings"]["max_tokens"] == 50
    assert [start["max_tokens"] for start in manifest["starts"]] == [50, 5000]
    with pytest.raises(UsageError, match="temperature"):
        run(folder, second, number_of_samples=3, max_tokens=5000, temperature=0.1)


def test_tools_that_the_offline_writer_cannot_fill_are_named_and_not_sampled(tmp_path: Path) -> None:
    said: list[str] = []
    tools = workshop_tools()
    folder = imported_folder(
        tmp_path / "d",
        {**tools, "nodes": [deep_tool("bottomless", 60), deep_tool("dig", 12), *tools["nodes"]]},
    )
    generate(folder, llm="offline", number_of_samples=40, seed=3, screen=Screen(say=said.append))
    (warning,) = (text for text in said if text.startswith("warning: "))
    assert "bottomless (" in warning and "dig (" in warning and "needs --llm MODEL" in warning
    lines = (folder / "data_raw.json").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 40
    assert not [line for line in lines if "bottomless" in line or '"dig"' in line]


def test_a_library_that_the_offline_writer_cannot_fill_is_refused(tmp_path: Path) -> None:
    folder = imported_folder(tmp_path / "d", {**workshop_tools(), "nodes": [deep_tool("bottomless", 60)]})
    with pytest.raises(UsageError, match="cannot write about any tool: bottomless"):
        generate(folder, llm="offline", number_of_samples=1, screen=Screen(say=lambda text: None))
