"""Scores on the screen."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

from toolassay.benchmarks.taskbench.scoring.folder_evaluation import FolderEvaluation
from toolassay.cli.screen import show
from toolassay.evaluation.signature import read_signature
from toolassay.models.registry import BASELINES
from toolassay.report.leaderboard.tables import seconds
from toolassay.runs.marks import LOCAL, RowMark, mark_of, marked
from toolassay.runs.outcomes import asked_phrase

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from toolassay.benchmarks.workbench.evaluation import AgentEvaluation


Evaluated = TypeVar("Evaluated", bound=FolderEvaluation)
_WHOLE = "overall_overall"
_UNLIMITED = 1000  # characters
_AGENT_HEADINGS = ("model", "tasks", "n", "strict", "compat", "side effects", "$ / 1,000", "s p50", "s p95")


def print_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The models side by side, then each model's groups where there are several; one model, one table."""
    from rich.console import Console

    from toolassay.benchmarks.taskbench.scoring.score_table import group_table, model_table

    console = Console()
    width = console.width
    scores = {shown(result): result.evaluation for result in baselines_last(evaluations)}
    by_group = [name for name, one in scores.items() if len(one.groups) > 1 or _WHOLE not in one.groups]
    side_by_side = len(scores) > 1 or not by_group
    if scores and side_by_side and all(_WHOLE in one.groups for one in scores.values()):
        table = model_table(scores, width=width, with_caption=not by_group)
        print_table(table, console)
    for name in by_group:
        is_last = name == by_group[-1]
        print_table(group_table(name, scores[name], width=width, with_caption=is_last), console)
    print_marks(evaluations)


def shown(result: FolderEvaluation) -> str:
    """A model's name with its mark."""
    return marked(result.llm, _mark(result))


def baselines_last(evaluations: Sequence[Evaluated]) -> list[Evaluated]:
    """Baselines are not ranked: they stand below the others."""
    return sorted(evaluations, key=lambda result: result.llm in BASELINES)


def print_marks(evaluations: Sequence[FolderEvaluation]) -> None:
    """What the marks mean, a line each, and what local times are."""
    for line in dict.fromkeys(mark.line for result in evaluations if (mark := _mark(result)) is not None):
        show(line)
    usages = (getattr(result, "latency", None) for result in evaluations)
    if any(latency and latency.get("local") for latency in usages):
        show(LOCAL)


def _mark(result: FolderEvaluation) -> RowMark | None:
    return mark_of(result.llm, read_signature(result.evaluation.signature))


def print_signatures(evaluations: Sequence[FolderEvaluation]) -> None:
    """What the scores of each model were made with, to be quoted with them."""
    for result in evaluations:
        show(f"signature of {result.llm}: {result.evaluation.signature}")


def print_stability(evaluations: Sequence[FolderEvaluation]) -> None:
    """Whether further trials gave the same plans, of each model that has some."""
    for result in evaluations:
        found = result.evaluation.groups.get(_WHOLE, {}).get("stability")
        if not found or not found["repeated"]:
            continue
        most = str(found["trials"])
        sure = found["pass^k"][most]["value"] if most in found["pass^k"] else None
        show(
            f"{result.llm}: the same plan in all {most} trials: "
            f"{100 * found['answer_agreement']['value']:.1f} % of {found['repeated']} requests"
            + ("" if sure is None else f"; pass^{most} (exact match): {100 * sure:.1f} %")
        )


def print_agent_scores(evaluations: Sequence[AgentEvaluation]) -> None:
    """Both verdicts of each model of WorkBench by group and overall, strict side effects; in all, the dollars
    for 1,000 tasks and the seconds of one.
    """
    from rich.markup import escape
    from rich.table import Table

    rows: list[tuple[str, ...]] = []
    for result in baselines_last(evaluations):
        strict, compat = result.scores.strict, result.scores.compat
        for name, counts in {**strict["by_group"], "all": strict}.items():
            n, published = counts["n"], None
            if compat is not None:
                published = (compat if name == "all" else compat["by_group"][name])["correct"]
            shares = (counts["correct"], published, counts["side_effects"])
            told = ("–" if share is None or not n else f"{100 * share / n:.1f} %" for share in shares)
            usage = _usage(result) if name == "all" else ("", "", "")
            asked = asked_phrase(result.scores.asked) if name == "all" else str(n)
            rows.append((shown(result), name, asked, *told, *usage))
    headings = list(_AGENT_HEADINGS)
    if all(result.scores.compat is None for result in evaluations):  # nobody's own workplace has any
        place = headings.index("compat")
        headings.pop(place)
        rows = [(*row[:place], *row[place + 1 :]) for row in rows]
    table = Table(box=None, pad_edge=False)
    for place, heading in enumerate(headings):
        widest = max(len(text) for text in (heading, *(row[place] for row in rows)))
        table.add_column(heading, justify="left" if place < 2 else "right", min_width=widest)
    for row in rows:
        table.add_row(*map(escape, row))
    print_table(table)
    print_marks(evaluations)
    for result in evaluations:
        for line in _repeats(result):
            show(line)
        for name, note in result.notes.items():
            show(f"{result.llm}: {name}: {note}")


def _usage(result: AgentEvaluation) -> tuple[str, ...]:
    """Dollars for 1,000 tasks, and the seconds of one."""
    usd = result.cost and result.cost["usd_per_1000_tasks"]
    times = result.latency["seconds_per_task"] if result.latency else {}
    local = bool(result.latency and result.latency.get("local"))
    return (
        "–" if usd is None else f"{usd:.2f}",
        *(seconds(times.get(name), local=local) for name in ("p50", "p95")),
    )


def _repeats(result: AgentEvaluation) -> Iterator[str]:
    """How sure a success is, where there are several trials."""
    repeats = result.scores.strict.get("repeats")
    if repeats is None:
        return
    for name in ("pass@k", "pass^k"):
        shares = ", ".join(
            f"k={k} {100 * found['value']:.1f} % [{100 * found['low']:.1f}, {100 * found['high']:.1f}]"
            for k, found in repeats[name].items()
        )
        yield f"{result.llm}: {name} over {repeats['trials']} trials (strict): {shares}"
    tasks = repeats["tasks"]
    if len({*tasks.values()}) > 1:
        yield f"{result.llm}: tasks with k runs: {', '.join(f'k={k} {n}' for k, n in tasks.items())}"


def print_table(table: Table, console: Console | None = None) -> None:
    """Print a table, wider than the screen rather than with numbers cut off; into a file without padding."""
    from rich.measure import Measurement

    if console is None:
        from rich.console import Console

        console = Console()
    unlimited = console.options.update(max_width=_UNLIMITED)
    console.width = max(console.width, Measurement.get(console, unlimited, table).minimum)
    if console.is_terminal:
        console.print(table)
        return
    with console.capture() as captured:
        console.print(table)
    show("\n".join(line.rstrip() for line in captured.get().rstrip("\n").splitlines()))
