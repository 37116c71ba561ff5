"""One reading for both modes gives the counts of `compat` and `strict`."""

from __future__ import annotations

import json
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.taskbench.scoring import chunk_scorer
from toolassay.benchmarks.taskbench.scoring.chunk_scorer import ChunkLines, ChunkScorer
from toolassay.benchmarks.taskbench.scoring.compat import CompatItem, CompatReader
from toolassay.benchmarks.taskbench.scoring.evaluation import Choices, PlanEvaluator, evaluate_predictions
from toolassay.benchmarks.taskbench.scoring.regular import RegularScorer, can_be_regular
from toolassay.benchmarks.taskbench.scoring.step_scores import TextScores
from toolassay.benchmarks.taskbench.scoring.strict import HallucinationCounter, score_plan
from toolassay.errors import UsageError
from toolassay.evaluation.line_index import CompactTexts, LineIndex
from toolassay.normalised_plan import PlanReader, same_plan
from toolassay.tools import Tool, ToolLibrary

LIBRARY = ToolLibrary(
    [
        Tool("Painter", inputs=("text",), outputs=("image",)),
        Tool("Painter-to-text", inputs=("image",), outputs=("text",)),
        Tool("Two Words", inputs=("text",)),
        Tool("Reader", outputs=("text",)),
    ]
)
READER = PlanReader(LIBRARY, "resource")
INVENTIONS = HallucinationCounter(LIBRARY, None, READER)
NAMES = [*LIBRARY.ids, "ghost", "spirit"]
STEPS: list[Any] = [["a"], ["a b", "c"], [{"step": "q"}], [{"name": "q"}], ["a", {"step": "b"}]]

literals = st.sampled_from(
    ["a.jpg", "clip.avi.png", "www.author.com", "7", "7.0", "'7'", "hello world", " hello world", "Reader"]
)
tools = st.lists(st.sampled_from(NAMES), min_size=1, max_size=5, unique=True)


@st.composite
def regular_plans(draw: st.DrawFn) -> dict[str, Any]:
    names = draw(tools)
    nodes = []
    for place, name in enumerate(names):
        others = [f"<node-{other}>" for other in range(len(names)) if other != place]
        argument = literals | st.sampled_from(others) if others else literals
        nodes.append({"task": name, "arguments": draw(st.lists(argument, max_size=3))})
    ends = st.sampled_from([*NAMES, "Two_Words"])
    link = st.fixed_dictionaries({"source": ends, "target": ends})
    steps = draw(st.sampled_from(STEPS))
    return {"task_nodes": nodes, "task_links": draw(st.lists(link, max_size=3)), "task_steps": steps}


def _scorer(library: ToolLibrary = LIBRARY) -> tuple[RegularScorer, CompatReader]:
    compat = CompatReader(library, "resource", with_steps=True)
    return RegularScorer(library, compat.output_types, READER, INVENTIONS), compat


def _tools(item: CompatItem) -> list[list[int]]:
    return [sorted(found) for found in (item.right, item.extra, item.absent)]


@given(pairs=st.lists(st.tuples(regular_plans(), regular_plans(), st.booleans()), max_size=4))
def test_the_counts_of_both_modes(pairs: list[tuple[dict[str, Any], dict[str, Any], bool]]) -> None:
    scorer, compat = _scorer()
    expected, strict = [], []
    for row, (gold, other, copied) in enumerate(pairs):
        predicted = json.loads(json.dumps(gold)) if copied else other
        is_same = same_plan(gold, predicted)
        found = scorer.read(gold, predicted, is_same=is_same)
        assert found is not None
        assert found.row == row
        item = compat.item(gold, predicted, is_same=is_same)
        assert item.is_scored
        assert item.counts_arguments
        assert not item.needs_previous
        assert (found.last, found.published_steps) == (item.last, item.steps)
        wanted, given_plan = READER.plan(gold), READER.plan(predicted)
        assert wanted is not None
        assert given_plan is not None
        assert found.steps == (wanted.steps, given_plan.steps)
        expected.append(item)
        strict.append((score_plan(wanted, given_plan), INVENTIONS.count(given_plan)))
    for _ in range(2):  # what was counted is forgotten
        counts = scorer.counts()
        assert counts.compat.tolist() == [
            [*item.argument_names, *item.argument_values, *item.links] for item in expected
        ]
        assert counts.compat_similarities.tolist() == [item.similarity for item in expected]
        tools = [
            [sorted(tool[pair == row].tolist()) for pair, tool in counts.tools]
            for row in range(len(expected))
        ]
        assert tools == [_tools(item) for item in expected]
        assert counts.strict.tolist() == [
            [*chain.from_iterable(part or () for part in item[:4]), *invented] for item, invented in strict
        ]
        assert counts.strict_similarities.tolist() == [item.edit_similarity for item, _ in strict]
        expected, strict = [], []


NODE = {"task": "Painter", "arguments": ["a red bicycle"]}
PLAN: dict[str, Any] = {"task_nodes": [NODE], "task_links": [], "task_steps": ["Paint it."]}


