"""What the command line has for TaskBench: its tables of scores, and `toolassay import taskbench`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.score_tables import baselines_last, print_marks, print_table, shown
from toolassay.cli.screen import SCREEN, show
from toolassay.evaluation.evaluation import FolderEvaluation
from toolassay.evaluation.groups import OVERALL_GROUP
from toolassay.screen import console
from toolassay.tables import percent


def show_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The scores, and whether further trials gave the same plans."""
    print_scores(evaluations)
    print_stability(evaluations)


def print_scores(evaluations: Sequence[FolderEvaluation]) -> None:
    """The models side by side, then each model's groups where there are several; one model, one table."""
    from toolassay.benchmarks.taskbench.scoring.score_table import group_table, model_table

    terminal = console()
    width = terminal.width
    scores = {shown(result): result.evaluation for result in baselines_last(evaluations)}
    by_group = [
        name for name, one in scores.items() if len(one.groups) > 1 or OVERALL_GROUP not in one.groups
    ]
    side_by_side = len(scores) > 1 or not by_group
    if scores and side_by_side and all(OVERALL_GROUP in one.groups for one in scores.values()):
        table = model_table(scores, width=width, with_caption=not by_group)
        print_table(table, terminal)
    for name in by_group:
        is_last = name == by_group[-1]
        print_table(group_table(name, scores[name], width=width, with_caption=is_last), terminal)
    print_marks(evaluations)


def print_stability(evaluations: Sequence[FolderEvaluation]) -> None:
    """Whether further trials gave the same plans, of each model that has some."""
    for result in evaluations:
        found = result.evaluation.groups.get(OVERALL_GROUP, {}).get("stability")
        if not found or not found["repeated"]:
            continue
        most = str(found["trials"])
        sure = found["pass^k"][most]["value"] if most in found["pass^k"] else None
        show(
            f"{result.llm}: the same plan in all {most} trials: "
            f"{percent(found['answer_agreement']['value'])} of {found['repeated']} requests"
            + ("" if sure is None else f"; pass^{most} (exact match): {percent(sure)}")
        )


@click.command("taskbench")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; created if missing.")
@options.option(
    "domain",
    type=click.Choice(["huggingface", "multimedia", "dailylifeapis"]),
    required=True,
    help="Which of the three domains to import.",
)
@options.option("hub", default="microsoft/Taskbench", help="Data set on the Hugging Face hub.")
@options.option("revision", default=None, help="Branch, tag or commit of the data set [default: the newest].")
@click.option(
    "--from",
    "--folder",
    "folder",
    type=options.PATH,
    default=None,
    help="Local folder with the files of the data set, instead of the hub.",
)
@options.option("file", default=None, help="File with the labels, e.g. improved.parquet.")
@options.option(
    "tools",
    type=options.PATH,
    default=None,
    help="A tool_desc.json [default: the one beside the data, else the one of this checkout].",
)
def import_command(data_dir: Path, **settings: Any) -> None:
    """Import TaskBench from its repository or the hub: JSON, JSON Lines, Parquet, or a saved data set.

    The hub needs an extra; in the checkout: pip install '.[hub]'.
    """
    from toolassay.benchmarks.taskbench.importing import import_taskbench

    import_taskbench(data_dir, screen=SCREEN, **settings)
