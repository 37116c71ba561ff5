"""`toolassay workbench …`: create workplaces, score result files, replay calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

import click
from msgspec import convert

from toolassay.benchmarks.workbench.benchmark import BENCHMARK
from toolassay.cli.command import command
from toolassay.cli.options import CommandGroup
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import SCREEN, show
from toolassay.console.tables import Table, money, percent, percent_interval, seconds
from toolassay.console.text_formatting import count_of
from toolassay.declarations import Option
from toolassay.runs.outcomes import AskedCounts

if TYPE_CHECKING:
    from toolassay.benchmarks.workbench.workplace_stages import Effect
    from toolassay.evaluation.evaluation import FolderEvaluation


_FOLDER = Path(BENCHMARK.about.default_folder)
_DataDir = Annotated[
    Path, Option("Data folder with the sandbox and the tasks.", command_default=_FOLDER, common=True)
]
_AllowTools = Annotated[
    bool, Option("Run the tools.py of the data folder, which is Python code.", common=True)
]


@click.group("workbench", cls=CommandGroup)
def group() -> None:
    """Evaluate agents that change the databases of a workplace."""


@command("generate", group=group)
def generate(
    data_dir: Annotated[Path, Option("Output folder.", command_default=_FOLDER)],
    seed: Annotated[int, Option("Random seed; a seed gives identical files, -1 draws one.")] = 0,
) -> None:
    """Generate a workplace and 690 tasks with ground truth, each verified by running its calls."""
    from toolassay.benchmarks.workbench.workplace_stages import generate_workbench

    generate_workbench(data_dir, seed=seed, screen=SCREEN)


@command("new", group=group)
def new(
    name: Annotated[Path, Option(positional=True, metavar="NAME")],
    sandbox: Annotated[Path | None, Option("Your SQLite file, which is copied.")] = None,
    tools: Annotated[Path | None, Option("Your Python file of tools; needs --sandbox.")] = None,
    tasks: Annotated[Path | None, Option("Your tasks in JSON Lines; needs --tools.")] = None,
) -> None:
    """Create your own workplace in the folder NAME; without files, a small example."""
    from toolassay.benchmarks.workbench.workplace_stages import new_workplace

    _show_effects(new_workplace(name, sandbox=sandbox, tools=tools, tasks=tasks, screen=SCREEN))
    own = " and ".join(
        file for file, given in (("tools.py", tools), ("tasks.jsonl", tasks)) if sandbox and not given
    )
    show(f"{name}: next, {f'write into {own}, and' if own else 'try'}")
    show(f"  toolassay workbench check {quote(str(name))} --allow_tools")
    show(f"  toolassay infer --data_dir {quote(str(name))} --llm MODEL --api_base URL --allow_tools")
    show(f"  toolassay evaluate --data_dir {quote(str(name))} --llm MODEL --allow_tools")


@command("check", group=group)
def check(
    folder: Annotated[Path, Option(positional=True, metavar="FOLDER")], allow_tools: _AllowTools = False
) -> None:
    """Run the ground truth of every task of your own workplace and show what it changes."""
    from toolassay.benchmarks.workbench.workplace_stages import check_workplace

    _show_effects(check_workplace(folder, allow_tools=allow_tools, screen=SCREEN))


def _show_effects(effects: Sequence[Effect]) -> None:
    """Print the effect of each task, then the number of warnings."""
    for effect in effects:
        show(effect.summary)
    warnings = sum(effect.is_idle for effect in effects)
    show(f"{count_of(len(effects), 'task')}, {count_of(warnings, 'warning') if warnings else 'all fine'}")


@command("evaluate", group=group)
def evaluate(
    data_dir: _DataDir,
    results: Annotated[Path, Option("Result file, or a folder of result files.")],
    out: Annotated[Path, Option("Output folder for verdicts.jsonl and metrics.json.")],
    mode: Annotated[
        Literal["compat", "strict"],
        Option("compat: the published verdicts; strict: compare the changes to the databases."),
    ] = "compat",
    allow_tools: _AllowTools = False,
) -> None:
    """Score result files in the published format."""
    from toolassay.benchmarks.workbench.workplace_stages import evaluate_results

    metrics = evaluate_results(data_dir, results, out=out, mode=mode, allow_tools=allow_tools, screen=SCREEN)
    for name, counts in metrics.items():
        show(
            f"{name}: {counts['correct']} of {counts['n']} correct ({counts['accuracy_pct']} %), "
            f"{counts['side_effects']} with unwanted side effects ({counts['side_effects_pct']} %)"
        )
    if len(metrics) > 1:
        print_table(_agents_table(metrics.values()).terminal())
    show(str(out))


_SHARES = {
    "correct": "correct",
    "errors_without_side_effects": "harmless failures",
    "side_effects": "side effects",
}


def _agents_table(metrics_of_files: Iterable[Mapping[str, Any]]) -> Table:
    """The published table: the sums of each agent's files, with the tools of the domains or with all."""
    sums: dict[tuple[str, str], Counter[str]] = {}
    for metrics in metrics_of_files:
        agent = sums.setdefault((metrics["model"], metrics["tool_selection"]), Counter())
        agent.update({count: metrics[count] for count in ("n", *_SHARES)})
    rows = [
        (*agent, str(counts["n"]), *(percent(counts[count] / counts["n"]) for count in _SHARES))
        for agent, counts in sorted(sums.items(), key=lambda item: -item[1]["correct"] / item[1]["n"])
    ]
    return Table(["model", "tools", "tasks", *_SHARES.values()], rows, align="nnr")


