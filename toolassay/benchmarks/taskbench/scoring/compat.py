"""Compat: the counts of one item as the published evaluator makes them, of nodes, links, arguments and steps.

Two properties of the published evaluator are reproduced. It leaves out any sample that raises an exception,
after counting the parts before it. And if it cannot convert an argument (a number, null, a reference out of
range, …), it silently reuses **the last argument that it converted**: in the same plan, in the label just
before, or in an earlier sample (`ArgumentConverter.last`). Where it crashes, this module chooses:

* temporal `task_links` that are not a list of objects with hashable `source` and `target`: treated as empty;
* label steps that are not strings: their Python `str()`, as for predictions.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rapidfuzz.distance import Indel

from toolassay.files.data_files import package_data
from toolassay.graph import DependencyType
from toolassay.metrics.f1 import MatchCounts, set_counts
from toolassay.tools.library import ToolLibrary

_EXTENSIONS = package_data(__package__, "extensions.json")
_TYPE_OF_EXTENSION = {extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions}
# A file extension anywhere, as published: matches ".au" in "www.author.com" too; not "jpg" without a dot.
_MARKER = re.compile(rf"\.({'|'.join(_TYPE_OF_EXTENSION)})")
_REFERENCE = "<node-"
_STEP_KEYS = ("task", "step", "id", "step_name")
_NO_COUNTS = MatchCounts(0, 0, 0)


Converted = tuple[str, str]
"""An argument as the published evaluator compares it: a resource type, and a text or a tool name."""


class NothingConverted(Exception):
    """An argument cannot be converted, and this sample has no earlier one to reuse."""


def content_type(text: str) -> str:
    """The type that the published evaluator guesses from a file extension anywhere in the text.

    Image takes precedence over audio, and audio over video.

    >>> content_type("clip.avi.png"), content_type("a.JPG"), content_type("https://www.author.com")
    ('image', 'text', 'audio')
    """
    found = {_TYPE_OF_EXTENSION[extension] for extension in _MARKER.findall(text)}
    return next((kind for kind in _EXTENSIONS if kind in found), "text")


class ArgumentConverter:
    """Converts the arguments of one sample: first those of the label, then those of the prediction.

    Args:
        output_types: the first output type of each tool by id ("none" if it has none).
        last: the argument converted last before this sample, if any.
    """

    def __init__(self, output_types: Mapping[str, str], last: Converted | None = None) -> None:
        self._output_types = output_types
        self.last = last
        self.borrowed = 0

    def convert(
        self, nodes: Sequence[Any], names: Sequence[str], *, required: bool
    ) -> tuple[list[str], list[str], list[tuple[str, str]]]:
        """The arguments of all nodes as texts, without and with values, and the links that references form.

        Args:
            nodes: the plan's nodes.
            names: their normalised tool names.
            required: whether a node without the key `arguments` is an error (labels) or has no arguments.

        Returns:
            `name-type` and `name-type-value` of each argument, and (source name, raw target name) of each
            link.

        Raises:
            NothingConverted: an argument cannot be converted and there is none to reuse.
            Exception: anything else that a malformed plan causes.
        """
        with_types: list[str] = []
        with_values: list[str] = []
        links: list[tuple[str, str]] = []
        kind, value = self.last or (None, "")
        try:
            for own_position, (node, name) in enumerate(zip(nodes, names, strict=True)):
                for argument in node["arguments"] if required else node.get("arguments", []):
                    try:
                        text = argument if type(argument) is str else _as_text(argument)
                        if _REFERENCE in text:
                            start = text.index(_REFERENCE) + len(_REFERENCE)
                            position = int(text[start : text.index(">")])
                            # A reference of a node to itself is dropped, as published.
                            if position == own_position:
                                continue
                            source = names[position]
                            links.append((source, node["task"]))
                            kind = self._output_types.get(source, "other")
                            value = source
                        else:
                            kind = content_type(text) if "." in text else "text"
                            value = text
                    except Exception:
                        # As published: for an argument that raises, the last converted one is used.
                        self.borrowed += 1
                        if kind is None:
                            raise NothingConverted from None
                    key = f"{name}-{kind}"
                    with_types.append(key)
                    with_values.append(f"{key}-{value}")
        finally:
            self.last = None if kind is None else (kind, value)
        return with_types, with_values, links


def _as_text(argument: Any) -> str:
    if isinstance(argument, dict):
        argument = next(iter(argument.values()))
    if isinstance(argument, list):
        argument = " ".join(argument)
    if not isinstance(argument, str):
        raise TypeError("not a text")
    return argument


def published_steps_text(steps: Any) -> str:
    r"""Steps joined by newlines. If the steps are objects, the first one determines the key for all.

    Anything that raises becomes its Python `str()`, and a plain string one character per line, as published.

    >>> published_steps_text(["a", "b"]), published_steps_text([{"step": "a"}]), published_steps_text(None)
    ('a\nb', 'a', 'None')
    """
    try:
        first = steps[0]
        if isinstance(first, str):
            return "\n".join(steps)
        key = next((key for key in _STEP_KEYS if key in first), "description")
        return "\n".join([step[key] for step in steps])
    except Exception:
        return str(steps)


@dataclass(slots=True)
class CompatItem:
    """The statistics of one item.

    `right`, `extra` and `absent` are positions in the library: tools in both plans, only in the prediction,
    and only in the label. `last` is the argument converted last. `needs_previous` means that the item reuses
    an argument of an earlier sample; `borrowed` counts reused arguments.
    """

    steps: tuple[str, str] | None = None
    counts_arguments: bool = False
    is_scored: bool = False
    argument_names: MatchCounts = _NO_COUNTS
    argument_values: MatchCounts = _NO_COUNTS
    links: MatchCounts = _NO_COUNTS
    similarity: float = 0.0
    right: Collection[int] = ()
    extra: Collection[int] = ()
    absent: Collection[int] = ()
    last: Converted | None = None
    borrowed: int = 0
    needs_previous: bool = False
    unreadable_links: bool = False
    lacks_gold_arguments: bool = False


class CompatReader:
    """Parses items like the published evaluator.

    Args:
        library: the tools, with their published ids.
        dependency_type: whether links come from references (resource) or from `task_links` (temporal).
        with_steps: whether ROUGE or BERTScore is selected. Then a plan without steps is left out of
            all metrics, as published.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType, *, with_steps: bool) -> None:
        self._positions = {tool.id: position for position, tool in enumerate(library)}
        self._output_types = {
            tool.id: str((tool.raw.get("output-type") or tool.outputs or ("none",))[0]) for tool in library
        }
        self._is_resource = dependency_type == "resource"
        self._with_steps = with_steps

    def item(self, label: Mapping[str, Any], result: Any, previous: Converted | None = None) -> CompatItem:
        """The statistics of one label and one prediction (its `result`).

        Args:
            label: the label, in the repository's form.
            result: the predicted plan, a JSON value of any form.
            previous: the argument converted last in an earlier sample of the same group.
        """
        item = CompatItem()
        converter = ArgumentConverter(self._output_types, previous)
        try:
            self._read(item, converter, label, result)
        except NothingConverted:
            item.needs_previous = True
        except Exception:
            # A prediction may have any form: one that cannot be read is left out of compat.
            nodes = label.get("task_nodes")
            item.lacks_gold_arguments = isinstance(nodes, list) and any(
                isinstance(node, dict) and "arguments" not in node for node in nodes
            )
        item.last = converter.last
        item.borrowed = converter.borrowed
        return item

    def _read(
        self, item: CompatItem, converter: ArgumentConverter, label: Mapping[str, Any], result: Any
    ) -> None:
        if self._with_steps:
            predicted_steps = result["task_steps"]
            gold_steps = label["task_steps"]
            item.steps = published_steps_text(gold_steps), published_steps_text(predicted_steps)
        gold_nodes = label["task_nodes"]
        predicted_nodes = result["task_nodes"]
        gold = [node["task"] for node in gold_nodes]
        predicted = [node["task"] for node in predicted_nodes]
        gold_links: Any
        predicted_links: Any
        if self._is_resource:
            gold = [name.replace("_", " ") for name in gold]
            predicted = [name.replace("_", " ") for name in predicted]
            *gold_keys, gold_links = converter.convert(gold_nodes, gold, required=True)
            *predicted_keys, predicted_links = converter.convert(predicted_nodes, predicted, required=False)
        else:
            predicted_links = result["task_links"]
            gold_links = label["task_links"]
            gold_keys = _temporal_keys(gold, [node["arguments"] for node in gold_nodes])
            predicted_keys = _temporal_keys(
                predicted, [node.get("arguments", []) for node in predicted_nodes]
            )
        # The published evaluator counts steps and arguments before the checks below, so they count even if
        # one of these raises.
        item.counts_arguments = True
        if not self._is_resource:
            if not all(isinstance(name, str) for name in (*gold, *predicted)):
                raise TypeError("a tool name that is not a text")
            predicted_links = _pairs(item, predicted_links)
            gold_links = _pairs(item, gold_links)
        item.is_scored = True
        item.argument_names, item.argument_values = map(set_counts, gold_keys, predicted_keys)
        item.links = set_counts(gold_links, predicted_links)
        gold_positions = [self._positions.get(name, -1) for name in gold]
        predicted_positions = [self._positions.get(name, -1) for name in predicted]
        item.similarity = (
            1.0 if gold == predicted else Indel.normalized_similarity(gold_positions, predicted_positions)
        )
        wanted_set = set(gold_positions) - {-1}
        given_set = set(predicted_positions) - {-1}
        item.right = wanted_set & given_set
        item.extra = given_set - wanted_set
        item.absent = wanted_set - given_set


def _pairs(item: CompatItem, links: Any) -> list[tuple[Any, Any]]:
    """The links as pairs. Unreadable links, which crash the published evaluator, count as none."""
    try:
        pairs = [(link["source"], link["target"]) for link in links]
        set(pairs)
    except Exception:
        item.unreadable_links = True
        return []
    return pairs


def _temporal_keys(names: list[Any], arguments: list[Any]) -> list[list[str]]:
    keys = [
        (f"{name}-{argument['name']}", f"{name}-{argument['name']}-{argument['value']}")
        for name, given in zip(names, arguments, strict=True)
        for argument in given
    ]
    return [[key[index] for key in keys] for index in (0, 1)]
