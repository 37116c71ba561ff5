"""Groups of samples, by plan shape (`split`) and number of tools, and names of metrics."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from toolassay.errors import UsageError
from toolassay.records.cases import has_no_plan
from toolassay.records.dataset import SHAPES, shape_of

OVERALL = "overall"
OVERALL_GROUP = f"{OVERALL}_{OVERALL}"
"""Key of the group of all samples in a metrics file."""
SPLITS = (OVERALL, *SHAPES)
# 1 to 10 as in the published evaluation. With `SPLITS` they are 44 groups, which fit into the bits of a word.
SIZES = (OVERALL, *(str(size) for size in range(1, 11)))
METRICS = ("f1", "ed", "link", "argument", "rouge", "bertscore")
MODES = ("add", "mul")


class ScoreGroup(NamedTuple):
    """Samples of one shape, or of one number of tools, or of both."""

    split: str
    size: str

    @property
    def key(self) -> str:
        """The key in the metrics file.

        >>> ScoreGroup("chain", "overall").key
        'chain_overall'
        """
        return f"{self.split}_{self.size}"

    def holds(self, shape: str, size: int) -> bool:
        """Whether a label of this shape with `size` nodes belongs to the group."""
        return self.split in (OVERALL, shape) and self.size in (OVERALL, str(size))


def groups_of(splits: Iterable[str], n_tools: Iterable[str | int], mode: str) -> list[ScoreGroup]:
    """The requested groups, without duplicates.

    Args:
        splits: "overall", "single", "chain", "dag", or "all".
        n_tools: "overall", 1 to 10, or "all".
        mode: "add": each split over all sizes, then each size over all splits; "mul": each split with each
            size.

    Raises:
        UsageError: A split, size or mode is unknown.

    >>> [group.key for group in groups_of(["chain"], ["2"], "add")]
    ['chain_overall', 'overall_2']
    >>> len(groups_of(["all"], ["all"], "add")), len(groups_of(["all"], ["all"], "mul"))
    (14, 44)
    """
    chosen = _expanded(splits, SPLITS)
    sizes = _expanded(map(str, n_tools), SIZES)
    for split in chosen:
        _check("split", split, (*SPLITS, "all"), split in SPLITS)
    for size in sizes:
        _check("number of tools", size, (*SIZES, "all"), size in SIZES)
    _check("mode", mode, MODES, mode in MODES)
    if mode == "mul":
        pairs = [ScoreGroup(split, size) for split in chosen for size in sizes]
    else:
        pairs = [ScoreGroup(split, OVERALL) for split in chosen] + [
            ScoreGroup(OVERALL, size) for size in sizes
        ]
    return list(dict.fromkeys(pairs))  # 44 at most: the tables keep one bit of a machine word for each


def metrics_of(names: Iterable[str], prompting: str, installed: Sequence[str] = ()) -> tuple[str, ...]:
    """The requested metrics; "all" includes text metrics only if `prompting` is "cot".

    Args:
        names: Requested names.
        prompting: Prompting method of the predictions; only "cot" predictions have steps to score as text.
        installed: Metrics of other packages.

    Raises:
        UsageError: A metric is unknown.

    >>> metrics_of(["all"], "direct")
    ('f1', 'ed', 'link', 'argument')
    """
    chosen = list(dict.fromkeys(names))
    for name in chosen:
        choices = (*METRICS, *installed, "all")
        _check("metric", name, choices, name in choices)
    if "all" in chosen:
        return (*(METRICS if prompting == "cot" else METRICS[:4]), *installed)
    return tuple(chosen)


def shape_and_size(label: Mapping[str, Any]) -> tuple[str, int]:
    """The shape of a label, from its `type` or else from its links, and its number of nodes.

    A case without a plan has the shape "" and is in the groups of all shapes and sizes only.
    """
    nodes = label.get("task_nodes")
    if has_no_plan(label):
        return "", 0
    size = len(nodes) if isinstance(nodes, list) else 0
    stated = label.get("type")
    if isinstance(stated, str):
        return stated, size
    links = label.get("task_links")
    pairs = [
        (str(link.get("source")), str(link.get("target")))
        for link in (links if isinstance(links, list) else [])
        if isinstance(link, dict)
    ]
    listed = nodes if isinstance(nodes, list) else []
    tools = [str(node.get("task")) for node in listed if isinstance(node, dict)]
    return shape_of(size, pairs, tools=tools), size


def _expanded(names: Iterable[str], everything: Sequence[str]) -> list[str]:
    return [name for part in names for name in (everything if part == "all" else (part,))]


def _check(what: str, name: str, choices: Sequence[str], is_known: bool) -> None:
    if not is_known:
        raise UsageError(f"unknown {what} '{name}'", fix=f"choose from {', '.join(choices)}")
