from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.answering import Answering, served
from tests.support.running import entries_of
from toolassay import build_graph, infer
from toolassay.console.screen import Screen
from toolassay.errors import UsageError
from toolassay.models import ChatResponse

PLAN = '{"task_steps": ["a"], "task_nodes": [{"task": "A", "arguments": ["x"]}], "task_links": []}'


def folder_at(path: Path, texts: list[str], *, kind: str = "resource") -> Path:
    tool: dict[str, Any] = {"id": "A", "desc": "does it"}
    if kind == "resource":
        tool |= {"input-type": ["text"], "output-type": ["text"]}
    else:
        tool |= {"parameters": [{"name": "p", "type": "string", "desc": "a thing"}]}
    path.mkdir(exist_ok=True)
    (path / "tool_desc.json").write_text(json.dumps({"nodes": [tool]}))
    lines = [json.dumps({"id": number, "user_request": text}) + "\n" for number, text in enumerate(texts)]
    (path / "user_requests.json").write_text("".join(lines))
    return path


def run(folder: Path, model: Answering, **more: Any) -> list[dict[str, Any]]:
    with served(model):
        infer(folder, llm="scripted", **more)
    text = (folder / "predictions/scripted.json").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.split("\n")[:-1]]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["task_steps", "task_nodes", "task_links", "task", "id", "arguments", "source", "name"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)
answers = st.text(max_size=40) | st.builds(json.dumps, json_values) | st.just(PLAN + "\ud83d")


