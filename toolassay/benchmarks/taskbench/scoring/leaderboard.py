"""TaskBench's part of metrics files: its table columns, its standing on a leaderboard, recorded choices."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.benchmark import published_rows
from toolassay.benchmarks.taskbench.options import PlanScoring
from toolassay.benchmarks.taskbench.scoring.scored_rows import COLUMNS
from toolassay.errors import UsageError, made_by
from toolassay.evaluation.groups import OVERALL
from toolassay.evaluation.line_index import Keep
from toolassay.evaluation.metrics_file import ColumnScores, MetricsGroup, Standing
from toolassay.metrics.confidence_interval import Interval
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

# The first digits of the SHA-256 of each domain's tool ids, sorted and joined by line feeds.
_TOOLS = {
    "3babc44135955e0e": "huggingface",
    "4f437dbad5fceb7c": "multimedia",
    "612c3df43b615bfb": "dailylifeapis",
}
DOMAINS = tuple(_TOOLS.values())


HEADINGS = ("R1", "R2", "BsF", "n-F1", "e-F1", "t-F1", "v-F1")
"""The published columns, in the published order."""


def published_plans(folder: DataFolder, domain: str | None) -> dict[str, dict[str, float]]:
    """The rows of a domain in the published leaderboard of TaskBench.

    Args:
        folder: Data folder.
        domain: The domain; None for that of the folder.

    Raises:
        UsageError: an unknown domain, or nothing says which it is.

    >>> rows = published_plans(DataFolder(Path("data_multimedia")), None)
    >>> len(rows), rows["gpt-4"]["n-F1"]
    (17, 90.9)
    """
    wanted = domain_of(folder, domain)
    return {
        line["model"]: {heading: float(line[heading]) for heading in HEADINGS}
        for line in published_rows("taskbench")
        if line["domain"] == wanted
    }


def domain_of_tools(ids: Iterable[str]) -> str | None:
    """The published domain whose tools have exactly these ids."""
    return _TOOLS.get(hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16])


def known_domain(folder: DataFolder) -> str | None:
    """The published domain of a folder, as `benchmark.json` states it, or whose tools have exactly its ids.

    Raises:
        UsageError: nothing states it, and there are no tools.
    """
    if (stated := folder.benchmark.domain) in DOMAINS:
        return stated
    return domain_of_tools(ToolLibrary.load(folder.tool_desc).ids)


def domain_of(folder: DataFolder, given: str | None) -> str:
    """The published domain of a folder: as given, as its files say, or as its name says.

    Raises:
        UsageError: an unknown domain, or nothing says which it is.
    """
    known = known_domain(folder) if folder.tool_desc.exists() else folder.benchmark.domain
    domain = given or known or folder.path.resolve().name.removeprefix("data_")
    if domain not in DOMAINS:
        raise UsageError(f"unknown published domain '{domain}'", fix=f"say --published {'|'.join(DOMAINS)}")
    return domain


def plan_standing(numbers: Mapping[str, Any]) -> Standing:
    """The scores of a group in a metrics file of plans, ours or the published evaluator's."""
    strict = numbers.get("strict")
    judged = None
    if strict is not None:
        scores = {column.heading: Interval.of(strict.get(column.name) or {}) for column in COLUMNS}
        judged = ColumnScores(strict.get("n_labels", strict["n_expected"]), strict["coverage"], scores)
    else:
        strict = {}
    published = {}
    for column in COLUMNS:
        # As published, except that the link score of a group without links is unknown; the file has 0.
        is_empty = column.heading == "e-F1" and strict.get("compat_links") == 0
        value = None if is_empty else numbers.get(column.compat)
        bounds = {} if value is None else strict.get("compat_intervals", {}).get(column.compat, {})
        published[column.heading] = Interval.of({**bounds, "value": value})
    samples = numbers.get("all_samples")
    scored = numbers.get("node_supports")
    share = scored / samples if samples and scored is not None else None
    return Standing(judged, ColumnScores(samples, share, published))


def recorded_choices(groups: Mapping[str, MetricsGroup], path: Path) -> PlanScoring:
    """The options that give (at least) these groups again, without BERTScore.

    They are in the signature that all groups share.

    Raises:
        UsageError: there is no signature, or it cannot be read.
    """
    first = next(iter(groups.values()))
    parts = first.parts
    pairs = [key.partition("_")[::2] for key in groups]
    is_sum = all(OVERALL in pair for pair in pairs)
    try:
        resamples, seed = parts["bootstrap"].split("@")
        return PlanScoring(
            None if parts["alignment"] == "none" else parts["alignment"].partition("@")[0],
            list(dict.fromkeys(split for split, size in pairs if size == OVERALL or not is_sum)),
            list(dict.fromkeys(size for split, size in pairs if split == OVERALL or not is_sum)),
            "add" if is_sum else "mul",
            tuple(name for name in parts["metrics"].split("+") if name),
            parts.get("links"),
            keep=cast("Keep", parts["keep"]),
            rouge_median=any(key.endswith("_bootstrap_median") for key in first.numbers),
            compat="published" if "compat" in parts else None,
            with_bertscore=False,
            resamples=int(resamples),
            seed=int(seed),
            rouge_backend="rouge-score" if "rouge" in parts else "builtin",
        )
    except (KeyError, ValueError):
        raise UsageError(
            "has no signature that says how it was made", file=path, fix=made_by("evaluate")
        ) from None
