"""`toolassay classic …`: run an agent, score predictions, build a data set from your own chats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import click

from toolassay.benchmarks.classic.benchmark import BENCHMARK, ChatTables
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.benchmarks.classic.scoring.leaderboard import published_means
from toolassay.cli.command import command
from toolassay.cli.options import CommandGroup, load_environment, typed
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import SCREEN, show
from toolassay.console.tables import UNKNOWN, Table, number, percent, seconds
from toolassay.console.text_formatting import count_of
from toolassay.declarations import Option
from toolassay.evaluation.metrics_file import SECURITY
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.outcomes import is_scored
from toolassay.runs.settings import Limits, RunChoices

if TYPE_CHECKING:
    from toolassay.benchmarks.benchmark import Numbers
    from toolassay.evaluation.evaluation import FolderEvaluation


_DOMAIN = "domain:"


def print_chat_scores(evaluations: Sequence[FolderEvaluation], *, with_published: bool | None = None) -> None:
    """All of it: strict, compat with the security that was measured, and what was used by the ledgers."""
    evaluations = baselines_last(evaluations)
    scores = {shown(result): result.whole for result in evaluations}
    deployed = {
        llm: numbers[SECURITY]["score"]["value"] for llm, numbers in scores.items() if SECURITY in numbers
    }
    print_strict(scores)
    print_compat(scores, deployed, with_published=with_published)
    print_usage(evaluations)
    print_marks(evaluations, with_times=True)


def print_compat(
    scores: Mapping[str, Numbers],
    deployed: Mapping[str, float | None] | None = None,
    *,
    with_published: bool | None = None,
) -> None:
    """The published headlines by agent and domain, and the published figures beside them.

    Args:
        scores: by agent.
        deployed: the share of attacks that an agent as deployed resisted, where that was measured; of all
            domains, as is the published score.
        with_published: True for those of all domains of the same names, False for none, None for those over
            all domains.
    """
    axes = {"cost": "cost USD", "latency": "latency s", "accuracy": "row_pass@1", "stability": "row_pass^2"}
    names = {"latency": "time_to_pred_mean", "accuracy": "row_pass@1", "stability": "row_pass^2"}
    headings = ("compat", "domain", *axes.values(), "security", "as deployed")
    lines: list[tuple[str, ...]] = []
    for agent, numbers in scores.items():
        compat = numbers["compat"]
        resisted = (compat.get(SECURITY, {}).get("value"), (deployed or {}).get(agent))
        for key, cost in compat["cost"].items():
            measured = [(compat[axis] or {}).get(key, {}).get(name) for axis, name in names.items()]
            measured += resisted if key == f"{_DOMAIN}all" else (None, None)
            dollars = number(cost["cost_mean"], 4)
            lines.append((agent, key.removeprefix(_DOMAIN), dollars, *map(_number, measured)))
    domains = dict.fromkeys(line[1] for line in lines)
    shown = [domain for domain in domains if with_published or (with_published is None and domain == "all")]
    for domain in shown:
        for model, figures in published_means(domain).items():
            printed = (_number(figures.get(axis)) for axis in (*axes, "security"))
            lines.append((f"{model} *", domain, *printed, UNKNOWN))
    _print_scores(headings, lines)
    if shown:
        more = "" if with_published else "; --with_published true shows them by domain, false leaves them out"
        show(f"* published, on its own data{more}")
    _print_notes({agent: numbers["compat"]["notes"] for agent, numbers in scores.items()})


def print_strict(scores: Mapping[str, Numbers]) -> None:
    """The strict headlines by agent and domain, and what another order of the list changes.

    Shares are in percent. Where nothing was asked there are no scores; `n` is how many messages were, in all
    trials.
    """
    shares = ("right %", "95 %", "conversations", "by workflow", "macro F1", "none F1", "agreement")
    headings = ("strict", "domain", "n", *shares, "p50 s", "p95 s", "USD / 1,000")
    lines: list[tuple[str, ...]] = []
    for agent, numbers in scores.items():
        strict = numbers["strict"]
        for key, accuracy in strict["accuracy"].items():
            latency = strict["latency"][key]
            expected = sum(accuracy["outcomes"].values())
            asked = sum(count for name, count in accuracy["outcomes"].items() if is_scored(name))
            if not asked:
                name = key.removeprefix(_DOMAIN)
                lines.append((agent, name, f"0 of {expected}", *[UNKNOWN] * (len(headings) - 3)))
                continue
            right = Interval.of(accuracy["messages"])
            agreement = strict["stability"][key].get("answer_agreement", {}).get("value")
            line = (
                agent,
                key.removeprefix(_DOMAIN),
                str(asked) if asked == expected else f"{asked} of {expected}",
                _percent(right.value),
                f"{_percent(right.low)} to {_percent(right.high)}",
                _percent(accuracy["conversations"]["value"]),
                _percent(accuracy["by_workflow"]["value"]),
                *map(_percent, (accuracy["macro_f1"], accuracy["none"]["f1"], agreement)),
                *map(_number, (latency["p50"], latency["p95"])),
                _number(strict["cost"][key]["usd_per_1000_messages"]),
            )
            lines.append(line)
    _print_scores(headings, lines)
    for agent, numbers in scores.items():
        if order := numbers["strict"]["stability"]["domain:all"]["order"]:
            show(
                f"{agent}: orders of the list ({', '.join(order['orders'])}): of {order['pairs']} pairs "
                f"{_percent(order['answer_agreement'])} % have the same answer, "
                f"{_percent(order['right_in_both'])} % are right in both"
            )
    _print_notes({agent: numbers["strict"]["notes"] for agent, numbers in scores.items()})


def _print_scores(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table without the columns of which nothing is known."""
    kept = [column for column in range(len(headings)) if any(line[column] != UNKNOWN for line in lines)]
    rows = [[line[column] for column in kept] for line in lines]
    print_table(Table([headings[column] for column in kept], rows, align="nl").terminal())


