"""The export stage: data.json -> files for training and sharing."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.data_folder import DataFolder
from toolassay.errors import ToolassayError, UsageError
from toolassay.exporters.dataset_card import CardFacts, ExportTally, card
from toolassay.exporters.destination import Destination
from toolassay.exporters.export_plan import Unfit
from toolassay.exporters.formats import FORMATS, MOST_TOOLS, Chats, Format, Rows
from toolassay.exporters.jsonl_parquet import JsonLinesWriter, parquet_libraries
from toolassay.exporters.sample_selection import Refusal, SelectedPlan, Selection
from toolassay.exporters.turns import CLOSING, ChatStyle
from toolassay.files import read_json, read_json_lines, write_text
from toolassay.gates.gate import Level
from toolassay.runs.settings import gather, refuse_unknown
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.splits import SplitFile
from toolassay.text_formatting import count_of
from toolassay.version import __version__

REFUSED = "refused.jsonl"
_SHOWN = 5


@dataclass(frozen=True)
class Exported:
    """What an export came to.

    Attributes:
        path: the folder.
        counts: samples a split.
        refused: how many samples have no plan that can be carried out, or no split.
        left_out: how many the gates gave another level than wished.
    """

    path: Path
    counts: Mapping[str, int]
    refused: int
    left_out: int


@dataclass(frozen=True)
class ChatForm:
    """How an export writes chats.

    Attributes:
        tools: functions a chat offers: "all", those of its plan ("gold"), or a number; None for all, or 128
            of them.
        system: the system message; empty for none.
        closing: the last words of a chat, `$results` being the results; None ends it with its last call.
        parallel: make calls that do not need one another in one turn.
        arguments: of calls in the OpenAI form, as JSON "text" or as an "object".
        seed: of the draws of `tools`.
    """

    tools: int | Literal["all", "gold"] | None = None
    system: str = ""
    closing: str | None = CLOSING
    parallel: bool = False
    arguments: Literal["text", "object"] = "text"
    seed: int = 0


def export(
    data_dir: str | Path,
    *,
    to: Format,
    out: str | Path,
    splits: str | Path | None = None,
    dependency_type: str | None = None,
    level: Level | None = None,
    chats: ChatForm | None = None,
    licence: str | None = None,
    force: bool = False,
    screen: Screen = DEFAULT,
    **keywords: Any,
) -> Exported:
    """Write the gold of a folder in a form for training or sharing.

    Of several labels with one id the last counts. Samples are read and written one by one: memory grows with
    their ids only.

    Args:
        data_dir: holds `data.json` and the tools.
        to: "hf" (Parquet and a card), "jsonl" (the same rows), "openai" or "sharegpt" (chats with calls).
        out: the folder; one that an earlier export wrote is replaced.
        splits: a file of `toolassay split` or of the published form; default the folder's own, where there
            is one; "none" for none.
        dependency_type: resource or temporal; default what the folder says.
        level: leave out what the gates (`gates.jsonl` of the folder) gave a lower level, or did not see.
        chats: how chats are written.
        licence: for the card; default what `benchmark.json` says, else unknown.
        force: replace what somebody else made; dated copies are kept.
        screen: where notices and progress go.
        keywords: fields of `chats`, instead of or beside it.

    Raises:
        TypeError: an unknown keyword.
        UsageError: files missing or malformed, a folder that must not be replaced, or a package missing.
        ToolassayError: not one sample can be exported; nothing is written then.
    """
    form = gather(chats or ChatForm(), keywords)
    refuse_unknown("export", keywords)
    if to not in FORMATS:
        raise UsageError(f"unknown format '{to}'", fix=f"use one of {', '.join(FORMATS)}")
    if to == "hf":
        parquet_libraries()
    folder = DataFolder(Path(data_dir)).require()
    refuse_other_benchmarks(folder)
    destination = Destination(Path(out), force=force)
    library = folder.library(say=screen.say)
    kind = folder.dependency_type(dependency_type, library=library, say=screen.say)
    tools = form.tools or ("all" if len(library) <= MOST_TOOLS else MOST_TOOLS)
    split_file = _split_file(folder, splits)
    levels = _levels(folder.path / "gates.jsonl", level)
    selection = Selection(folder.data, library, kind, split_file, levels, _wanted(level))
    if selection.repeated:
        screen.say(f"{WARNING}{count_of(selection.repeated, 'line')} left out: a later one has the same id")
    style = ChatStyle(form.system, form.closing, form.parallel, form.arguments == "object")
    written = Chats(library, kind, style, tools, form.seed)
    name = folder.path.resolve().name
    with destination.folder() as new:
        rows, tally = Rows(to, new, written), ExportTally()
        with contextlib.closing(rows):
            refused = _write(selection, rows, tally, new / REFUSED, screen)
            rows.finish(name)
        if not len(selection):
            raise ToolassayError("holds no samples", file=folder.data, fix="name a folder that has some")
        if not tally.total:
            raise ToolassayError(
                f"none of {count_of(len(selection), 'sample')} can be exported",
                file=folder.data,
                fix="the warnings say why; toolassay check says more, toolassay split splits anew",
            )
        facts = CardFacts(
            name,
            to,
            rows.files,
            len(library),
            folder.benchmark,
            licence or _licence(folder.benchmark),
            "" if split_file is None else split_file.signature,
            read_json(funnel) if (funnel := folder.path / "funnel.json").exists() else None,
            refused,
        )
        write_text(new / "README.md", card(facts, tally))
        counts = {split: tally.of_split(split) for split in rows.files}
        destination.facts = {
            "version": __version__,
            "to": to,
            "samples": counts,
            "refused": refused,
            "left_out": selection.left_out,
        }
    result = Exported(destination.path, counts, refused, selection.left_out)
    _report(result, tally, destination, screen)
    return result


def _write(selection: Selection, rows: Rows, tally: ExportTally, path: Path, screen: Screen) -> int:
    """Write every sample; those refused go to `path`, which is there only if there are any. How many are."""
    count = 0
    with (
        contextlib.closing(JsonLinesWriter(path)) as refused,
        screen.progress("exporting", len(selection)) as advance,
    ):
        for found in selection:
            if isinstance(found, SelectedPlan):
                found = _sayable(found, rows)
            if isinstance(found, Refusal):
                count += 1
                refused.write(found.to_json())
                if count <= _SHOWN:
                    screen.say(f"{WARNING}refused {found.sentence}")
            elif found is not None:
                rows.write(found.plan, found.split)
                tally.add(found.plan, found.split, found.level)
            advance()
    if not count:
        path.unlink()
    return count


def _sayable(chosen: SelectedPlan, rows: Rows) -> SelectedPlan | Refusal:
    try:
        rows.check(chosen.plan)
    except Unfit as error:
        return Refusal(chosen.gold, *error.fault)
    return chosen


def _report(result: Exported, tally: ExportTally, destination: Destination, screen: Screen) -> None:
    for copy in destination.copies:
        screen.say(f"kept {copy}")
    if tally.without_arguments:
        screen.say(
            f"{WARNING}{count_of(tally.without_arguments, 'sample')} without arguments in the gold: those of "
            "the calls are empty"
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


def _split_file(folder: DataFolder, given: str | Path | None) -> SplitFile | None:
    if given == "none":
        return None
    path = folder.path / "split_ids.json" if given is None else Path(given)
    return SplitFile.load(path) if given is not None or path.exists() else None


def _wanted(level: Level | None) -> frozenset[str] | None:
    """The levels that are exported."""
    if level is None or level == "reject":
        return None
    return frozenset({"pass", level})


def _levels(path: Path, level: Level | None) -> dict[str, str] | None:
    """The level of each sample by the gates; None where they were not asked."""
    if level is None and not path.exists():
        return None
    found: dict[str, str] = {}
    for number, value in read_json_lines(path, fix="make it with toolassay check"):
        if not isinstance(value, dict) or not isinstance(value.get("level"), str) or "id" not in value:
            raise UsageError(
                "has no id and level", file=path, line=number, fix="make it with toolassay check"
            )
        found[str(value["id"])] = value["level"]
    return found


def _licence(benchmark: Mapping[str, Any]) -> str:
    value = benchmark.get("licence", benchmark.get("license"))
    return "-".join(value.casefold().split()) if isinstance(value, str) else "unknown"
