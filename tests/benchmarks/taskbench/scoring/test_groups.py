"""Groups of scores, the choices that a file records, and inventions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.taskbench.scoring.leaderboard import recorded_choices
from toolassay.benchmarks.taskbench.scoring.strict import HallucinationCounter, Hallucinations
from toolassay.errors import UsageError
from toolassay.evaluation.groups import groups_of, metrics_of, shape_and_size
from toolassay.evaluation.metrics_file import MetricsGroup, read_groups, write_groups
from toolassay.files.data_files import write_json
from toolassay.graph import ToolGraph
from toolassay.plans.normalised_plan import PlanReader
from toolassay.tools.library import Tool, ToolLibrary


def test_all_splits_and_sizes_added_make_fourteen_groups() -> None:
    keys = [group.key for group in groups_of(["all"], ["all"], "add")]
    assert keys[:4] == ["overall_overall", "single_overall", "chain_overall", "dag_overall"]
    assert keys[4:] == [f"overall_{size}" for size in range(1, 11)]


@pytest.mark.parametrize(
    ("splits", "sizes", "mode", "named"),
    [
        (["ring"], ["all"], "add", "single"),
        (["all"], ["many"], "add", "10"),
        (["all"], ["all"], "plus", "mul"),
        (["overall"], ["11"], "add", "'11'.* overall, 1, 2, .* 10, all"),
    ],
)
def test_unknown_groups_name_what_exists(splits: list[str], sizes: list[str], mode: str, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        groups_of(splits, sizes, mode)


def test_metrics() -> None:
    assert metrics_of(["f1", "ed", "f1"], "cot") == ("f1", "ed")
    assert "rouge" in metrics_of(["all"], "cot")
    assert "rouge" not in metrics_of(["all"], "direct")
    with pytest.raises(UsageError, match="bertscore"):
        metrics_of(["bleu"], "cot")


def test_shape_is_derived_where_a_tool_is_used_twice() -> None:
    nodes, links = [{"task": "a"}, {"task": "a"}], [{"source": "a", "target": "a"}]
    assert shape_and_size({"task_nodes": nodes, "task_links": links}) == ("chain", 2)


def test_shape_is_derived_where_it_is_not_stated() -> None:
    nodes = [{"task": "a"}, {"task": "b"}, {"task": "c"}]
    chain = [{"source": "a", "target": "b"}, {"source": "b", "target": "c"}]
    assert shape_and_size({"task_nodes": nodes, "task_links": chain}) == ("chain", 3)
    assert shape_and_size({"task_nodes": nodes, "task_links": chain, "type": "dag"}) == ("dag", 3)
    assert shape_and_size({"task_nodes": nodes[:1]}) == ("single", 1)
    assert shape_and_size({}) == ("single", 0)


SIGNATURE = (
    "toolassay:1|mode:strict|metrics:f1+ed|alignment:node|keep:first|bootstrap:7@3|data:ab|group:x|n:1"
)


def groups(keys: list[str], signature: str = SIGNATURE) -> dict[str, MetricsGroup]:
    return {key: MetricsGroup({"strict": {"signature": signature}}) for key in keys}


@pytest.mark.parametrize(
    ("splits", "sizes", "mode"),
    [
        (["overall"], ["overall"], "add"),
        (["all"], ["all"], "add"),
        (["chain", "dag"], ["2", "3"], "mul"),
    ],
)
def test_the_groups_of_a_file_are_asked_for_again(splits: list[str], sizes: list[str], mode: str) -> None:
    keys = [group.key for group in groups_of(splits, sizes, mode)]
    choices = recorded_choices(groups(keys), Path("m.json"))
    found = [group.key for group in groups_of(choices.splits, map(str, choices.n_tools), choices.mode)]
    assert sorted(found) == sorted(keys)


def test_choices_come_from_the_signature() -> None:
    choices = recorded_choices(groups(["overall_overall"]), Path("m.json"))
    assert choices.metrics == ("f1", "ed")
    assert (choices.alignment, choices.keep, choices.resamples, choices.seed) == ("node", "first", 7, 3)
    assert not choices.rouge_median
    assert choices.rouge_backend == "builtin"


def test_the_backend_of_rouge_comes_from_the_signature() -> None:
    signature = SIGNATURE.replace("|data:", "|rouge:rouge-score-0.1.2|data:")
    choices = recorded_choices(groups(["overall_overall"], signature), Path("m.json"))
    assert choices.rouge_backend == "rouge-score"


@pytest.mark.parametrize("signature", ["", "metrics:f1", SIGNATURE.replace("7@3", "many")])
def test_a_signature_that_says_too_little_is_an_error(signature: str) -> None:
    with pytest.raises(UsageError, match=r"m\.json: has no signature"):
        recorded_choices(groups(["overall_overall"], signature), Path("m.json"))


@pytest.mark.parametrize("value", [[], {}, {"a": 3}, {"a": {"strict": 3}}])
def test_what_is_no_metrics_file_is_named(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "m.json", value)
    with pytest.raises(UsageError, match=r"m\.json: is not a metrics file"):
        read_groups(tmp_path / "m.json")


def test_keys_that_users_add_survive(tmp_path: Path) -> None:
    groups = {"overall_overall": {"strict": {"signature": "n:1", "own": [1]}, "own": {"a": None}}}
    write_json(tmp_path / "m.json", groups)
    write_groups(tmp_path / "n.json", read_groups(tmp_path / "m.json"))
    assert (tmp_path / "n.json").read_bytes() == (tmp_path / "m.json").read_bytes()


LIBRARY = ToolLibrary(
    [
        Tool("Two_Words", inputs=("text",), outputs=("image",)),
        Tool("See", inputs=("image",), outputs=("text",)),
    ]
)
READER = PlanReader(LIBRARY, "resource")
GRAPH = ToolGraph.build(LIBRARY, "resource")


def _count(plan: Mapping[str, object], graph: ToolGraph | None = GRAPH) -> Hallucinations:
    read = READER.plan(plan)
    assert read is not None
    return HallucinationCounter(LIBRARY, graph, READER).count(read)


def test_names_meet_as_they_do_in_the_scores() -> None:
    nodes = [{"task": "Two Words"}, {"task": "Two_Words"}, {"task": "See"}, {"task": "see"}]
    assert _count({"task_nodes": nodes})[:2] == (1, 4)


@pytest.mark.parametrize(
    ("source", "target", "invented"),
    [("Two Words", "See", 0), ("See", "See", 1), ("Two Words", "Nothing", 1)],
)
def test_a_link_exists_if_the_graph_has_it(source: str, target: str, invented: int) -> None:
    plan = {"task_nodes": [{"task": "See"}], "task_links": [{"source": source, "target": target}]}
    assert _count(plan)[2:] == (invented, 1)


def test_without_a_graph_the_ends_decide() -> None:
    plan = {
        "task_nodes": [],
        "task_links": [{"source": "See", "target": "See"}, {"source": "x", "target": "See"}],
    }
    assert _count(plan, None)[2:] == (1, 2)


def test_references_are_links_where_there_is_no_list() -> None:
    nodes = [{"task": "See", "arguments": []}, {"task": "See", "arguments": ["<node-0>"]}]
    assert _count({"task_nodes": nodes})[2:] == (1, 1)
