"""`check`, `variety`, `review`, `split`, `export`: the commands on a data set."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from toolassay.cli.command import command, names
from toolassay.cli.options import DataDir, GivenDataDir, Predictions, connected, typed
from toolassay.cli.screen import SCREEN, say
from toolassay.console.screen import WARNING
from toolassay.declarations import Option
from toolassay.errors import UsageError
from toolassay.models.options import ModelOptions
from toolassay.runs.settings import Limits, ModelSettings
from toolassay.stages.settings import (
    AuditSettings,
    ChatForm,
    DependencyTypeName,
    GateSettings,
    PageSettings,
    ReviewSettings,
    SplitSettings,
    VarietySettings,
)


def _gates() -> Mapping[str, str]:
    from toolassay.gates import gate_list

    return {"Gates, in order": gate_list()}


@command("check", listing=_gates)
def check_command(
    out: Annotated[
        Path,
        Option(
            "Output folder: the samples that pass, quarantine/, rejected.json, gates.jsonl, funnel.json.",
            common=True,
        ),
    ],
    data_dir: Annotated[
        Path | None,
        Option(
            "The data folder; it is not changed. With --calibrate: folder of the tools [default: that of the "
            "file].",
            common=True,
        ),
    ] = None,
    gating: GateSettings = GateSettings(),
    min_pass: Annotated[
        float | None,
        Option(
            "Exit with code 3 if a smaller share of the samples passes, e.g. 0.9.",
            minimum=0,
            maximum=1,
            metavar="SHARE",
            common=True,
        ),
    ] = None,
    calibrate: Annotated[
        Path | None,
        Option(
            "Compare the --critic with the labels in this file instead: lines as in data.json, with natural, "
            "grounded, plan, links and values, each true or false, and labelled_by, who answered. OUT gets "
            "calibration.json: precision and recall of its no, and kappa, by question.",
            metavar="LABELS",
            common=True,
        ),
    ] = None,
    endpoint: ModelOptions | None = None,
    limits: Limits = Limits(),
    force: Annotated[
        bool,
        Option("Restart a model's run whose settings differ, and replace files that were edited in OUT."),
    ] = False,
) -> int:
    """Run every sample through the gates and sort the data set: pass, quarantine, reject.

    An interrupted run of a critic or solver continues with the same command. Exit code 3: a model left
    samples without an answer, or a smaller share than --min_pass passes. check, pipeline and the data card
    state how far a critic agrees with labels when they are given its calibration.json (--calibration).
    """
    model = ModelSettings(options=connected(endpoint))
    run: dict[str, Any] = {
        "out": out,
        "model": model,
        "limits": limits,
        "force": force,
        "command": typed(),
        "screen": SCREEN,
    }
    if calibrate is not None:
        from toolassay.stages import calibrate as stage

        critics = [gating.critic] if isinstance(gating.critic, str) else list(gating.critic)
        if len(critics) != 1:
            raise UsageError("--calibrate compares one critic", fix="give one --critic")
        _, complete = stage.calibrate(calibrate, critic=critics[0], data_dir=data_dir, **run)
        return 0 if complete else 3
    if data_dir is None:
        raise UsageError("no data folder", fix="add --data_dir FOLDER")
    from toolassay.stages.check import check

    checked = check(data_dir, gating=gating, **run)
    if min_pass is not None and checked.share < min_pass:
        say(f"{WARNING}{checked.share:.1%} pass, less than --min_pass ({min_pass:.1%})")
        return 3
    return 0 if checked.complete else 3


@command("variety")
def variety_command(
    data_dir: DataDir,
    out: Annotated[
        Path, Option("Output folder for variety.json, variety.md and the pictures.", common=True)
    ] = Path("variety"),
    settings: VarietySettings = VarietySettings(),
) -> None:
    """Measure the variety of a data set: repeats, wording, tools, links, sizes and shapes."""
    from toolassay.stages.variety import measure_variety

    measure_variety(data_dir, out=out, settings=settings, screen=SCREEN)


@command("review")
def review_command(
    data_dir: Annotated[Path, Option("The data folder to review.", common=True)],
    reviewer: Annotated[str, Option("Your name [default: the page asks for it].", common=True)] = "",
    queue: Annotated[
        Literal["all", "conflicts"],
        Option("Samples that the page shows. conflicts: only those on which reviewers disagree."),
    ] = "all",
    settings: ReviewSettings = ReviewSettings(),
    page: PageSettings = PageSettings(),
    audit: AuditSettings = AuditSettings(),
    table: Annotated[
        bool,
        Option("Print and write the human-verification table and the agreement; opens no page.", common=True),
    ] = False,
    export: Annotated[
        Path | None, Option("Write a spreadsheet to fill in: .xlsx or .csv.", common=True)
    ] = None,
    sheet: Annotated[
        Path | None, Option("Read the decisions of a filled-in sheet.", "import", common=True)
    ] = None,
    apply: Annotated[Path | None, Option("Write the reviewed data set to this folder.", common=True)] = None,
    keep_undecided: Annotated[bool, Option("With --apply: keep samples that have no decision.")] = False,
    with_passed: Annotated[
        bool,
        Option("With --apply, on the quarantine of a check: also include the samples that passed."),
    ] = False,
) -> None:
    """Review samples on a local page or in a spreadsheet; then show the agreement and write the reviewed set.

    Every decision is saved at once, in reviews/<reviewer>.jsonl of the data folder. Ctrl-C stops the page.
    With --verdicts, it is the outcomes of a model that are reviewed, in a spreadsheet.
    """
    from toolassay.stages import review as stage

    actions = sum(map(bool, (export, sheet, apply, table)))
    if actions > 1:
        raise UsageError("--export, --import, --apply and --table exclude one another", fix="choose one")
    if queue != "all" and actions:
        raise UsageError("--queue only applies to the page", fix="omit it, or settle conflicts on the page")
    if audit.verdicts and not (export or sheet):
        raise UsageError("--verdicts needs a sheet", fix="add --export FILE, or --import FILE")
    if export:
        stage.export_reviews(
            data_dir, export, reviewer=reviewer, settings=settings, audit=audit, screen=SCREEN
        )
    elif sheet:
        if not reviewer:
            raise UsageError("--import needs the name of the reviewer", fix="add --reviewer NAME")
        stage.import_reviews(data_dir, sheet, reviewer=reviewer, audit=audit, screen=SCREEN)
    elif apply:
        stage.apply_review(
            data_dir, apply, keep_undecided=keep_undecided, with_passed=with_passed, screen=SCREEN
        )
    elif table:
        stage.review_summary(data_dir, screen=SCREEN)
    else:
        try:
            stage.start_review(
                data_dir, reviewer=reviewer, queue=queue, page=page, settings=settings, screen=SCREEN
            )
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt("stopped; every decision is saved") from stop


@command("split")
def split_command(
    data_dir: GivenDataDir,
    settings: SplitSettings = SplitSettings(),
    out: Annotated[Path | None, Option("Split file to write [default: DATA_DIR/split_ids.json].")] = None,
    force: Annotated[
        bool, Option("Replace a file that this command did not write; a dated copy is kept.")
    ] = False,
) -> None:
    """Split a data set into train, dev and test; no subgraph and no request is in two splits.

    `export` uses the file by default; `infer` takes it as --ids FILE:test, `evaluate` as --alignment test.
    """
    from toolassay.stages.split import split

    tools = [name for text in settings.hold_out_tools for name in names(text)]
    split(data_dir, settings=replace(settings, hold_out_tools=tools), out=out, force=force, screen=SCREEN)


TOOLS = "tools-"
"""Start of the formats of tools."""


def _formats() -> Mapping[str, str]:
    from toolassay.exporters.exported_tools import TOOL_FORMS
    from toolassay.exporters.formats import format_list

    trajectories = "trajectories: the conversations of an agent (--predictions LLM) as chats"
    tools = ", ".join(f"{TOOLS}{form}" for form in TOOL_FORMS)
    lists = f"{tools}: the tools as a list for a model API, an MCP listing or tool_desc.json, in the file OUT"
    return {
        "Formats": f"{format_list()}; {trajectories}; {lists} (OUT.report.json lists what it cannot hold)"
    }


@command("export", listing=_formats)
def export_command(
    data_dir: GivenDataDir,
    to: Annotated[str, Option("Format, of those below.", metavar="FORMAT", common=True)],
    out: Annotated[
        Path,
        Option("Output folder; an earlier export in it is replaced. With --to tools-…: a file.", common=True),
    ],
    predictions: Annotated[
        str | None, Option("With --to trajectories: name of the model.", metavar="LLM")
    ] = None,
    prediction_dir: Predictions = "predictions",
    splits: Annotated[
        str | None,
        Option("Split file, or 'none' [default: DATA_DIR/split_ids.json if it exists].", common=True),
    ] = None,
    level: Annotated[
        Literal["pass", "quarantine"] | None,
        Option(
            "Filter by DATA_DIR/gates.jsonl. pass: only samples that passed; quarantine: also quarantined "
            "samples [default: no filter].",
            common=True,
        ),
    ] = None,
    chats: ChatForm = ChatForm(),
    licence: Annotated[
        str | None,
        Option(
            "Licence in the data card, e.g. mit [default: the one in benchmark.json].",
            flags=("--license",),
        ),
    ] = None,
    dependency_type: DependencyTypeName = None,
    skip: Annotated[bool, Option("Exit with code 0 even if samples were refused.")] = False,
    force: Annotated[
        bool, Option("Replace files that no earlier export wrote; dated copies are kept.", common=True)
    ] = False,
) -> int:
    """Write the gold plans of a data folder, the conversations of an agent, or the tools in another form."""
    if to.startswith(TOOLS):
        from toolassay.stages.import_tools import export_tools

        export_tools(data_dir, to.removeprefix(TOOLS), out, force=force, screen=SCREEN)
        return 0
    from toolassay.stages.export import export, export_trajectories

    if (to == "trajectories") != (predictions is not None):
        raise UsageError("--to trajectories and --predictions LLM go together", fix="give both or neither")
    if predictions is not None:
        export_trajectories(
            data_dir,
            predictions=predictions,
            out=out,
            prediction_dir=prediction_dir,
            force=force,
            screen=SCREEN,
        )
        return 0
    exported = export(
        data_dir,
        to=to,
        out=out,
        splits=splits,
        dependency_type=dependency_type,
        level=level,
        chats=chats,
        licence=licence,
        force=force,
        screen=SCREEN,
    )
    return 3 if exported.refused and not skip else 0
