"""Converts generated samples to a data set; releases those that pass the gates."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.backinstruct.critics import MODES
from toolassay.backinstruct.format import Formatted, tables
from toolassay.backinstruct.format import format_data as format_folder
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.engines import EngineName
from toolassay.errors import UsageError
from toolassay.executors import present_name
from toolassay.files.data_files import copy_file
from toolassay.files.locks import exclusive_folder
from toolassay.gates.checked_folder import CheckedFolder
from toolassay.graph import DependencyType, check_dependency_type
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.execution_record import RUN
from toolassay.records.cases import FILE as CASES
from toolassay.records.data_folder import DataFolder
from toolassay.runs.settings import Limits, ModelSettings, RunChoices, RunSettings
from toolassay.stages.check import Checked, check_into, teacher_of
from toolassay.stages.execute import execute
from toolassay.stages.settings import Calibrations, Critics, ExecutionSettings, GateSettings, LiveSettings
from toolassay.worlds.world import FILE as WORLD_FILE


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
    recorded = folder.benchmark.dependency_type
    if recorded not in (None, given):
        raise UsageError(
            f"says {recorded}, --dependency_type says {given}",
            file=folder.benchmark_file,
            fix="omit the flag, or use --force true (keeps dated copies)",
        )


CANDIDATES = ".candidates"
"""Folder below the data folder for the samples on their way through the gates; removed at the end."""
_LOCK = ".release.lock"
# Files about all generated samples, which are copied as they are.
_ABOUT_ALL = ("data_error.json", "alignment_ids.json", "alignment_tables.md")


def release(
    data_dir: str | Path,
    *,
    critic: Critics = (),
    model: ModelSettings = ModelSettings(),
    limits: Limits = Limits(),
    force: bool = False,
    engine: EngineName = None,
    live: LiveSettings | None = None,
    calibration: Calibrations = (),
    command: Sequence[str] | None = None,
    screen: Screen = DEFAULT,
) -> Checked:
    """Format the generated samples of a folder, check them, and make those that pass its data set.

    `data.json` and `user_requests.json` hold only what passes; each label says which models wrote and judged
    it and what executed its plan (`written_by`, `judged_by`, `executor`), as far as known. The rest is in
    `quarantine/` and `rejected.json`, the findings in `gates.jsonl` and `funnel.json`; `data_raw.json` is
    unchanged. All files are replaced at the end: an interrupted release leaves the folder as it was, and the
    same command repeats it.

    Args:
        data_dir: Folder with `data_raw.json` and the tools.
        critic: Models that review each sample, as for `check`.
        model: Endpoint of the critics.
        limits: Limits of each critic.
        force: Replace a data set that was changed since or comes from elsewhere; a dated copy is kept.
        engine: Where the gates run, as for `check`.
        live: A server on which the plans are executed first; what fails there does not pass.
        calibration: Files of `critic --calibrate`, as for `check`.
        command: Command line, recorded in the manifests.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, the data set must not be replaced, or another release is
            under way.
        ToolassayError: No sample can be formatted, or a critic cannot be reached.
    """
    folder = DataFolder(Path(data_dir)).require()
    run = RunSettings(model, limits, RunChoices(force=force), command, screen)
    with exclusive_folder(folder.path, _LOCK, what="another release", fix="wait until it is done"):
        candidates = _candidates(folder)
        makers = {
            "written_by": teacher_of(candidates),
            "executor": "" if live is None else present_name(live.executor),
        }
        provenance = {role: name for role, name in makers.items() if name}
        target = CheckedFolder(folder.path, candidates, force=force, releases=True, provenance=provenance)
        target.require()
        library = candidates.library(say=screen.say)
        kind = candidates.dependency_type(None, library=library)
        formatted = format_folder(candidates, library, kind)
        if formatted.refused:
            screen.say(f"{WARNING}{formatted.refused} samples have no readable plan: {folder.data_error}")
        if live is not None:
            _execute(folder, candidates, live, screen)
        gating = GateSettings(engine=engine, critic=critic, calibration=calibration)
        checked = check_into(target, candidates, gating, run)
        copied_files = _ABOUT_ALL if live is None else (*_ABOUT_ALL, EXECUTIONS)
        for name in copied_files:
            copy_file(candidates.path / name, folder.path / name)
        shutil.rmtree(candidates.path, ignore_errors=True)
    return checked


def _execute(folder: DataFolder, candidates: DataFolder, live: LiveSettings, screen: Screen) -> None:
    """Execute the plans of the candidates; the run is in the data folder, so that it goes on there."""
    run = folder.path / RUN
    run.mkdir(exist_ok=True)
    (candidates.path / RUN).symlink_to(run.resolve(), target_is_directory=True)
    settings = ExecutionSettings(allow_writes=live.allow_writes, allow_tools=live.allow_tools)
    # Messages name the data folder, where the files are after the release.
    screen_of_release = replace(screen, show=lambda text: screen.show(text.replace(f"{CANDIDATES}/", "")))
    execute(
        candidates.path,
        executor=live.executor,
        options=live.options,
        settings=settings,
        screen=screen_of_release,
    )


def _candidates(folder: DataFolder) -> DataFolder:
    """A folder below the data folder with links to its tools, graph and samples."""
    candidates = folder.path / CANDIDATES
    shutil.rmtree(candidates, ignore_errors=True)
    candidates.mkdir()
    names = ("statistics.json", CASES, WORLD_FILE)
    for path in (folder.tool_desc, folder.graph_desc, folder.data_raw, *map(folder.path.joinpath, names)):
        if path.exists():
            (candidates / path.name).symlink_to(path.resolve())
    if folder.benchmark_file.exists():
        copy_file(folder.benchmark_file, candidates / folder.benchmark_file.name)
    return DataFolder(candidates)