@pytest.mark.parametrize(
    "changed",
    [
        {"task_nodes": []},
        {"task_nodes": None},
        {"task_nodes": [NODE, NODE]},
        {"task_nodes": [{"task": "Painter"}]},
        {"task_nodes": [{"task": "Two_Words", "arguments": []}]},
        {"task_nodes": [{"task": 7, "arguments": []}]},
        {"task_nodes": [{"task": "-" * 100_000, "arguments": []}]},
        {"task_nodes": [{"task": "Painter", "arguments": {"a": "b"}}]},
        *(
            {"task_nodes": [{"task": "Painter", "arguments": [odd]}, {"task": "Reader", "arguments": []}]}
            for odd in (7, None, ["<node-1>"], "<node-0>", "<node-2>", "<node-01>", "see <node-1>", "<node-")
        ),
        {"task_links": None},
        {"task_links": {}},
        {"task_links": [{"source": "Painter"}]},
        {"task_links": [{"source": "Painter", "target": 7}]},
        {"task_steps": []},
        {"task_steps": "Paint it."},
    ],
)
def test_other_plans_are_left_to_the_modes(changed: dict[str, Any]) -> None:
    scorer, _ = _scorer()
    assert scorer.read(PLAN, PLAN, is_same=False) is not None
    assert scorer.read(PLAN, PLAN | changed, is_same=False) is None
    assert scorer.read(PLAN | changed, PLAN, is_same=False) is None
    no_plans: list[Any] = [None, [], "text", {}]
    assert [scorer.read(PLAN, value, is_same=False) for value in no_plans] == [None] * 4


def test_names_of_invented_tools_do_not_fill_the_memory() -> None:
    scorer, _ = _scorer()
    named = [
        PLAN | {"task_nodes": [{"task": f"invented {number}", "arguments": []}]} for number in range(2_000)
    ]
    found = [scorer.read(PLAN, plan, is_same=False) for plan in named]
    assert found[0] is not None
    assert found[-1] is None
    assert scorer.read(PLAN, PLAN, is_same=False) is not None


def test_an_evaluation_gives_the_same_numbers_without_it(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = (root / "data_multimedia" / "data.json").read_text(encoding="utf-8").splitlines()
    lines = []
    for number, line in enumerate(labels):
        label = json.loads(line)
        plan = {key: label[key] for key in ("task_nodes", "task_links", "task_steps")}
        plan["task_nodes"] = plan["task_nodes"][number % 3 == 0 :]
        lines.append(json.dumps({"id": label["id"], "result": plan}))
    predictions = tmp_path / "m.json"
    predictions.write_text("\n".join(lines), encoding="utf-8")
    library = ToolLibrary.load(root / "data_multimedia" / "tool_desc.json", normalise_types=False)
    choices = Choices(("f1", "ed", "link", "argument", "rouge"), ("all",), ("all",))
    scored = []
    read = RegularScorer.read

    def counted(*args: Any, **kwargs: Any) -> Any:
        scored.append(read(*args, **kwargs))
        return scored[-1]

    def evaluated() -> Any:
        return evaluate_predictions(
            root / "data_multimedia" / "data.json", predictions, library, "resource", **vars(choices)
        ).groups

    monkeypatch.setattr(RegularScorer, "read", counted)
    found = evaluated()
    assert sum(one is not None for one in scored) > len(labels) / 2
    monkeypatch.setattr(RegularScorer, "read", lambda *_, **__: None)
    assert evaluated() == found


def test_steps_nested_too_deeply_are_left_to_the_modes() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    scorer, _ = _scorer()
    found = scorer.read(PLAN, PLAN | {"task_steps": [deep]}, is_same=False)
    assert found is None


def test_tools_whose_arguments_may_be_spelled_alike_are_left_to_the_modes() -> None:
    # Painter with the text "audio-a" and Painter-text with the audio "a" are both "Painter-text-audio-a".
    library = ToolLibrary([Tool("Painter", outputs=("image",)), Tool("Painter-text", outputs=("audio",))])
    scorer, _ = _scorer(library)
    longer = PLAN | {"task_nodes": [{"task": "Painter-text", "arguments": []}]}
    assert scorer.read(PLAN, PLAN, is_same=False) is not None
    assert scorer.read(PLAN, longer, is_same=False) is None
    scorer, _ = _scorer(ToolLibrary([Tool("Painter", outputs=("image",))]))
    assert scorer.read(PLAN, longer, is_same=False) is None
    scorer, _ = _scorer(ToolLibrary([Tool("Painter-text-to", outputs=("image",))]))
    assert scorer.read(PLAN, PLAN, is_same=False) is None


@pytest.mark.parametrize(
    ("tool", "found"),
    [
        (Tool("Painter", outputs=("time-series",)), True),
        (Tool("Painter", outputs=("text-file",)), False),
        (Tool("The_Painter", outputs=("image",)), False),
    ],
)
def test_libraries_of_regular_plans(tool: Tool, found: bool) -> None:
    library = ToolLibrary([tool])
    types = CompatReader(library, "resource", with_steps=True).output_types
    assert can_be_regular(library, types) is found


def test_a_chunk_that_fails_leaves_nothing_for_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chunk_scorer, "_AT_ONCE", 1)
    labels, predictions = tmp_path / "data.json", tmp_path / "m.json"
    lines = [json.dumps({"id": str(number), "type": "single", **PLAN}) for number in range(2)]
    labels.write_text("\n".join([*lines, '"no label"']), encoding="utf-8")
    predictions.write_text("\n".join(lines), encoding="utf-8")
    job = PlanEvaluator(labels, predictions, LIBRARY, "resource", Choices(("f1",), ("all",), ("all",))).job

    def counted(scorer: ChunkScorer, *numbers: int) -> list[Any]:
        with LineIndex(labels, fix="") as own, LineIndex(predictions, fix="") as others:
            part = scorer.score(ChunkLines.of(numbers, own, others, own.matches(others)))
        return list(part.strict.items(["f1"], TextScores(np.empty((0, 4)), None), CompactTexts("abc")))

    scorer = ChunkScorer(job)
    with pytest.raises(UsageError, match="not an object"):
        counted(scorer, 1, 2, 3)
    assert counted(scorer, 2) == counted(ChunkScorer(job), 2)