def print_usage(evaluations: Sequence[FolderEvaluation]) -> None:
    """What each run used by its ledgers, and why that is not known."""
    for result in evaluations:
        cost = result.whole["cost"]
        latency = result.whole["latency"]
        if cost is not None and cost["usd_per_1000_tasks"] is not None:
            failed = sum(cost["failures"].values())
            show(
                f"{result.llm}: by the ledger {cost['usd_per_1000_tasks']:.3f} USD for 1,000 messages "
                f"in {count_of(cost['requests'], 'request')}, {count_of(failed, 'failure')} among them"
            )
        if latency is not None:
            times = latency["seconds_per_task"]
            local = latency.get("local", False)
            p50, p95 = (seconds(times[name], local=local) for name in ("p50", "p95"))
            show(f"{result.llm}: seconds of a message by the ledger: {p50} (median), {p95} (95 %)")
    _print_notes({result.llm: result.whole["notes"] for result in evaluations})


_number = partial(number, digits=3)
_percent = partial(percent, sign="")


def _print_notes(notes: Mapping[str, Mapping[str, str]]) -> None:
    for agent, agent_notes in notes.items():
        for name, text in agent_notes.items():
            show(f"{agent}: {name}: {text}")


_Force = Annotated[bool, Option("Replace existing files.")]


@click.group("build", cls=CommandGroup)
def build() -> None:
    """Build a data set from your own chats: sample, workbook, merge, publish."""


@command("sample", group=build)
def sample(
    raw: Annotated[
        Path, Option("Table of messages, or folder with messages and workflows (CSV or JSON Lines).")
    ],
    out: Annotated[Path, Option("Output folder for the unlabelled tables.")],
    settings: ChatSampling = ChatSampling(),
    force: _Force = False,
) -> None:
    """Clean, filter and sample raw chats, and mask personal data."""
    from toolassay.benchmarks.classic.chats.build import sample_chats

    sample_chats(raw, out, settings, force=force, screen=SCREEN)