@settings(deadline=None, max_examples=40)
@given(
    texts=st.lists(answers, min_size=1, max_size=4),
    reason=st.sampled_from(["stop", "length", None]),
    kind=st.sampled_from(["resource", "temporal"]),
)
def test_whatever_a_model_says_there_is_one_line_a_request_and_a_second_run_changes_nothing(
    texts: list[str], reason: str | None, kind: str
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = folder_at(Path(name), [f"request {n}" for n in range(len(texts))], kind=kind)
        model = Answering(lambda request: ChatResponse(texts[len(model.asked) - 1], reason))
        lines = run(folder, model, dependency_type=kind)
        assert [line["id"] for line in lines] == list(range(len(texts)))
        assert all((line["result"] is None) == (line.get("outcome") == "malformed") for line in lines)
        assert reason != "length" or not any(line["result"] for line in lines)
        before = (folder / "predictions/scripted.json").read_bytes()
        run(folder, model, dependency_type=kind)
        assert len(model.asked) == len(texts)
        assert (folder / "predictions/scripted.json").read_bytes() == before


def test_the_request_reaches_the_prompt_whole(tmp_path: Path) -> None:
    texts = ["pay $5 to $request and ${tools}", "line one\nline two", "café \u2028 \U0001f600"]
    model = Answering(lambda request: ChatResponse(PLAN))
    lines = run(folder_at(tmp_path, texts), model)
    for request, text in zip(model.asked, texts, strict=True):
        assert f"# REQUEST #\n{text}\n" in request.messages[0]["content"]
    assert [line["user_request"] for line in lines] == texts


@pytest.mark.parametrize(
    ("template", "prompt"),
    [
        ("$tools|$demos|$request", "TOOLS||REQUEST"),
        ("$$request is $request, again $request: $tools", "$request is REQUEST, again REQUEST: TOOLS"),
        ("$request_id $request $tools", "$request_id REQUEST TOOLS"),
    ],
)
def test_a_template_of_ones_own(tmp_path: Path, template: str, prompt: str) -> None:
    request = "put $tools in {x} for $$5"
    folder = folder_at(tmp_path / "data", [request])
    (tmp_path / "t.txt").write_text(template)
    model = Answering(lambda request: ChatResponse(PLAN))
    run(folder, model, prompt_template=tmp_path / "t.txt")
    tool = json.dumps(json.loads((folder / "tool_desc.json").read_text())["nodes"][0])
    expected = prompt.replace("TOOLS", tool).replace("REQUEST", request)
    assert model.asked[0].messages[0]["content"] == expected


@pytest.mark.parametrize("kind", ["resource", "temporal"])
@pytest.mark.parametrize("count", [0, 2])
def test_the_original_text_as_a_template_gives_the_original_bytes(
    tmp_path: Path, kind: str, count: int
) -> None:
    demos = {
        "resource": ["30934207", "20566230", "19003517"],
        "temporal": ["38563456", "27267145", "91005535"],
    }[kind]
    said = {"name": "who", "value": "é"}
    own = {"input-type": ["text"], "output-type": ["Image"]} if kind == "resource" else {}
    parameters = [{"name": "who", "type": "string", "desc": "Whom"}]
    tools = [
        {"id": f"tool {n}", "desc": "Naïve 'tool'.", **own, **({} if own else {"parameters": parameters})}
        for n in range(2)
    ]
    labels = [
        {
            "id": number,
            "user_request": f"Café $tools {number}",
            "task_steps": ["Step 1: é"],
            "task_nodes": [{"task": "tool 0", "arguments": ["é"] if own else [said]}],
            "task_links": [],
        }
        for number in ["1", demos[1], demos[2], demos[0]]
    ]
    folder = folder_at(tmp_path / "data", ["naïve $5 {{x}}"], kind=kind)
    (folder / "graph_desc.json").unlink(missing_ok=True)
    (folder / "tool_desc.json").write_text(json.dumps({"nodes": tools}))
    (folder / "data.json").write_text("".join(json.dumps(label) + "\n" for label in labels))
    build_graph(folder, dependency_type=kind)
    (tmp_path / "t.txt").write_text("# TOOLS #:\n$tools\n\nPlan.;$demos\n\nFor: $request\n# RESULT #:")
    model = Answering(lambda request: ChatResponse(PLAN))
    run(folder, model, prompt_template=tmp_path / "t.txt", use_demos=count, dependency_type=kind)

    # As published: escapes in ASCII, types spelled as in the file, names of parameters, demonstrations of the
    # script in the order of the file, links only where the order is what matters.
    shown = [tool if own else {**tool, "parameters": ["who"]} for tool in tools]
    text = "# TOOLS #:\n" + "".join(json.dumps(tool) + "\n" for tool in shown) + "\nPlan.;"
    keys = ["task_steps", "task_nodes", *([] if own else ["task_links"])]
    text += "\n" if count else ""
    for label in labels:
        if label["id"] in demos[:count]:
            plan = json.dumps({key: label[key] for key in keys})
            text += f"\n# EXAMPLE #:\n# USER REQUEST #: {label['user_request']}\n# RESULT #: {plan}"
    text += "\n\nFor: naïve $5 {{x}}\n# RESULT #:"
    assert [message["content"] for message in model.asked[0].messages] == [text]


@pytest.mark.parametrize(
    ("said", "is_rewritten"),
    [
        (PLAN, False),
        (f"Here it is:\n```json\n{PLAN}\n```\nDone.", False),
        (f"<think>Maybe {{}}</think>{PLAN}", False),
        (PLAN.replace('"', "'"), True),
        (PLAN.replace("task_nodes", "nodes"), True),
        (f"{PLAN} or {{}}", True),
        ("I would call a tool.", True),
    ],
)
def test_every_answer_that_is_not_the_requested_json_is_rewritten(
    tmp_path: Path, said: str, is_rewritten: bool
) -> None:
    model = Answering(lambda request: ChatResponse(PLAN if request.role == "reformat" else said))
    folder = folder_at(tmp_path, ["x"])
    for _ in range(2):
        run(folder, model, reformat=True)
        roles = [request.role for request in model.asked]
        assert roles == (["planner", "reformat"] if is_rewritten else ["planner"])


def test_the_worked_example_is_a_recorded_setting(tmp_path: Path) -> None:
    folder = folder_at(tmp_path / "data", ["x"])
    model = Answering(lambda request: ChatResponse(PLAN))
    run(folder, model)
    manifest = folder / "predictions/runs/scripted/manifest.json"
    assert "prompt" not in json.loads(manifest.read_text())["settings"], "runs of before continue"
    with pytest.raises(UsageError, match="prompt: None -> 'example'"):
        run(folder, model, prompt="example")
    run(folder, model, prompt="example", force=True)
    assert json.loads(manifest.read_text())["settings"]["prompt"] == "example"
    published, example = (request.messages[-1]["content"] for request in model.asked)
    assert '{"id": "A"' in published
    assert "\n- A: does it. Takes text; gives text.\n" in example
    assert [turn["role"] for turn in model.asked[-1].messages] == ["user", "assistant", "user"]


def test_the_gold_is_never_shown(tmp_path: Path) -> None:
    folder = folder_at(tmp_path, ["x", "y"])
    label = {"id": 0, "user_request": "x", "task_steps": ["GOLD"], "task_nodes": [{"task": "A"}]}
    (folder / "data.json").write_text(json.dumps(label) + "\n")
    model = Answering(lambda request: ChatResponse(PLAN))
    run(folder, model)
    for request in model.asked:
        assert "GOLD" not in str(request.messages)
        assert "GOLD" not in str(request.task)


def test_the_first_exchange_is_shown_once(tmp_path: Path) -> None:
    said: list[str] = []
    model = Answering(lambda request: ChatResponse(PLAN))
    run(folder_at(tmp_path, ["x", "y"]), model, log_first_detail=True, screen=Screen(say=said.append))
    (shown,) = [text for text in said if PLAN in text]
    assert "# REQUEST #\nx\n" in shown


def test_a_refusal_is_kept_marked_and_not_asked_again(tmp_path: Path) -> None:
    folder = folder_at(tmp_path, ["x", "y"])
    model = Answering(
        lambda request: ChatResponse(
            PLAN, "content_filter", refused="REQUEST #\ny\n" in request.messages[0]["content"]
        )
    )
    for _ in range(2):
        lines = run(folder, model, reformat=True)
        assert lines[0]["result"] is not None and "outcome" not in lines[0]
        assert (lines[1]["result"], lines[1]["outcome"]) == (None, "refused")
        assert len(model.asked) == 2
    journal = entries_of(folder / "predictions/runs/scripted/journal.jsonl")
    assert [entry["outcome"] for entry in journal] == ["answered", "refused"]
    assert journal[1]["response"] == PLAN
