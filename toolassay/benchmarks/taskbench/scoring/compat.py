"""Compat metrics: node, link and argument F1 and edit distance as the published evaluator computes them.

`CompatReader` gives the sufficient statistics of one item, `CompatTable` the published numbers of a
group.

Two properties of the published evaluator are reproduced. It leaves out any sample that raises an exception,
after counting the parts before it. And if it cannot convert an argument (a number, null, a reference out of
range, …), it silently reuses **the last argument that it converted**: in the same plan, in the label just
before, or in an earlier sample (`ArgumentConverter.last`). Where it crashes, this module chooses:

* temporal `task_links` that are not a list of objects with hashable `source` and `target`: treated as empty;
* label steps that are not strings: their Python `str()`, as for predictions.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from rapidfuzz.distance import Indel

from toolassay.benchmarks.taskbench.scoring.columns import moved
from toolassay.graph import DependencyType
from toolassay.metrics.f1 import MatchCounts, f1, set_counts
from toolassay.metrics.rouge import NAMES
from toolassay.tools import ToolLibrary

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from toolassay.benchmarks.taskbench.scoring.step_scores import TextScores


_EXTENSIONS = {
    "image": ("jpg", "png", "jpeg", "gif", "bmp", "tiff", "svg", "ico"),
    "audio": ("mp3", "wav", "wma", "ogg", "aac", "flac", "aiff", "au"),
    "video": ("mp4", "avi", "mov", "flv", "wmv", "mkv", "webm", "m4v", "mpg", "mpeg"),
}
_TYPE_OF_EXTENSION = {extension: kind for kind, extensions in _EXTENSIONS.items() for extension in extensions}
# A file extension anywhere, as published: matches ".au" in "www.author.com" too; not "jpg" without a dot.
_MARKER = re.compile(rf"\.({'|'.join(_TYPE_OF_EXTENSION)})")
_REFERENCE = "<node-"
_SHORT = 300  # characters of a text that is kept in the cache

NamePair = tuple[str, str]


class Converted(NamedTuple):
    """An argument as the published evaluator compares it: a resource type, and a text or a tool name."""

    type: str
    value: str


class NothingConverted(Exception):
    """An argument cannot be converted, and this sample has no earlier one to reuse."""


def content_type(text: str) -> str:
    """The type that the published evaluator guesses from a file extension anywhere in the text.

    Image takes precedence over audio, and audio over video.

    >>> content_type("clip.avi.png"), content_type("a.JPG"), content_type("https://www.author.com")
    ('image', 'text', 'audio')
    """
    if "." not in text:
        return "text"
    return (_known_type if len(text) <= _SHORT else _content_type_of_long)(text)


def _content_type_of_long(text: str) -> str:
    found = {_TYPE_OF_EXTENSION[extension] for extension in _MARKER.findall(text)}
    return next((kind for kind in _EXTENSIONS if kind in found), "text")


_known_type = lru_cache(maxsize=10_000)(_content_type_of_long)  # predictions repeat the texts of the gold


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
    ) -> tuple[list[str], list[str], list[NamePair]]:
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
        links: list[NamePair] = []
        kind, value = self.last or ("", "")
        try:
            for place, (node, name) in enumerate(zip(nodes, names, strict=True)):
                for argument in node["arguments"] if required else node.get("arguments", []):
                    try:
                        text = argument if type(argument) is str else _as_text(argument)
                        if _REFERENCE in text:
                            position = int(text[text.index(_REFERENCE) + len(_REFERENCE) : text.index(">")])
                            if position == place:  # a reference of a node to itself is dropped, as published
                                continue
                            source = names[position]
                            links.append((source, node["task"]))
                            kind, value = self._output_types.get(source, "other"), source
                        else:
                            kind, value = content_type(text) if "." in text else "text", text
                    except Exception:
                        self.borrowed += 1
                        if not kind:
                            raise NothingConverted from None
                    with_types.append(f"{name}-{kind}")
                    with_values.append(f"{name}-{kind}-{value}")
        finally:
            self.last = Converted(kind, value) if kind else None
        return with_types, with_values, links


def _as_text(argument: Any) -> str:
    if isinstance(argument, dict):
        argument = next(iter(argument.values()))
    if isinstance(argument, list):
        argument = " ".join(argument)
    if not isinstance(argument, str):
        raise TypeError("not a text")
    return argument


_STEP_KEYS = ("task", "step", "id", "step_name")


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


NO_COUNTS = MatchCounts(0, 0, 0)


@dataclass(slots=True)
class CompatItem:
    """The sufficient statistics of one item.

    `right`, `extra` and `absent` are positions in the library: tools in both plans, only in the prediction,
    and only in the label. `last` is the argument converted last. `needs_previous` means that the item reuses
    an argument of an earlier sample; `borrowed` counts reused arguments.
    """

    steps: tuple[str, str] | None = None
    counts_arguments: bool = False
    is_scored: bool = False
    argument_names: MatchCounts = NO_COUNTS
    argument_values: MatchCounts = NO_COUNTS
    links: MatchCounts = NO_COUNTS
    similarity: float = 0.0
    right: Collection[int] = ()
    extra: Collection[int] = ()
    absent: Collection[int] = ()
    last: Converted | None = None
    borrowed: int = 0
    needs_previous: bool = False
    unreadable_links: bool = False
    lacks_gold_arguments: bool = False

    @property
    def is_unusual(self) -> bool:
        """Whether the published evaluator treats the item in a way that a user would not expect."""
        return bool(self.lacks_gold_arguments or self.unreadable_links or self.borrowed)


class CompatReader:
    """Parses items like the published evaluator.

    Args:
        library: the tools, with their published ids.
        dependency_type: whether links come from references (resource) or from `task_links` (temporal).
        with_steps: whether ROUGE or BERTScore is selected. Then a plan without steps is left out of
            all metrics, as published.
    """

    def __init__(self, library: ToolLibrary, dependency_type: DependencyType, *, with_steps: bool) -> None:
        self._positions: Mapping[str, int] = {tool.id: place for place, tool in enumerate(library)}
        self._output_types = {
            tool.id: str((tool.raw.get("output-type") or tool.outputs or ("none",))[0]) for tool in library
        }
        self._is_resource = dependency_type == "resource"
        self._with_steps = with_steps

    def item(
        self,
        label: Mapping[str, Any],
        result: Any,
        previous: Converted | None = None,
        *,
        is_same: bool = False,
    ) -> CompatItem:
        """The statistics of one label and one prediction (its `result`).

        Args:
            label: the label, in the repository's form.
            result: the predicted plan, a JSON value of any form.
            previous: the argument converted last in an earlier sample of the same group.
            is_same: whether the plan is known to be that of the label (`same_plan`).
        """
        item = CompatItem()
        converter = ArgumentConverter(self._output_types, previous)
        try:
            self._read(item, converter, label, result, is_same)
        except NothingConverted:
            item.needs_previous = True
        except Exception:
            item.lacks_gold_arguments = _lacks_arguments(label)
        item.last, item.borrowed = converter.last, converter.borrowed
        return item

    def _read(
        self,
        item: CompatItem,
        converter: ArgumentConverter,
        label: Mapping[str, Any],
        result: Any,
        is_same: bool,
    ) -> None:
        if self._with_steps:
            predicted_steps, gold_steps = result["task_steps"], label["task_steps"]
            text = published_steps_text(gold_steps)
            item.steps = text, text if is_same else published_steps_text(predicted_steps)
        gold_nodes, predicted_nodes = label["task_nodes"], result["task_nodes"]
        gold_names = [node["task"] for node in gold_nodes]
        predicted_names = [node["task"] for node in predicted_nodes]
        gold_links: Any
        predicted_links: Any
        if self._is_resource:
            gold_names = [name.replace("_", " ") for name in gold_names]
            predicted_names = [name.replace("_", " ") for name in predicted_names]
            *gold_keys, gold_links = converter.convert(gold_nodes, gold_names, required=True)
            # An argument that borrows may borrow another one the second time.
            if is_same and not converter.borrowed:
                predicted_keys, predicted_links = gold_keys, gold_links
            else:
                *predicted_keys, predicted_links = converter.convert(
                    predicted_nodes, predicted_names, required=False
                )
        else:
            predicted_links, gold_links = result["task_links"], label["task_links"]
            gold_keys = _temporal_keys(gold_names, [node["arguments"] for node in gold_nodes])
            predicted_keys = _temporal_keys(
                predicted_names, [node.get("arguments", []) for node in predicted_nodes]
            )
        # The published evaluator counts steps and arguments before the checks below, so they count even if
        # one of these raises.
        item.counts_arguments = True
        if not self._is_resource:
            if not all(isinstance(name, str) for name in (*gold_names, *predicted_names)):
                raise TypeError("a tool name that is not a text")
            predicted_links, gold_links = self._pairs(item, predicted_links), self._pairs(item, gold_links)
        item.is_scored = True
        item.argument_names = set_counts(gold_keys[0], predicted_keys[0])
        item.argument_values = set_counts(gold_keys[1], predicted_keys[1])
        if gold_links or predicted_links:
            item.links = set_counts(gold_links, predicted_links)
        self._compare_names(item, gold_names, predicted_names)

    def _compare_names(self, item: CompatItem, gold: list[str], predicted: list[str]) -> None:
        place = self._positions.get
        gold_places = [place(name, -1) for name in gold]
        predicted_places = [place(name, -1) for name in predicted]
        gold_set = set(gold_places)
        gold_set.discard(-1)
        item.similarity = 1.0
        if gold_places == predicted_places:
            item.right = gold_set
            return
        item.similarity = Indel.normalized_similarity(gold_places, predicted_places)
        predicted_set = set(predicted_places)
        predicted_set.discard(-1)
        item.right = gold_set & predicted_set
        item.extra = predicted_set - gold_set
        item.absent = gold_set - predicted_set

    @staticmethod
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
    names_only: list[str] = []
    with_values: list[str] = []
    for name, given in zip(names, arguments, strict=True):
        for argument in given:
            names_only.append(f"{name}-{argument['name']}")
            with_values.append(f"{name}-{argument['name']}-{argument['value']}")
    return [names_only, with_values]


def _lacks_arguments(label: Mapping[str, Any]) -> bool:
    nodes = label.get("task_nodes")
    return isinstance(nodes, list) and any(isinstance(n, dict) and "arguments" not in n for n in nodes)


NO_PAIR = -1
_MEASURES = ("precision", "recall", "f1")
_STEPS, _ARGUMENTS, _SCORED = 1, 2, 4  # flags of a row


class CompatTable:
    """One row per item, with a bit mask of its groups. Every number of a group is computed from sums over
    rows.

    The columns of counts are argument names (3), argument values (3) and links (3). The tools of an item are
    stored as events, 3 x tool + kind (right, extra, absent), with the number of events of each row.

    Args:
        tool_ids: the library, in file order.
    """

    def __init__(self, tool_ids: Sequence[str]) -> None:
        self._tool_ids = tool_ids
        self._flags = array("B")
        self._counts = array("i")
        self._similarities = array("d")
        self._groups = array("Q")
        self._pairs = array("i")
        self._clusters = array("q")
        self._events = array("I")
        self._event_counts = array("I")
        self._tools: NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self._groups)

    def add(self, item: CompatItem, groups: int, pair: int = NO_PAIR, cluster: int = 0) -> int:
        """Add an item to the groups in the bit mask. Returns its row.

        `pair` is the number of its pair of steps, `cluster` that of its sampled subgraph.
        """
        self._groups.append(groups)
        self._pairs.append(pair)
        self._clusters.append(cluster)
        flags = (item.steps is not None) | item.counts_arguments << 1 | item.is_scored << 2
        self._flags.append(flags)
        self._counts.fromlist([*item.argument_names, *item.argument_values, *item.links])
        self._similarities.append(item.similarity)
        events = []
        if item.is_scored:
            events = [3 * tool for tool in item.right]
            events += [3 * tool + 1 for tool in item.extra]
            events += [3 * tool + 2 for tool in item.absent]
            self._events.fromlist(events)
        self._event_counts.append(len(events))
        self._tools = None
        return len(self._groups) - 1

    def extend(self, other: CompatTable, *, first_pair: int) -> None:
        """Append the rows of a table whose pairs are numbered from 0."""
        self._tools = None
        self._flags.extend(other._flags)
        self._counts.extend(other._counts)
        self._similarities.extend(other._similarities)
        self._events.extend(other._events)
        self._event_counts.extend(other._event_counts)
        self._groups.extend(other._groups)
        self._clusters.extend(other._clusters)
        self._pairs.extend(moved(other._pairs, first_pair))

    def numbers(self, group: int, metrics: Sequence[str], texts: TextScores) -> dict[str, Any]:
        """The published keys of one group.

        Args:
            group: its bit number.
            metrics: the selected metrics.
            texts: the scores of the numbered pairs of steps.
        """
        import numpy as np

        chosen = self._members(group)
        flags, counts = self._all_flags()[chosen], self._all_counts()[chosen]
        steps, arguments, scored = (
            int(np.count_nonzero(flags & flag)) for flag in (_STEPS, _ARGUMENTS, _SCORED)
        )
        numbers: dict[str, Any] = {
            "all_samples": len(counts),
            "step_supports": steps,
            "node_supports": scored,
            "link_supports": scored,
            "argument_supports": arguments,
        }
        if not scored:
            return numbers
        pairs = np.asarray(self._pairs)[chosen]
        pairs = pairs[pairs != NO_PAIR]
        if "rouge" in metrics:
            numbers |= _mean_scores("step_", NAMES, texts.rouge[pairs])
        if "bertscore" in metrics and texts.bertscore is not None:
            numbers |= _mean_scores("step_bertscore_", _MEASURES, texts.bertscore[pairs])
        if "f1" in metrics or "argument" in metrics:
            numbers |= self._node_numbers(chosen)
            totals = counts[:, :6].sum(axis=0).tolist()
            numbers["argument_task_argname_binary_f1_no_matching"] = f1(*totals[:3])
            numbers["argument_task_argname_value_binary_f1_no_matching"] = f1(*totals[3:])
        if "ed" in metrics:
            numbers["edit_distance"] = 1 - float(
                np.asarray(self._similarities)[chosen][flags & _SCORED > 0].mean()
            )
        if "link" in metrics:
            numbers["link_binary_f1"] = f1(*counts[:, 6:].sum(axis=0).tolist())
        return numbers

    def intervals(
        self, group: int, texts: TextScores, *, resamples: int, seed: int
    ) -> dict[str, dict[str, float | None]]:
        """95 % intervals of the headline numbers of one group, by their published keys.

        Args:
            group: its bit number.
            texts: the scores of the numbered pairs of steps.
            resamples: of the bootstrap, which draws whole clusters; 0 gives no bounds.
            seed: of the bootstrap.
        """
        import numpy as np

        from toolassay.metrics.confidence_interval import Ratio, ratio_intervals

        clusters = np.asarray(self._clusters, dtype=np.int64)
        chosen = np.flatnonzero(self._members(group))
        # The interval must not depend on the order of the rows, so they are sorted by cluster.
        chosen = chosen[np.argsort(clusters[chosen], kind="stable")]
        counts = self._all_counts()[chosen]
        is_scored = self._all_flags()[chosen] & _SCORED > 0
        nodes = self._tool_counts()[chosen]
        pairs = np.asarray(self._pairs)[chosen]
        columns = [(f"step_{name}", texts.rouge, place) for place, name in enumerate(NAMES)]
        if texts.bertscore is not None:
            columns.append(("step_bertscore_f1", texts.bertscore, 2))

        def ratios() -> Iterator[Ratio]:  # one at a time: each needs two numbers a row
            for kinds in (nodes, counts[:, 6:], counts[:, :3], counts[:, 3:6]):
                yield _f1_ratio(kinds)
            yield Ratio.mean(np.where(is_scored, 1 - np.asarray(self._similarities)[chosen], np.nan))
            for _, table, place in columns:
                scores = np.full(len(pairs), np.nan)
                if len(table):
                    scores[pairs != NO_PAIR] = table[pairs[pairs != NO_PAIR], place]
                yield Ratio.mean(scores)

        names = (
            "node_micro_f1_no_matching",
            "link_binary_f1",
            "argument_task_argname_binary_f1_no_matching",
            "argument_task_argname_value_binary_f1_no_matching",
            "edit_distance",
            *(name for name, _, _ in columns),
        )
        found = ratio_intervals(ratios(), clusters=clusters[chosen], resamples=resamples, seed=seed)
        return {name: interval.to_json() for name, interval in zip(names, found, strict=True)}

    def counts(self, row: int) -> dict[str, Any]:
        """The counts of one row for the items file. Only tools of the library count, as published."""
        if not self._flags[row] & _SCORED:
            return {"is_scored": False}
        whole = self._counts[9 * row : 9 * row + 9].tolist()
        return {
            "is_scored": True,
            "nodes": self._tool_counts()[row].tolist(),
            "edges": whole[6:],
            "argument_names": whole[:3],
            "argument_values": whole[3:6],
            "edit_similarity": self._similarities[row],
        }

    def rouge_medians(self, group: int, texts: TextScores, resamples: int, seed: int) -> dict[str, float]:
        """The median of bootstrapped means of each ROUGE score, as in the published file, but seeded."""
        import numpy as np

        from toolassay.metrics.confidence_interval import bootstrapped_means

        pairs = np.asarray(self._pairs)[self._members(group)]
        scores = texts.rouge[pairs[pairs != NO_PAIR]]
        if not len(scores) or not resamples:
            return {}
        medians = np.median(bootstrapped_means(scores, resamples=resamples, seed=seed), axis=0)
        return {f"step_{name}_bootstrap_median": float(v) for name, v in zip(NAMES, medians, strict=True)}

    def number_of_links(self, group: int) -> int:
        """The number of distinct links in the plans of a group, gold or predicted."""
        return int(self._all_counts()[self._members(group), 6:].sum())

    def _all_counts(self) -> NDArray[np.int32]:
        """Shape (rows, 9), without a copy."""
        import numpy as np

        return np.frombuffer(self._counts or b"", dtype=np.int32).reshape(-1, 9)

    def _all_flags(self) -> NDArray[np.uint8]:
        import numpy as np

        return np.frombuffer(self._flags or b"", dtype=np.uint8)

    def _owners(self) -> NDArray[np.int32]:
        """The row of each event."""
        import numpy as np

        return np.repeat(np.arange(len(self), dtype=np.int32), np.asarray(self._event_counts))

    def _tool_counts(self) -> NDArray[np.int32]:
        """The numbers of right, extra and absent tools of each row, shape (rows, 3). Computed once."""
        import numpy as np

        if self._tools is None:
            places = 3 * self._owners()
            places += (np.asarray(self._events) % 3).astype(np.int32)
            found = np.bincount(places, minlength=3 * len(self))
            self._tools = found.reshape(-1, 3).astype(np.int32)
        return self._tools

    def _members(self, group: int) -> NDArray[np.bool_]:
        """Which rows belong to a group."""
        import numpy as np

        groups = np.asarray(self._groups, dtype=np.uint64)
        return (groups >> np.uint64(group) & np.uint64(1)).astype(bool)

    def _node_numbers(self, chosen: NDArray[np.bool_]) -> dict[str, Any]:
        import numpy as np

        events = np.asarray(self._events)[chosen[self._owners()]]
        found = np.bincount(events, minlength=3 * len(self._tool_ids)).reshape(-1, 3)
        right, extra, absent = found.T
        per_tool = np.stack(_precision_recall_f1(right, extra, absent))
        micro = np.stack(_precision_recall_f1(right.sum(), extra.sum(), absent.sum()))
        return {
            **{f"node_micro_{name}_no_matching": float(v) for name, v in zip(_MEASURES, micro, strict=True)},
            **{
                f"node_macro_{name}_no_matching": float(v)
                for name, v in zip(_MEASURES, per_tool.mean(axis=1), strict=True)
            },
            "node_per_type_no_matchcing": {
                tool: {
                    "precision": float(per_tool[0, place]),
                    "recall": float(per_tool[1, place]),
                    "f1-score": float(per_tool[2, place]),
                    "support": int(right[place] + absent[place]),
                }
                for place, tool in enumerate(self._tool_ids)
            },
        }


def _f1_ratio(counts: NDArray[Any]) -> Any:
    """The F1 of summed counts (right, extra, absent), as a ratio of sums over rows."""
    from toolassay.metrics.confidence_interval import Ratio

    right, extra, absent = counts.T.astype(float)
    return Ratio(2 * right, 2 * right + extra + absent)


def _mean_scores(prefix: str, names: Sequence[str], scores: NDArray[np.float64]) -> dict[str, float]:
    means = scores.mean(axis=0)
    return {f"{prefix}{name}": float(mean) for name, mean in zip(names, means, strict=True)}


def _precision_recall_f1(right: Any, extra: Any, absent: Any) -> tuple[Any, Any, Any]:
    """Precision, recall and F1; 0 where a denominator is 0."""
    import numpy as np

    def share(part: Any, whole: Any) -> Any:
        return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)

    return (
        share(right, right + extra),
        share(right, right + absent),
        share(2 * right, 2 * right + extra + absent),
    )
