"""`check`, `variety`, `review`, `split`, `export`: the commands on a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, say
from toolassay.console.screen import WARNING
from toolassay.errors import UsageError
from toolassay.gates import gate_list
from toolassay.variety.measures import SAMPLE


@click.command("check", cls=options.listing("Gates, in order", gate_list))
@options.path("data_dir", "The data folder; it is not changed.", required=True)
@options.path(
    "out",
    "Output folder: the samples that pass, quarantine/, rejected.json, gates.jsonl, funnel.json.",
    required=True,
)
@options.path("against", "Another data folder or file; requests that repeat one of its requests do not pass.")
@options.threshold(None)
@options.flag("repair", "First repair mechanical errors; repairs.jsonl lists every change.")
@options.option(
    "gates",
    "Comma-separated gates to run, of those below [default: all].",
)
@options.option("without", "Comma-separated gates to skip.")
@options.option(
    "min_pass",
    "Exit with code 3 if a smaller share of the samples passes, e.g. 0.9.",
    type=click.FloatRange(0, 1),
    metavar="SHARE",
)
@options.dependency_type
@options.models(
    "critic",
    "Model that reviews each sample: one that finds a fault quarantines the sample, two reject it; 'offline' "
    "needs no server",
)
@options.calibration
@options.models(
    "solver",
    "Model that solves the requests without seeing the gold; a sample that none gets right is quarantined",
)
@options.option(
    "prediction_dir",
    "Folder of the solvers' predictions, relative to the data folder [default: OUT/predictions].",
)
@options.server
@options.multiworker()
@options.budget("for each model, earlier starts included")
@options.engine
@options.flag(
    "force", "Restart a model's run whose settings differ, and replace files that were edited in OUT."
)
def check_command(data_dir: Path, out: Path, min_pass: float | None, **settings: Any) -> int:
    """Run every sample through the gates and sort the data set: pass, quarantine, reject.

    An interrupted run of a critic or solver continues with the same command. Exit code 3: a model left
    samples without an answer, or a smaller share than --min_pass passes.
    """
    from toolassay.stages.check import check

    settings = options.with_budget(options.with_model_options(settings))
    if settings["gates"] is not None:
        settings["gates"] = options.names(settings["gates"])
    settings["without"] = options.names(settings["without"] or "")
    settings["solvers"] = settings.pop("solver")
    checked = check(data_dir, out=out, command=options.typed(), screen=SCREEN, **settings)
    if min_pass is not None and checked.share < min_pass:
        say(f"{WARNING}{checked.share:.1%} pass, less than --min_pass ({min_pass:.1%})")
        return 3
    return 0 if checked.complete else 3


@click.command("critic")
@options.path(
    "calibrate",
    "File of labelled samples: lines as in data.json, with natural, grounded, plan, links and values, "
    "each true or false, and labelled_by, who answered.",
    required=True,
    metavar="LABELS",
)
@options.option("critic", "Model that answers the same questions.", required=True, metavar="LLM")
@options.path("data_dir", "Folder of the tools [default: that of the file].")
@options.path("out", "Output folder: calibration.json and the run.", required=True)
@options.server
@options.multiworker()
@options.budget()
@options.flag("force", "Restart a run whose settings differ.")
def critic_command(calibrate: Path, **settings: Any) -> int:
    """Compare a critic with labels: precision and recall of its no, and kappa, by question.

    check, pipeline and the data card state the agreement when they are given calibration.json
    (--calibration). Exit code 3: the model left samples without an answer.
    """
    from toolassay.stages.calibrate import calibrate as compare

    settings = options.with_budget(options.with_model_options(settings))
    return 0 if compare(calibrate, command=options.typed(), screen=SCREEN, **settings)[1] else 3


@click.command("variety")
@options.data_dir
@options.path("out", "Output folder for variety.json, variety.md and the pictures.", default="variety")
@options.threshold()
@options.option(
    "sample",
    "Number of requests on which distinct-n and self-similarity are measured. Data sets are comparable "
    "only at the same number.",
    type=click.IntRange(2),
    default=SAMPLE,
)
@options.option("seed", "Random seed of the sampled requests.", type=click.IntRange(0), default=0)
@options.engine
def variety_command(data_dir: Path, out: Path, **settings: Any) -> None:
    """Measure the variety of a data set: repeats, wording, tools, links, sizes and shapes."""
    from toolassay.stages.variety import measure_variety

    measure_variety(data_dir, out=out, screen=SCREEN, **settings)


@click.command("review")
@options.path("data_dir", "The data folder to review.", required=True)
@options.option("reviewer", "Your name [default: the page asks for it].", default="", show_default=False)
@options.choice(
    "queue",
    ["all", "conflicts"],
    "Samples that the page shows. conflicts: only those on which reviewers disagree.",
    default="all",
)
@options.option(
    "reviewers",
    "Comma-separated names to divide the samples among [default: everyone reviews all].",
    default="",
    show_default=False,
)
@options.option(
    "each", "Number of --reviewers per sample; 0: all.", type=click.IntRange(0), default=0, show_default=False
)
@options.count("sample", "Look at so many samples, drawn by their ids.")
@options.page
@options.path("gates", "A gates.jsonl written by toolassay check [default: the one in the folder].")
@options.dependency_type
@options.flag("table", "Print and write the human-verification table and the agreement; opens no page.")
@options.path("export", "Write a spreadsheet to fill in: .xlsx or .csv.")
@click.option(
    "--import", "import_", type=options.PATH, default=None, help="Read the decisions of a filled-in sheet."
)
@options.flag("insist", "With --import: save fixes that the gates reject; the review records that.")
@options.path("apply", "Write the reviewed data set to this folder.")
@options.flag("keep_undecided", "With --apply: keep samples that have no decision.")
@options.flag(
    "with_passed", "With --apply, on the quarantine of a check: also include the samples that passed."
)
def review_command(data_dir: Path, reviewer: str, **settings: Any) -> None:
    """Review samples on a local page or in a spreadsheet; then show the agreement and write the reviewed set.

    Every decision is saved at once, in reviews/<reviewer>.jsonl of the data folder. Ctrl-C stops the page.
    """
    from toolassay.stages import review as stage

    export, import_, apply, table = (settings.pop(name) for name in ("export", "import_", "apply", "table"))
    page = {name: settings.pop(name) for name in ("queue", "port", "open_browser")}
    applying = {name: settings.pop(name) for name in ("keep_undecided", "with_passed")}
    insist = settings.pop("insist")
    actions = sum(map(bool, (export, import_, apply, table)))
    if actions > 1:
        raise UsageError("--export, --import, --apply and --table exclude one another", fix="choose one")
    if page["queue"] != "all" and actions:
        raise UsageError("--queue only applies to the page", fix="omit it, or settle conflicts on the page")
    names = options.names(settings.pop("reviewers"))
    settings |= {"reviewers": names, "reviewer": reviewer, "screen": SCREEN}
    if export:
        stage.export_reviews(data_dir, export, **settings)
    elif import_:
        if not reviewer:
            raise UsageError("--import needs the name of the reviewer", fix="add --reviewer NAME")
        stage.import_reviews(data_dir, import_, reviewer=reviewer, insist=insist, screen=SCREEN)
    elif apply:
        stage.apply_review(data_dir, apply, screen=SCREEN, **applying)
    elif table:
        stage.review_summary(data_dir, screen=SCREEN)
    else:
        try:
            stage.start_review(data_dir, **page, **settings)
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt("stopped; every decision is saved") from stop


SHARE = click.FloatRange(0)


@click.command("split")
@options.path("data_dir", "The data folder.", required=True)
@options.option("train", "Share of the training split.", type=SHARE, default=0.8)
@options.option("dev", "Share of the development split.", type=SHARE, default=0.1)
@options.option("test", "Share of the test split.", type=SHARE, default=0.1)
@options.option("seed", "Random seed.", type=int, default=0)
@options.option(
    "hold_out_tools",
    "Tools to keep out of training: samples that use them go to test; may be repeated.",
    multiple=True,
    metavar="TOOL[,TOOL…]",
)
@options.flag(
    "near", "Keep near-duplicate requests in the same split, not only identical ones.", default=True
)
@options.threshold()
@options.path("out", "Split file to write [default: DATA_DIR/split_ids.json].")
@options.flag("force", "Replace a file that this command did not write; a dated copy is kept.")
def split_command(data_dir: Path, hold_out_tools: tuple[str, ...], **settings: Any) -> None:
    """Split a data set into train, dev and test; no subgraph and no request is in two splits.

    `export` uses the file by default; `infer` takes it as --ids FILE:test, `evaluate` as --alignment test.
    """
    from toolassay.stages.split import split

    split(data_dir, hold_out_tools=options.names(*hold_out_tools), screen=SCREEN, **settings)


_TEXTS = (".txt", ".md")


def _format_list() -> str:
    from toolassay.exporters.formats import format_list

    return f"{format_list()}; trajectories: the conversations of an agent (--predictions LLM) as chats"


@click.command("export", cls=options.listing("Formats", _format_list))
@options.path("data_dir", "The data folder.", required=True)
@options.option("to", "Format, of those below.", metavar="FORMAT", required=True)
@options.option("predictions", "With --to trajectories: name of the model.", metavar="LLM")
@options.option("prediction_dir", "With --to trajectories: its folder.", default="predictions")
@options.path("out", "Output folder; an earlier export in it is replaced.", required=True)
@options.option("splits", "Split file, or 'none' [default: DATA_DIR/split_ids.json if it exists].")
@options.choice(
    "level",
    ["pass", "quarantine"],
    "Filter by DATA_DIR/gates.jsonl. pass: only samples that passed; quarantine: also quarantined "
    "samples [default: no filter].",
)
@options.choice(
    "results",
    ["executed", "references", "none"],
    "Results of the calls. executed: what the tools returned, from DATA_DIR/executions.jsonl (toolassay "
    "execute); references: <node-j> in their place; none: calls only, all in one message [default: executed "
    "if that file exists, else references].",
)
@options.option(
    "tools",
    "Functions that a chat offers: all, gold (those of its plan), or a number [default: all, up to 128].",
)
@options.option("system", "System message of the chats, or a text file that holds it.")
@options.option(
    "closing",
    "Last message of a chat; $results is replaced by an answer that states the results. none: the chat "
    "ends with its last call [default: $results if they are executed, else 'Done: $results'].",
)
@options.flag("parallel", "Chats: put calls that do not depend on each other in one turn.")
@options.choice(
    "arguments",
    ["text", "object"],
    "openai: form of the arguments of a call. text: a JSON string, as in OpenAI's API; object: for most "
    "chat templates.",
    default="text",
)
@options.option(
    "recoveries",
    "Chats: share of the samples with a wrong call and the tool's error before the right call "
    "(toolassay execute --wrong_calls).",
    type=options.FloatRange(0, 1),
    default=0.0,
    metavar="SHARE",
)
@options.option(
    "seed", "Random seed of the functions that --tools draws, and of --recoveries.", type=int, default=0
)
@options.option(
    "licence", "Licence in the data card, e.g. mit [default: the one in benchmark.json].", "--license"
)
@options.dependency_type
@options.flag("skip", "Exit with code 0 even if samples were refused.")
@options.flag("force", "Replace files that no earlier export wrote; dated copies are kept.")
def export_command(data_dir: Path, skip: bool, predictions: str | None, **settings: Any) -> int:
    """Write the gold plans of a data folder, or the conversations of an agent, for training or publishing."""
    from toolassay.stages.export import AUTO, export, export_trajectories

    if (settings["to"] == "trajectories") != (predictions is not None):
        raise UsageError("--to trajectories and --predictions LLM go together", fix="give both or neither")
    place = settings.pop("prediction_dir")
    if predictions is not None:
        shared = {name: settings[name] for name in ("out", "force")}
        export_trajectories(data_dir, predictions=predictions, prediction_dir=place, screen=SCREEN, **shared)
        return 0
    tools, closing = _tools(settings.pop("tools")), settings["closing"]
    settings["system"] = _text(settings["system"])
    settings["closing"] = AUTO if closing is None else None if closing == "none" else closing
    result = export(data_dir, tools=tools, screen=SCREEN, **settings)
    return 3 if result.refused and not skip else 0


def _tools(text: str | None) -> int | Literal["all", "gold"] | None:
    if text is None or text == "all" or text == "gold":
        return text  # type: ignore[return-value]
    if not text.isascii() or not text.isdigit() or int(text) < 1:
        raise UsageError(f"--tools is '{text}'", fix="write all, gold, or a number from 1")
    return int(text)


def _text(given: str | None) -> str:
    """The text of the file `given` if there is such a file, else `given` itself; "" for None."""
    from toolassay.files.data_files import read_text

    if given is None:
        return ""
    one_line = len(given) < 256 and "\n" not in given
    # A single word that ends in .txt or .md is a file name: if the file is missing, reading it fails, so that
    # its name never becomes the system message.
    if one_line and (Path(given).is_file() or (given.split() == [given] and Path(given).suffix in _TEXTS)):
        return read_text(Path(given), fix="check --system").strip()
    return given