@command("replay", group=group)
def replay(
    data_dir: _DataDir,
    calls: Annotated[Path, Option("JSON Lines file with sequences of calls.")],
    out: Annotated[Path, Option("Output file: the same lines with the result of each call.")],
    allow_tools: _AllowTools = False,
) -> None:
    """Execute recorded calls, each sequence on a fresh sandbox."""
    from toolassay.benchmarks.workbench.workplace_stages import replay as replay_stage

    replay_stage(data_dir, calls, out=out, allow_tools=allow_tools, screen=SCREEN)


_HEADINGS = ("model", "tasks", "n", "strict", "compat", "side effects", "$ / 1,000", "s p50", "s p95")


def print_agent_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """Print a table with both verdicts and the strict side effects of each model, by group and overall.

    The overall row also has US dollars per 1,000 tasks and seconds per task.
    """
    has_compat = any(result.whole["compat"] is not None for result in evaluations)  # not of own workplaces
    rows: list[tuple[str, ...]] = []
    for result in baselines_last(evaluations):
        strict = result.whole["strict"]
        compat = result.whole["compat"]
        whole = {"n": strict["n_scored"], **strict["intervals"]}
        for name, numbers in {**strict["intervals_by_group"], "all": whole}.items():
            published = compat if compat is None or name == "all" else compat["by_group"].get(name)
            shares = [numbers["accuracy"]["value"]]
            if has_compat:
                is_known = published is not None and published["n"]
                shares.append(published["correct"] / published["n"] if is_known else None)
            shares.append(numbers["side_effects"]["value"])
            texts = map(percent, shares)
            n = numbers["n"]
            usage: tuple[str, ...] = ("", "", "")
            if name == "all":
                cost = result.whole["cost"]
                used = result.whole["latency"] or {}
                usd = cost["usd_per_1000_tasks"] if cost else None
                local = bool(used.get("local"))
                times = used.get("seconds_per_task", {})
                usage = money(usd), *(seconds(times.get(at), local=local) for at in ("p50", "p95"))
            asked = convert(strict, AskedCounts).phrase if name == "all" else str(n)
            rows.append((shown(result), name, asked, *texts, *usage))
    headings = [name for name in _HEADINGS if has_compat or name != "compat"]
    print_table(Table(headings, rows, align="nl").terminal())
    print_marks(evaluations, with_times=True)
    for result in evaluations:
        for line in _repeats(result):
            show(line)
        for name, note in result.whole["notes"].items():
            show(f"{result.llm}: {name}: {note}")


def _repeats(result: FolderEvaluation) -> Iterator[str]:
    """Lines with pass@k and pass^k of several trials."""
    repeats = result.whole["strict"].get("repeats")
    if repeats is None:
        return
    for name in ("pass@k", "pass^k"):
        shares = ", ".join(
            f"k={k} {percent(share['value'])} {percent_interval(share['low'], share['high'])}"
            for k, share in repeats[name].items()
        )
        yield f"{result.llm}: {name} over {repeats['trials']} trials (strict): {shares}"
    tasks = repeats["tasks"]
    if len({*tasks.values()}) > 1:
        yield f"{result.llm}: tasks with k runs: {', '.join(f'k={k} {n}' for k, n in tasks.items())}"
