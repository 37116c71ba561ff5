"""The file of a security run: a line a probe."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from toolassay.benchmarks.security.figures import security_figures
from toolassay.benchmarks.security.probe import ProbeResult
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, safe_name, write_json_lines
from toolassay.offline.marks import NO_TOOLS, TOOLS_MISSING
from toolassay.runs.tool_arrival import tools_missing
from toolassay.runs.trials import Trial

FOLDER = "security"
"""Below the folder of predictions."""


def security_file(predictions: Path, llm: str) -> Path:
    """Where the tested probes of a model lie.

    >>> security_file(Path("predictions"), "acme/one").as_posix()
    'predictions/security/acme__one.json'
    """
    return predictions / FOLDER / f"{safe_name(llm)}.json"


def write_results(path: Path, lines: Iterable[ProbeResult]) -> int:
    """Write the file anew; returns its lines."""
    return write_json_lines(path, (line.to_json() for line in lines))


def figures_beside(predictions: Path, llm: str) -> dict[str, Any] | None:
    """The figures of the security run that lies beside the predictions of a model; None without one.

    Where the tools of that run never reached the model, they say so.

    Raises:
        UsageError: its file is malformed.
    """
    file = security_file(predictions, llm)
    if not file.is_file():
        return None
    figures = security_figures(read_results(file))
    if tools_missing(Trial(predictions / FOLDER, llm).run_folder):
        figures[NO_TOOLS] = True
        figures["notes"][NO_TOOLS] = TOOLS_MISSING.note
    return figures


def read_results(path: Path) -> list[ProbeResult]:
    """The lines of a file, in their order.

    Raises:
        UsageError: it is missing, or a line is none of ours.
    """
    found: dict[str, ProbeResult] = {}
    fix = "make it with inference.py --security true"
    for number, value in read_json_lines(path, fix=fix):
        try:
            line = ProbeResult.from_json(value)
        except (KeyError, TypeError, ValueError):
            raise UsageError("is not a tested probe", file=path, line=number, fix=fix) from None
        if line.probe.id in found:
            raise UsageError(
                f"the probe {line.probe.id!r} is there twice", file=path, line=number, fix="leave one out"
            )
        found[line.probe.id] = line
    return list(found.values())
