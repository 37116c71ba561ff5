from __future__ import annotations

import pytest

from toolassay.errors import UsageError
from toolassay.evaluation.groups import groups_of, metrics_of, shape_and_size


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
