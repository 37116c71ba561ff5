"""Scores on the screen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from toolgraph.benchmarks.taskbench.scoring.folder import FolderEvaluation
from toolgraph.cli.screen import show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from toolgraph.stages.evaluate_workbench import AgentEvaluation

_WHOLE = "overall_overall"
_UNLIMITED = 1000  # characters


def print_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The models side by side, then each model's groups where there are several; one model, one table."""
    from rich.console import Console

    from toolgraph.benchmarks.taskbench.scoring.table import group_table, model_table

    console = Console()
    width = console.width
    scores = {result.llm: result.evaluation for result in evaluations}
    by_group = [name for name, one in scores.items() if len(one.groups) > 1 or _WHOLE not in one.groups]
    side_by_side = len(scores) > 1 or not by_group
    if scores and side_by_side and all(_WHOLE in one.groups for one in scores.values()):
        table = model_table(scores, width=width, with_caption=not by_group)
        print_table(table, console)
    for name in by_group:
        is_last = name == by_group[-1]
        print_table(group_table(name, scores[name], width=width, with_caption=is_last), console)


def print_signatures(evaluations: Sequence[FolderEvaluation]) -> None:
    """What the scores of each model were made with, to be quoted with them."""
    for result in evaluations:
        show(f"signature of {result.llm}: {result.evaluation.signature}")


def print_agent_scores(evaluations: Sequence[AgentEvaluation]) -> None:
    """Both verdicts of each model of WorkBench, by group and overall."""
    from rich.table import Table

    table = Table("model", "tasks", "n", "strict", "compat", "side effects (strict)", box=None)
    for result in evaluations:
        strict, compat = result.scores.strict, result.scores.compat
        rows = {**strict["by_group"], "all": strict}
        for name, counts in rows.items():
            published = compat if name == "all" else compat["by_group"][name]
            n = counts["n"]
            shares = (counts["correct"], published["correct"], counts["side_effects"])
            table.add_row(result.llm, name, str(n), *(f"{100 * share / n:.1f} %" for share in shares))
    print_table(table)


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
