"""The format stage: data_raw.json -> data.json, user_requests.json, data_error.json, alignment_ids.json."""

from __future__ import annotations

from pathlib import Path

from toolassay.backinstruct.critics import MODES
from toolassay.backinstruct.format import Formatted, tables
from toolassay.backinstruct.format import format_data as format_folder
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.graph import DependencyType, check_dependency_type
from toolassay.screen import DEFAULT, WARNING, Screen


def format_data(
    data_dir: str | Path,
    *,
    dependency_type: str | None = None,
    critics: str | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> Formatted:
    """Convert the generated samples of a folder to a data set.

    Args:
        data_dir: Folder with `data_raw.json` and `tool_desc.json` (or `graph_desc.json`).
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`, which
            stays.
        critics: Keep only the samples that this alignment mode accepts: node, link, both_node_link,
            self-check or all.
        force: Replace a data set of another program, and allow the other dependency type; dated copies are
            kept.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, the dependency type is not that of the folder, or the data
            set must not be replaced.
        ToolassayError: No sample can be formatted; nothing is written then.
    """
    if critics is not None and critics not in MODES:
        raise UsageError(f"unknown critics '{critics}'", fix=f"use one of {', '.join(MODES)}")
    folder = DataFolder(Path(data_dir)).require()
    if dependency_type is not None and not force:
        _check_agreement(folder, check_dependency_type(dependency_type))
    library = folder.library(say=screen.say)
    kind = folder.dependency_type(dependency_type, library=library, say=screen.say)
    result = format_folder(folder, library, kind, critics=critics, force=force)
    for copy in result.copies:
        screen.say(f"kept {copy}")
    for heading, table in tables(result.alignment):
        screen.show(heading)
        screen.table(table)
        screen.show("")
    screen.show(f"Format {result.kept} out of {result.kept + result.refused + result.left_out}")
    if result.left_out:
        screen.say(f"{result.left_out} left out: the critics ({critics}) reject them")
    if result.refused:
        reasons = "".join(f"\n  {count} x {reason}" for reason, count in result.reasons.most_common(5))
        screen.say(f"{WARNING}{result.refused} refused, with reasons in {folder.data_error}:{reasons}")
    return result


def _check_agreement(folder: DataFolder, given: DependencyType) -> None:
    """Raise UsageError if `benchmark.json` names another dependency type than the one given."""
    recorded = folder.benchmark.get("dependency_type")
    if recorded not in (None, given):
        raise UsageError(
            f"says {recorded}, --dependency_type says {given}",
            file=folder.benchmark_file,
            fix="omit the flag, or use --force true (keeps dated copies)",
        )
