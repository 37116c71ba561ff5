"""The published leaderboard: 17 models in three domains, in percent as printed."""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Iterable
from importlib.resources import files

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError

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
    text = files("toolassay.benchmarks.taskbench").joinpath("published.csv").read_text(encoding="utf-8")
    return {
        line["model"]: {heading: float(line[heading]) for heading in HEADINGS}
        for line in csv.DictReader(text.splitlines())
        if line["domain"] == wanted
    }


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