@command("workbook", group=build)
def workbook(
    data_dir: Annotated[Path, Option("Folder of the sample.")],
    annotators: Annotated[
        Sequence[str],
        Option("Names of the annotators; they become file names.", metavar="A,B,C", listed=True),
    ],
    out: Annotated[Path, Option("Output folder for the workbooks.")],
    shuffle: Annotated[
        int | None, Option("Shuffle the messages differently for each annotator.", metavar="SEED")
    ] = None,
    force: Annotated[bool, Option("Replace existing workbooks, including the labels in them.")] = False,
) -> None:
    """Write an Excel workbook for each annotator."""
    from toolassay.benchmarks.classic.chats.build import write_workbooks

    write_workbooks(data_dir, annotators=annotators, out=out, shuffle=shuffle, force=force, screen=SCREEN)


@command("merge", group=build)
def merge(
    data_dir: Annotated[Path, Option("Folder of the annotated sample.")],
    out: Annotated[Path, Option("Output folder for the data set and the reports.")],
    workbooks: Annotated[
        Sequence[Path],
        Option("Workbooks (.xlsx or .csv) or a folder of them, one file per annotator."),
    ] = (),
    more: Annotated[Sequence[Path], Option(positional=True, metavar="[WORKBOOK]...")] = (),
    ties: Annotated[
        Literal["conflict", "first", "drop"],
        Option(
            "Messages without a majority. conflict: omit until decided (exit code 3); first: use the label "
            "of "
            "the first annotator; drop: omit."
        ),
    ] = "conflict",
    force: _Force = False,
) -> int:
    """Merge the workbooks by majority vote into a data set, and report the agreement."""
    from toolassay.benchmarks.classic.chats.build import merge_workbooks

    undecided = merge_workbooks(
        data_dir,
        workbooks=[*workbooks, *more],
        out=out,
        ties=ties,
        force=force,
        screen=SCREEN,
    )
    return 3 if undecided else 0


@command("publish", group=build)
def publish(
    data_dir: Annotated[Path, Option("Folder of the merged data set.")],
    to: Annotated[Path, Option("Output folder for the tables and the dataset card.")],
    parquet: Annotated[bool, Option("Write Parquet instead of CSV.")] = False,
    prompts: Annotated[Path | None, Option("Table of security prompts, for a data set without one.")] = None,
    force: _Force = False,
) -> None:
    """Convert a data set to the layout of the Hugging Face hub. Nothing is uploaded."""
    from toolassay.benchmarks.classic.chats.build import publish_set

    publish_set(data_dir, to=to, parquet=parquet, prompts=prompts, force=force, screen=SCREEN)


@click.group("classic", cls=CommandGroup)
def group() -> None:
    """Evaluate agents that choose a workflow for each chat message."""


@command("evaluate", group=group)
def evaluate(
    data_dir: Annotated[
        Path,
        Option("Data folder with the tables.", command_default=Path(BENCHMARK.about.default_folder)),
    ],
    predictions: Annotated[
        Sequence[Path], Option("Prediction rows of all trials, a JSON array or JSON Lines.")
    ],
    out: Annotated[Path, Option("Output folder for metrics.json.")],
    mode: Annotated[
        Literal["compat", "strict"],
        Option("compat: the published metrics; strict: errors count as wrong and no row is removed."),
    ] = "compat",
    tables: ChatTables = ChatTables(),
) -> None:
    """Score prediction rows, e.g. those of another program."""
    from toolassay.benchmarks.classic.evaluation import METRICS, evaluate_rows
    from toolassay.runs.outcomes import mark_of, marked

    scores = evaluate_rows(data_dir, predictions, out=out, mode=mode, screen=SCREEN)
    name = predictions[0].stem
    named = {marked(name, mark_of(name, {})): {"compat": scores.compat, "strict": scores.strict}}
    if mode == "compat":
        print_compat(named, with_published=tables.with_published)
    else:
        print_strict(named)
    show(str(out / METRICS))


