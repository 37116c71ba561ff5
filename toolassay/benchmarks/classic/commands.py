"""`toolassay classic …`: run an agent, score predictions, build a data set from your own chats."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from toolassay.benchmarks.classic.benchmark import BENCHMARK
from toolassay.benchmarks.classic.scoring.leaderboard import published_means
from toolassay.cli import options
from toolassay.cli.benchmark_options import option_of
from toolassay.cli.options import CommandGroup, Function, load_environment
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import SCREEN, show
from toolassay.console.tables import UNKNOWN, Table, number, percent, seconds
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.evaluation.metrics_file import SECURITY
from toolassay.metrics.confidence_interval import Interval
from toolassay.runs.outcomes import is_scored

if TYPE_CHECKING:
    from toolassay.benchmarks.benchmark import Numbers
    from toolassay.evaluation.evaluation import FolderEvaluation


_DOMAIN = "domain:"


def print_chat_scores(evaluations: Sequence[FolderEvaluation], *, with_published: bool | None = None) -> None:
    """All of it: strict, compat with the security that was measured, and what was used by the ledgers."""
    evaluations = baselines_last(evaluations)
    scores = {shown(result): result.whole for result in evaluations}
    deployed = {llm: found[SECURITY]["score"]["value"] for llm, found in scores.items() if SECURITY in found}
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
    for agent, found in scores.items():
        compat = found["compat"]
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
    _print_notes({agent: found["compat"]["notes"] for agent, found in scores.items()})


def print_strict(scores: Mapping[str, Numbers]) -> None:
    """The strict headlines by agent and domain, and what another order of the list changes.

    Shares are in percent. Where nothing was asked there are no scores; `n` is how many messages were, in all
    trials.
    """
    shares = ("right %", "95 %", "conversations", "by workflow", "macro F1", "none F1", "agreement")
    headings = ("strict", "domain", "n", *shares, "p50 s", "p95 s", "USD / 1,000")
    lines: list[tuple[str, ...]] = []
    for agent, found in scores.items():
        strict = found["strict"]
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
    for agent, found in scores.items():
        if order := found["strict"]["stability"]["domain:all"]["order"]:
            show(
                f"{agent}: orders of the list ({', '.join(order['orders'])}): of {order['pairs']} pairs "
                f"{_percent(order['answer_agreement'])} % have the same answer, "
                f"{_percent(order['right_in_both'])} % are right in both"
            )
    _print_notes({agent: found["strict"]["notes"] for agent, found in scores.items()})


def _print_scores(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> None:
    """Print a table without the columns of which nothing is known."""
    kept = [place for place in range(len(headings)) if any(line[place] != UNKNOWN for line in lines)]
    rows = [[line[place] for place in kept] for line in lines]
    print_table(Table([headings[place] for place in kept], rows, align="nl").terminal())


def print_usage(evaluations: Sequence[FolderEvaluation]) -> None:
    """What each run used by its ledgers, and why that is not known."""
    for result in evaluations:
        cost, latency = result.whole["cost"], result.whole["latency"]
        if cost is not None and cost["usd_per_1000_tasks"] is not None:
            failed = sum(cost["failures"].values())
            show(
                f"{result.llm}: by the ledger {cost['usd_per_1000_tasks']:.3f} USD for 1,000 messages "
                f"in {count_of(cost['requests'], 'request')}, {count_of(failed, 'failure')} among them"
            )
        if latency is not None:
            times, local = latency["seconds_per_task"], latency.get("local", False)
            p50, p95 = (seconds(times[name], local=local) for name in ("p50", "p95"))
            show(f"{result.llm}: seconds of a message by the ledger: {p50} (median), {p95} (95 %)")
    _print_notes({result.llm: result.whole["notes"] for result in evaluations})


_number, _percent = partial(number, digits=3), partial(percent, sign="")


def _print_notes(notes: Mapping[str, Mapping[str, str]]) -> None:
    for agent, found in notes.items():
        for name, text in found.items():
            show(f"{agent}: {name}: {text}")


_FORCE = "Replace existing files."


_with_published = option_of(None, BENCHMARK.options.show[0])


def _names(name: str, text: str, metavar: str = "A,B", **settings: Any) -> Callable[[Function], Function]:
    """An option with a list of names."""
    given = {"default": "", "show_default": False, "metavar": metavar, **settings}
    return options.option(name, text, callback=lambda context, one, value: options.names(value), **given)


def _pairs(name: str, text: str, metavar: str) -> Callable[[Function], Function]:
    """An option with a name and a value, which may be repeated."""

    def read(context: click.Context, one: click.Parameter, values: tuple[str, ...]) -> dict[str, str]:
        pairs = [value.partition("=") for value in values]
        if wrong := [value for value, pair in zip(values, pairs, strict=True) if not all(pair)]:
            raise UsageError(f"--{name} {wrong[0]!r} has no '='", fix=f"write --{name} NAME=VALUE")
        return {key.strip(): value for key, _, value in pairs}

    return options.option(name, text, multiple=True, metavar=metavar, callback=read)


@click.group("build", cls=CommandGroup)
def build() -> None:
    """Build a data set from your own chats: sample, workbook, merge, publish."""


@build.command("sample")
@options.path(
    "raw", "Table of messages, or folder with messages and workflows (CSV or JSON Lines).", required=True
)
@options.path("workflows", "Table of workflows with the columns workflow, name, description, domain.")
@options.path("out", "Output folder for the unlabelled tables.", required=True)
@options.count("per_domain", "Maximum conversations per domain.", default=1000)
@options.option("seed", "Random seed of the draw.", type=int, default=0)
@options.count("min_length", "Minimum number of characters of a user message.", default=5)
@options.option(
    "mask",
    "How to find personal data. A model is a local spaCy folder; nothing is downloaded.",
    default="patterns",
    metavar="patterns|MODEL_PATH|off",
)
@_pairs("mask_pattern", "Additional pattern to mask, e.g. EMPLOYEE=E[0-9]{6}.", "KIND=REGEX")
@_names(
    "phone_regions",
    "Regions of telephone numbers without a country code [default: eight large ones].",
    "US,DE,…",
)
@options.path("profanity", "File with profane words, one per line. Without it there is no profanity filter.")
@_pairs(
    "filter",
    "What a filter does with a match: drop the conversation (default), truncate it there, or nothing.",
    "NAME=drop|cut|off",
)
@_pairs("column", "Name of a column in your tables, e.g. text=body.", "NAME=THEIRS")
@options.option("domain", "Domain of all chats, if there is no such column.", default="", show_default=False)
@_names("user_is", "Values of the sender column that mean the user.")
@_names("bot_is", "Values of the sender column that mean the bot.")
@_names("human_is", "Values of the sender column that mean your team.")
@options.flag("force", _FORCE)
def sample(
    raw: Path,
    workflows: Path | None,
    column: dict[str, str],
    domain: str,
    mask_pattern: dict[str, str],
    filter: dict[str, Any],
    **settings: Any,
) -> None:
    """Clean, filter and sample raw chats, and mask personal data."""
    from toolassay.benchmarks.classic.chats.build import sample_chats
    from toolassay.benchmarks.classic.chats.raw_chats import RawSource, find_source

    messages, beside = find_source(raw)
    senders = {kind: settings.pop(f"{kind}_is") for kind in ("user", "bot", "human")}
    given = {kind: names for kind, names in senders.items() if names}
    source = RawSource(messages, workflows or beside, column, domain, **given)
    sample_chats(source, actions=filter, mask_patterns=mask_pattern, screen=SCREEN, **settings)


@build.command("workbook")
@options.path("data_dir", "Folder of the sample.", required=True)
@_names(
    "annotators", "Names of the annotators; they become file names.", "A,B,C", required=True, default=None
)
@options.path("out", "Output folder for the workbooks.", required=True)
@options.option("shuffle", "Shuffle the messages differently for each annotator.", type=int, metavar="SEED")
@options.flag("force", "Replace existing workbooks, including the labels in them.")
def workbook(**settings: Any) -> None:
    """Write an Excel workbook for each annotator."""
    from toolassay.benchmarks.classic.chats.build import write_workbooks

    write_workbooks(screen=SCREEN, **settings)


@build.command("merge")
@options.path("data_dir", "Folder of the annotated sample.", required=True)
@options.path(
    "workbooks", "Workbooks (.xlsx or .csv) or a folder of them, one file per annotator.", multiple=True
)
@click.argument("more", nargs=-1, type=options.PATH, metavar="[WORKBOOK]...")
@options.path("out", "Output folder for the data set and the reports.", required=True)
@options.choice(
    "ties",
    ["conflict", "first", "drop"],
    "Messages without a majority. conflict: omit until decided (exit code 3); first: use the label of "
    "the first annotator; drop: omit.",
    default="conflict",
)
@options.flag("any_flag", "Flag a message if any annotator flags it, instead of a majority.")
@options.flag("force", _FORCE)
def merge(workbooks: tuple[Path, ...], more: tuple[Path, ...], **settings: Any) -> int:
    """Merge the workbooks by majority vote into a data set, and report the agreement."""
    from toolassay.benchmarks.classic.chats.build import merge_workbooks

    return 3 if merge_workbooks(workbooks=[*workbooks, *more], screen=SCREEN, **settings) else 0


@build.command("publish")
@options.path("data_dir", "Folder of the merged data set.", required=True)
@options.path("to", "Output folder for the tables and the dataset card.", required=True)
@options.flag("parquet", "Write Parquet instead of CSV.")
@options.path("prompts", "Table of security prompts, for a data set without one.")
@options.flag("force", _FORCE)
def publish(**settings: Any) -> None:
    """Convert a data set to the layout of the Hugging Face hub. Nothing is uploaded."""
    from toolassay.benchmarks.classic.chats.build import publish_set

    publish_set(screen=SCREEN, **settings)


@click.group("classic", cls=CommandGroup)
def command() -> None:
    """Evaluate agents that choose a workflow for each chat message."""


@command.command("evaluate")
@options.path("data_dir", "Data folder with the tables.", default=BENCHMARK.about.default_folder)
@options.path(
    "predictions",
    "Prediction rows of all trials, a JSON array or JSON Lines; may be repeated.",
    multiple=True,
    required=True,
)
@options.choice(
    "mode",
    ["compat", "strict"],
    "compat: the published metrics; strict: errors count as wrong and no row is removed.",
    default="compat",
)
@_with_published
@options.path("out", "Output folder for metrics.json.", required=True)
def evaluate(
    data_dir: Path, predictions: tuple[Path, ...], mode: str, with_published: bool | None, out: Path
) -> None:
    """Score prediction rows, e.g. those of another program."""
    from toolassay.benchmarks.classic.evaluation import METRICS, evaluate_rows
    from toolassay.runs.outcomes import mark_of, marked

    scores = evaluate_rows(data_dir, predictions, out=out, mode=mode, screen=SCREEN)
    name = predictions[0].stem
    named = {marked(name, mark_of(name, {})): {"compat": scores.compat, "strict": scores.strict}}
    if mode == "compat":
        print_compat(named, with_published=with_published)
    else:
        print_strict(named)
    show(str(out / METRICS))


@command.command("run", context_settings={"ignore_unknown_options": True})
@options.option("data", "Data configuration: a path, or a name in configs/data/.", default="v1")
@options.option("agent", "Agent configuration: a path, or a name in configs/agent/.", default="cot")
@options.option("eval", "Evaluation configuration: a path, or a name in configs/eval/.", default="default")
@options.option(
    "set",
    "Set one value, e.g. agent.temperature=0.2; may be repeated.",
    multiple=True,
    metavar="KEY=VALUE",
)
@options.multiworker("--n_workers")
@options.path("prediction_dir", "Output folder, below the data folder.", default="predictions")
@options.path("path_to_output_dir", "Output folder, from the current one.")
@options.option("run_uuid", "Folder of the run in the output folder.", default="", show_default=False)
@options.flag("is_debug", "Only the first 10 messages.")
@options.budget()
@options.dry_run
@_with_published
@options.flag(
    "force",
    "Start a new run if the settings differ from the existing run, which is kept.",
    "--is_force_refresh",
)
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[--KEY=VALUE]...")
def run(
    more: tuple[str, ...],
    with_published: bool | None,
    prediction_dir: Path,
    path_to_output_dir: Path | None,
    run_uuid: str,
    is_debug: bool,
    **settings: Any,
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
    names = {kind: settings.pop(kind) for kind in KINDS}
    values = [*settings.pop("set"), *more, *(["eval.limit=10"] if is_debug else [])]
    configuration = read_configuration(names, values)
    place = prediction_dir if path_to_output_dir is None else path_to_output_dir.absolute()
    load_environment()
    settings = options.with_budget(settings)
    ended = run_classic(
        configuration,
        command=options.typed(),
        screen=SCREEN,
        prediction_dir=str(place / run_uuid),
        **settings,
    )
    if ended.evaluation is not None:
        print_chat_scores([ended.evaluation], with_published=with_published)
        show(str(ended.evaluation.path))
    return 0 if ended.inference.summary.complete else 3


command.add_command(build)


@click.command("classic")
@options.path("data_dir", "The data folder; created if missing.", required=True)
@options.option("repo", "Data set on the Hugging Face hub, e.g. acme/chats.", "--hub")
@options.option("revision", "Branch, tag or commit of the data set [default: the newest].")
@options.path("folder", "Local folder with the files of the data set, instead of the hub.", "--from")
def import_command(data_dir: Path, **settings: Any) -> None:
    """Import the four tables of CLASSic, CSV or Parquet.

    The hub and Parquet need an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.classic.importing import import_classic

    import_classic(data_dir, screen=SCREEN, **settings)
