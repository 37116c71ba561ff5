"""The export stage: `data.json` -> files for training and sharing."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Result
from toolassay.console.text_formatting import count_of
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.evaluation.items import OUTCOMES, read_items
from toolassay.exporters.dataset_card import (
    TRAJECTORIES,
    CardFacts,
    ExportTally,
    card,
    read_funnel,
    trajectory_card,
)
from toolassay.exporters.destination import Destination
from toolassay.exporters.executed_results import ExecutedResults, drawn
from toolassay.exporters.export_format import (
    CLOSINGS,
    Chats,
    ChatStyle,
    ExportFormat,
    JsonLinesWriter,
    ResultForm,
)
from toolassay.exporters.formats import ExportFiles, format_named, formats
from toolassay.exporters.sample_selection import RefusedSample, SampleSelection, SelectedPlan
from toolassay.files.data_files import read_text, write_text
from toolassay.gates.gate import Level, read_gates
from toolassay.plans.call_plan import MOST_TOOLS, Unfit
from toolassay.plans.execution_record import FILE
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import LastLabels
from toolassay.runs.trials import trials_of
from toolassay.stages.leaderboard import ScoredFolder
from toolassay.stages.settings import AUTO, ChatForm
from toolassay.variety.splits import SplitFile
from toolassay.version import __version__

REFUSED = "refused.jsonl"
# Refused samples on the screen; refused.jsonl has all of them.
_SHOWN = 5


@dataclass(frozen=True, repr=False)
class Exported(Result):
    """The result of an export.

    Attributes:
        path: Output folder.
        counts: Number of samples per split.
        refused: Number of samples whose plan is not executable, that have no results, or that are in no
            split.
        left_out: Number of samples left out by `level`.
    """

    path: Path
    counts: Mapping[str, int]
    refused: int
    left_out: int


def export(
    data_dir: str | Path,
    *,
    to: str,
    out: str | Path,
    splits: str | Path | None = None,
    dependency_type: str | None = None,
    level: Level | None = None,
    chats: ChatForm = ChatForm(),
    licence: str | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
) -> Exported:
    """Export the gold plans of a folder for training or sharing.

    If several labels have one id, the last is used. Samples and results are streamed; only ids are kept in
    memory.

    Args:
        data_dir: Folder with `data.json` and the tools.
        to: Name of the format: "hf" (Parquet), "jsonl" (the same rows), "openai" or "sharegpt" (chats with
            tool calls), or one of an installed package.
        out: Output folder; the output of an earlier export is replaced.
        splits: Split file of `toolassay split` or in the published format; default: that of the folder, if
            any; "none" for no splits.
        dependency_type: "resource", "temporal" or "schema"; default: the type in `benchmark.json`.
        level: Lowest level of `gates.jsonl` to export; samples without a level are left out too.
        chats: How chats are written.
        licence: Licence for the card; default: that in `benchmark.json`, else unknown.
        force: Replace files of another program; dated copies are kept.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, the folder must not be replaced, or a package is missing.
        ToolassayError: No sample can be exported; nothing is written then.
    """
    form = replace(chats, system=_system_message(chats.system))
    written_as = format_named(to)
    written_as.require()
    folder = DataFolder(Path(data_dir)).require()
    refuse_other_benchmarks(folder)
    executions = folder.path / FILE
    results = form.results or ("executed" if executions.exists() else "references")
    style = _style(form, results, written_as)
    destination = Destination(Path(out), force=force)
    library = folder.library(say=screen.say)
    kind = folder.dependency_type(dependency_type, library=library, say=screen.say)
    tools = form.tools or ("all" if len(library) <= MOST_TOOLS else MOST_TOOLS)
    split_file = _split_file(folder, splits)
    gates = folder.path / "gates.jsonl"
    levels = None
    if level is not None or gates.exists():
        levels = {str(line.id): line.level for line in read_gates(gates)}
    wanted = None if level in (None, "reject") else frozenset(("pass", str(level)))
    executed = ExecutedResults.index(executions, library, kind) if results == "executed" else None
    labels = LastLabels(folder.data)
    selection = SampleSelection(labels, library, kind, split_file, levels, wanted, executed)
    if labels.repeated:
        screen.say(f"{WARNING}{count_of(labels.repeated, 'line')} left out: a later one has the same id")
    chat_tools = Chats(library, kind, style, tools, form.seed, results)
    name = folder.path.resolve().name
    with destination.folder() as new:
        files = ExportFiles(written_as, new, chat_tools)
        tally = ExportTally()
        with contextlib.closing(files):
            recoveries = _recoveries(selection, files, form, screen)
            refused = _write(selection, files, tally, recoveries, new / REFUSED, screen)
            files.finish(name)
        if not tally.total:
            raise _nothing_to_export(labels, is_executed=executed is not None)
        facts = CardFacts(
            name,
            written_as,
            files.files,
            len(library),
            folder.benchmark,
            licence or _licence(folder),
            "" if split_file is None else split_file.signature,
            read_funnel(folder.path / "funnel.json"),
            refused,
            results,
        )
        write_text(new / "README.md", card(facts, tally))
        counts = {split: tally.of_split(split) for split in files.files}
        destination.facts = {
            "version": __version__,
            "to": to,
            "samples": counts,
            "refused": refused,
            "left_out": selection.left_out,
            **({"results": results, "recoveries": tally.recoveries} if results != "references" else {}),
        }
    result = Exported(destination.path, counts, refused, selection.left_out)
    _report(result, tally, destination, screen)
    return result


_TEXTS = (".txt", ".md")


def _system_message(given: str) -> str:
    """The text of the file `given` if there is such a file, else `given` itself."""
    is_one_line = len(given) < 256 and "\n" not in given
    # A single word that ends in .txt or .md is a file name: if the file is missing, reading it fails, so that
    # its name never becomes the system message.
    is_file_name = given.split() == [given] and Path(given).suffix in _TEXTS
    if given and is_one_line and (Path(given).is_file() or is_file_name):
        return read_text(Path(given), fix="check --system").strip()
    return given


def export_trajectories(
    data_dir: str | Path,
    *,
    predictions: str,
    out: str | Path,
    prediction_dir: str | Path = "predictions",
    force: bool = False,
    screen: Screen = DEFAULT,
) -> Exported:
    """Write the conversations of an agent, of all trials, as chats with tools for training.

    A line of `trajectories.jsonl` has `id`, `trial`, `messages` and `tools` in the form of OpenAI, `outcome`,
    `limit`, and `right`: whether the item is right, which is known of the first trial after `evaluate`.

    Args:
        data_dir: Data folder of any benchmark with agents.
        predictions: Name of the model.
        out: Output folder; the output of an earlier export is replaced.
        prediction_dir: Folder of the predictions.
        force: Replace files of another program; dated copies are kept.
        screen: Receives the number of conversations.

    Raises:
        UsageError: The folder has no agents, or a file is missing or malformed.
    """
    scored_folder = ScoredFolder.at(data_dir, prediction_dir, None)
    trajectories = scored_folder.benchmark.items.trajectories
    if trajectories is None or scored_folder.predictions is None:
        raise UsageError(
            "holds no predictions of an agent", file=scored_folder.folder.path, fix="run infer first"
        )
    file = scored_folder.items_file(predictions)
    right = dict[str, float | None]()
    if file.is_file():
        names = (OUTCOMES[0], *scored_folder.benchmark.scores.ranked_by[:1])
        for item in read_items(file):
            right[item.id] = next((s for name in names if (s := item.scores.get(name)) is not None), None)
    destination = Destination(Path(out), force=force)
    count = 0
    with destination.folder() as new:
        with contextlib.closing(JsonLinesWriter(new / f"{TRAJECTORIES}.jsonl")) as lines:
            for trial in trials_of(scored_folder.predictions, predictions):
                for trajectory in trajectories(scored_folder.folder, trial.folder, predictions):
                    known = right.get(trajectory.id) if not trial.number else None
                    is_right = None if known is None else known == 1
                    lines.write({**trajectory._asdict(), "right": is_right, "trial": trial.number})
                    count += 1
        if not count:
            raise ToolassayError(
                "the run has no conversation yet", file=scored_folder.output(predictions), fix="run it"
            )
        name = scored_folder.folder.path.resolve().name
        write_text(new / "README.md", trajectory_card(name, predictions))
        destination.facts = {"version": __version__, "to": TRAJECTORIES, "samples": count}
    screen.show(f"{destination.path}: {count_of(count, 'conversation')}")
    return Exported(destination.path, {TRAJECTORIES: count}, 0, 0)


def _style(form: ChatForm, results: ResultForm, to: ExportFormat) -> ChatStyle:
    """The options of the chat formats.

    Raises:
        UsageError: Options exclude each other.
    """
    if results == "none" and form.closing not in (AUTO, None):
        raise UsageError(
            "--results none ends a chat with its calls, so it has no last message", fix="omit --closing"
        )
    if not 0 <= form.recoveries <= 1:
        raise UsageError(f"--recoveries is {form.recoveries}", fix="write a share from 0 to 1")
    if form.recoveries and results != "executed":
        raise UsageError(
            f"--recoveries needs executed results, and these are '{results}'",
            fix=f"run {as_called('execute', wrong_calls='SHARE')}, then use --results executed",
        )
    if form.recoveries and not to.shows_refusals:
        names = [export_format.name for export_format in formats() if export_format.shows_refusals]
        raise UsageError(
            f"--recoveries needs chats, and '{to.name}' has rows", fix=f"use --to {' or '.join(names)}"
        )
    return ChatStyle(
        form.system,
        CLOSINGS[results] if form.closing == AUTO else form.closing,
        form.parallel,
        form.arguments == "object",
        calls_only=results == "none",
    )


def _recoveries(
    selection: SampleSelection, files: ExportFiles, form: ChatForm, screen: Screen
) -> frozenset[str]:
    """The ids of the samples whose chat has a wrong call: the wanted share of all that can be exported."""
    if not form.recoveries:
        return frozenset()
    count = 0
    possible = []
    with screen.progress("looking for wrong calls", len(selection.labels)) as advance:
        for sample in _samples(selection, files):
            if isinstance(sample, SelectedPlan):
                count += 1
                if sample.results is not None and sample.results.refused is not None:
                    possible.append(sample.plan.id)
            advance()
    wanted = round(form.recoveries * count)
    if len(possible) < wanted:
        screen.say(
            f"{WARNING}{count_of(wanted, 'chat')} should have a wrong call, but only {len(possible):,} of "
            f"{count_of(count, 'sample')} have one. Fix: run {as_called('execute', wrong_calls='SHARE')}"
        )
    return drawn(possible, wanted, form.seed)


def _samples(selection: SampleSelection, files: ExportFiles) -> Iterator[SelectedPlan | RefusedSample | None]:
    """Each sample: a plan that the format can represent, a refusal, or None if its level is not wanted."""
    for sample in selection:
        yield _checked(sample, files) if isinstance(sample, SelectedPlan) else sample


def _write(
    selection: SampleSelection,
    files: ExportFiles,
    tally: ExportTally,
    recoveries: Collection[str],
    path: Path,
    screen: Screen,
) -> int:
    """Write every sample and return the number of refused ones, which are listed in the file `path`."""
    count = 0
    with (
        contextlib.closing(JsonLinesWriter(path)) as refused,
        screen.progress("exporting", len(selection.labels)) as advance,
    ):
        for sample in _samples(selection, files):
            if isinstance(sample, RefusedSample):
                count += 1
                refused.write(sample)
                if count <= _SHOWN:
                    screen.say(f"{WARNING}refused {sample.sentence}")
            elif sample is not None:
                results = sample.results
                if results is not None and sample.plan.id not in recoveries:
                    results = replace(results, refused=None)
                files.write(sample.plan, sample.split, results)
                tally.add(sample.plan, sample.split, sample.level, results)
            advance()
    if not count:
        path.unlink()
    return count


def _checked(chosen: SelectedPlan, files: ExportFiles) -> SelectedPlan | RefusedSample:
    results = chosen.results
    try:
        files.check(chosen.plan.calls if results is None else results.calls)
    except Unfit as error:
        return RefusedSample.of(chosen.gold, *error.fault)
    if results is None or results.refused is None:
        return chosen
    try:
        files.check([results.refused.call])
    except Unfit:  # the sample itself is good
        return chosen._replace(results=replace(results, refused=None))
    return chosen


def _split_file(folder: DataFolder, given: str | Path | None) -> SplitFile | None:
    """The split file that is given or in the folder; None for no splits."""
    if given == "none":
        return None
    ids = folder.path / "split_ids.json" if given is None else Path(given)
    return SplitFile.load(ids) if given is not None or ids.exists() else None


def _licence(folder: DataFolder) -> str:
    """The licence in `benchmark.json`, as an identifier."""
    stated = folder.benchmark.licence or folder.benchmark.license or "unknown"
    return "-".join(stated.casefold().split())


def _nothing_to_export(labels: LastLabels, *, is_executed: bool) -> ToolassayError:
    """The error of an export without samples."""
    if not len(labels):
        return ToolassayError("holds no samples", file=labels.path, fix="name a folder that has some")
    fix = f"see the warnings; {as_called('check')} explains them, {as_called('split')} splits again"
    if is_executed:
        fix = f"see the warnings; run {as_called('execute')}, or use --results references"
    return ToolassayError(
        f"none of {count_of(len(labels), 'sample')} can be exported", file=labels.path, fix=fix
    )


def _report(result: Exported, tally: ExportTally, destination: Destination, screen: Screen) -> None:
    for copy in destination.copies:
        screen.say(f"kept {copy}")
    if tally.without_arguments:
        screen.say(
            f"{WARNING}{count_of(tally.without_arguments, 'sample')} without gold arguments: their calls "
            "have empty arguments"
        )
    if result.left_out:
        screen.say(f"{count_of(result.left_out, 'sample')} left out by the level of the gates")
    if result.refused:
        shown = f" ({_SHOWN} of them shown)" if result.refused > _SHOWN else ""
        screen.say(
            f"{WARNING}{count_of(result.refused, 'sample')} refused{shown}, with reasons in "
            f"{result.path / REFUSED}"
        )
    counts = ", ".join(f"{count:,} {split}" for split, count in result.counts.items())
    screen.show(f"{result.path}: {counts}")