@command("run", group=group, context_settings={"ignore_unknown_options": True})
def run(
    data: Annotated[str, Option("Data configuration: a path, or a name in configs/data/.")] = "v1",
    agent: Annotated[str, Option("Agent configuration: a path, or a name in configs/agent/.")] = "cot",
    eval: Annotated[str, Option("Evaluation configuration: a path, or a name in configs/eval/.")] = "default",
    set: Annotated[
        Sequence[str], Option("Set one value, e.g. agent.temperature=0.2.", metavar="KEY=VALUE")
    ] = (),
    limits: Limits = Limits(),
    prediction_dir: Annotated[Path, Option("Output folder, below the data folder.")] = Path("predictions"),
    path_to_output_dir: Annotated[Path | None, Option("Output folder, from the current one.")] = None,
    run_uuid: Annotated[str, Option("Folder of the run in the output folder.")] = "",
    is_debug: Annotated[bool, Option("Only the first 10 messages.")] = False,
    dry_run: Annotated[
        bool, Option("Show what would be sent and its estimated cost. Sends and writes nothing.")
    ] = False,
    tables: ChatTables = ChatTables(),
    force: Annotated[
        bool,
        Option(
            "Start a new run if the settings differ from the existing run, which is kept.",
            flags=("--is_force_refresh",),
        ),
    ] = False,
    n_workers: Annotated[int | None, Option("See --multiworker.", minimum=1, hidden=True)] = None,
    more: Annotated[Sequence[str], Option(positional=True, metavar="[--KEY=VALUE]...")] = (),
) -> int:
    """Run a configured agent on every message and score it; the flags of the published run.py work, too.

    Override a single value with --set agent.temperature=0.2 or --agent.temperature=0.2. API keys come from
    the environment (OPENAI_API_KEY) or .env, never from a configuration.
    """
    from toolassay.benchmarks.classic.run import CONFIGURATION_FIX, KINDS, read_configuration, run_classic

    for word in more:
        flag, _, _ = word.partition("=")  # what follows may be a key
        if not flag.startswith("--"):
            raise click.UsageError("Got an unexpected argument. Fix: write --KEY=VALUE")
        if "." not in flag:
            raise click.UsageError(f"No such flag: {flag}. Fix: {CONFIGURATION_FIX}")
    names = dict(zip(KINDS, (data, agent, eval), strict=True))
    values = [*set, *more, *(["eval.limit=10"] if is_debug else [])]
    configuration = read_configuration(names, values)
    output_folder = prediction_dir if path_to_output_dir is None else path_to_output_dir.absolute()
    load_environment()
    ended = run_classic(
        configuration,
        limits=limits if n_workers is None else replace(limits, multiworker=n_workers),
        choices=RunChoices(force=force, dry_run=dry_run, prediction_dir=str(output_folder / run_uuid)),
        command=typed(),
        screen=SCREEN,
    )
    if ended.evaluation is not None:
        print_chat_scores([ended.evaluation], with_published=tables.with_published)
        show(str(ended.evaluation.path))
    return 0 if ended.inference.summary.complete else 3


group.add_command(build)


@command("classic")
def import_command(
    data_dir: Annotated[Path, Option("The data folder; created if missing.")],
    repo: Annotated[
        str | None, Option("Data set on the Hugging Face hub, e.g. acme/chats.", flags=("--hub",))
    ] = None,
    revision: Annotated[
        str | None, Option("Branch, tag or commit of the data set [default: the newest].")
    ] = None,
    folder: Annotated[
        Path | None,
        Option("Local folder with the files of the data set, instead of the hub.", flags=("--from",)),
    ] = None,
) -> None:
    """Import the four tables of CLASSic, CSV or Parquet.

    The hub and Parquet need an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.classic.importing import import_classic

    import_classic(data_dir, repo=repo, revision=revision, folder=folder, screen=SCREEN)
