"""The published leaderboard: 17 models in three domains, in percent as printed."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from importlib.resources import files

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.metrics.confidence_interval import Interval
from toolassay.report.leaderboard.ranking import HEADINGS, LeaderboardRow

# The first digits of the SHA-256 of each domain's tool ids, sorted and joined by line feeds.
_TOOLS = {
    "3babc44135955e0e": "huggingface",
    "4f437dbad5fceb7c": "multimedia",
    "612c3df43b615bfb": "dailylifeapis",
}
DOMAINS = tuple(_TOOLS.values())


def published_rows(domain: str) -> list[LeaderboardRow]:
    """The rows of a domain in the published leaderboard of TaskBench.

    >>> len(published_rows("multimedia")), published_rows("multimedia")[0].score("n-F1").value
    (17, 90.9)
    """
    text = files("toolassay.benchmarks.taskbench").joinpath("published.csv").read_text(encoding="utf-8")
    return [
        LeaderboardRow(
            line["model"],
            "published",
            {heading: Interval(float(line[heading]), None, None) for heading in HEADINGS},
        )
        for line in csv.DictReader(text.splitlines())
        if line["domain"] == domain
    ]


def domain_of_tools(ids: Iterable[str]) -> str | None:
    """The published domain whose tools have exactly these ids.

    >>> domain_of_tools(["a", "b"]) is None
    True
    """
    return _TOOLS.get(hashlib.sha256("\n".join(sorted(ids)).encode()).hexdigest()[:16])


def domain_of(folder: DataFolder, given: str | None) -> str:
    """The published domain of a folder: as given, as `benchmark.json` or its name says, or by its tools.

    Raises:
        UsageError: an unknown domain, or nothing says which it is.
    """
    if given is not None:
        if given not in DOMAINS:
            raise UsageError(f"unknown published domain '{given}'", fix=f"choose from {', '.join(DOMAINS)}")
        return given
    stated = folder.benchmark.get("domain")
    if stated in DOMAINS:
        return str(stated)
    named = folder.path.resolve().name.removeprefix("data_")
    if named in DOMAINS:
        return named
    if folder.tool_desc.exists():
        found = domain_of_tools(folder.library().ids)
        if found is not None:
            return found
    raise UsageError(
        f"{folder.path} does not say which published domain it is", fix=f"say --published {'|'.join(DOMAINS)}"
    )
