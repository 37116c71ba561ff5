"""One item as the published TaskBench evaluator sees it: sufficient statistics for every published number.

What it leaves out (anything that raises while being read), how far it counts a sample before it gives up
on it, and the stale-argument path (see `compat_arguments`) are kept. Where it crashes, a choice is made:

* temporal `task_links` that are not a list of objects with hashable `source` and `target`: as if empty;
* label steps that are not texts: their Python spelling, as for predictions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from rapidfuzz.distance import Indel

from toolassay.benchmarks.taskbench.scoring.compat_arguments import (
    ArgumentConverter,
    Converted,
    NothingConverted,
)
from toolassay.benchmarks.taskbench.scoring.compat_steps import published_steps_text
from toolassay.graph import DependencyType
from toolassay.metrics.counts import Counts, set_counts
from toolassay.tools import ToolLibrary

NO_COUNTS = Counts(0, 0, 0)


@dataclass(slots=True)
class CompatItem:
    """The sufficient statistics of one item.

    `right`, `extra` and `absent` are positions in the library: tools in both plans, in the prediction
    only, in the label only. `last` is the argument converted last; `needs_previous` says that the item
    borrows an argument from an earlier sample, `borrowed` how many arguments were stand-ins.
    """

    steps: tuple[str, str] | None = None
    counts_arguments: bool = False
    is_scored: bool = False
    argument_names: Counts = NO_COUNTS
    argument_values: Counts = NO_COUNTS
    links: Counts = NO_COUNTS
    similarity: float = 0.0
    right: list[int] = field(default_factory=list)
    extra: list[int] = field(default_factory=list)
    absent: list[int] = field(default_factory=list)
    last: Converted | None = None
    borrowed: int = 0
    needs_previous: bool = False
    unreadable_links: bool = False
    lacks_gold_arguments: bool = False


class CompatReader:
    """Reads items the published way.

    Args:
        library: the tools, with their published ids.
        dependency_type: whether links come from references (resource) or from `task_links` (temporal).
        with_steps: whether ROUGE or BERTScore was asked for; then a plan without steps is left out of
            everything, as published.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType, *, with_steps: bool) -> None:
        self._positions: Mapping[str, int] = {tool.id: place for place, tool in enumerate(library)}
        self._output_types = {
            tool.id: str((tool.source.get("output-type") or tool.outputs or ("none",))[0]) for tool in library
        }
        self._is_resource = dependency_type == "resource"
        self._with_steps = with_steps

    def item(self, label: Mapping[str, Any], result: Any, previous: Converted | None = None) -> CompatItem:
        """The statistics of one label and one prediction (its `result`).

        Args:
            label: the label, in the repository's form.
            result: the predicted plan, whatever it is.
            previous: the argument converted last in an earlier sample of the same group.
        """
        item = CompatItem()
        converter = ArgumentConverter(self._output_types, previous)
        try:
            self._read(item, converter, label, result)
        except NothingConverted:
            item.needs_previous = True
        except Exception:
            item.lacks_gold_arguments = _lacks_arguments(label)
        item.last, item.borrowed = converter.last, converter.borrowed
        return item

    def _read(
        self, item: CompatItem, converter: ArgumentConverter, label: Mapping[str, Any], result: Any
    ) -> None:
        if self._with_steps:
            predicted_steps, gold_steps = result["task_steps"], label["task_steps"]
            item.steps = published_steps_text(gold_steps), published_steps_text(predicted_steps)
        gold_nodes, predicted_nodes = label["task_nodes"], result["task_nodes"]
        gold_names = [node["task"] for node in gold_nodes]
        predicted_names = [node["task"] for node in predicted_nodes]
        gold_links: Any
        predicted_links: Any
        if self._is_resource:
            gold_names = [name.replace("_", " ") for name in gold_names]
            predicted_names = [name.replace("_", " ") for name in predicted_names]
            gold, gold_links = converter.convert(gold_nodes, gold_names, required=True)
            predicted, predicted_links = converter.convert(predicted_nodes, predicted_names, required=False)
            gold_keys = _resource_keys(gold_names, gold)
            predicted_keys = _resource_keys(predicted_names, predicted)
        else:
            predicted_links, gold_links = result["task_links"], label["task_links"]
            gold_keys = _temporal_keys(gold_names, [node["arguments"] for node in gold_nodes])
            predicted_keys = _temporal_keys(
                predicted_names, [node.get("arguments", []) for node in predicted_nodes]
            )
        item.counts_arguments = True
        if not all(isinstance(name, str) for name in (*gold_names, *predicted_names)):
            raise TypeError("a tool name that is not a text")
        if not self._is_resource:
            predicted_links, gold_links = self._pairs(item, predicted_links), self._pairs(item, gold_links)
        item.is_scored = True
        item.argument_names = set_counts(gold_keys[0], predicted_keys[0])
        item.argument_values = set_counts(gold_keys[1], predicted_keys[1])
        item.links = set_counts(gold_links, predicted_links)
        self._compare_names(item, gold_names, predicted_names)

    def _compare_names(self, item: CompatItem, gold: list[str], predicted: list[str]) -> None:
        place = self._positions.get
        gold_places = [place(name, -1) for name in gold]
        predicted_places = [place(name, -1) for name in predicted]
        item.similarity = Indel.normalized_similarity(gold_places, predicted_places)
        gold_set, predicted_set = set(gold_places) - {-1}, set(predicted_places) - {-1}
        item.right = sorted(gold_set & predicted_set)
        item.extra = sorted(predicted_set - gold_set)
        item.absent = sorted(gold_set - predicted_set)

    @staticmethod
    def _pairs(item: CompatItem, links: Any) -> list[tuple[Any, Any]]:
        """The links as pairs; the published evaluator crashes where they are unreadable: none, here."""
        try:
            pairs = [(link["source"], link["target"]) for link in links]
            set(pairs)
        except Exception:
            item.unreadable_links = True
            return []
        return pairs


def _resource_keys(names: list[str], arguments: list[list[Converted]]) -> tuple[list[str], list[str]]:
    pairs = [(name, argument) for name, given in zip(names, arguments, strict=True) for argument in given]
    return (
        [f"{name}-{argument.type}" for name, argument in pairs],
        [f"{name}-{argument.type}-{argument.value}" for name, argument in pairs],
    )


def _temporal_keys(names: list[Any], arguments: list[Any]) -> tuple[list[str], list[str]]:
    names_only: list[str] = []
    with_values: list[str] = []
    for name, given in zip(names, arguments, strict=True):
        for argument in given:
            names_only.append(f"{name}-{argument['name']}")
            with_values.append(f"{name}-{argument['name']}-{argument['value']}")
    return names_only, with_values


def _lacks_arguments(label: Mapping[str, Any]) -> bool:
    nodes = label.get("task_nodes")
    return isinstance(nodes, list) and any(isinstance(n, dict) and "arguments" not in n for n in nodes)
