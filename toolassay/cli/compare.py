"""`toolassay compare`: the items of several models -> which is better, and how sure that is."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("compare")
@click.argument("models", nargs=-1, required=True, metavar="A B [C …]")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option(
    "prediction_dir", type=options.PATH, default="predictions", help="Whose metrics; as in evaluate."
)
@options.option("metric", "-m", multiple=True, help="A strict score, e.g. node_f1; may be repeated [all].")
@options.option("split", "-s", default="overall", help="overall, single, chain, dag.")
@options.option("n_tools", "-n", default="overall", help="overall, 1 to 10.")
@options.option("resamples", type=click.IntRange(1), default=10_000, help="Of bootstrap and randomisation.")
@options.option("seed", type=int, default=0, help="Of both.")
@options.option("save", type=options.PATH, default=None, help="Write the result to this JSON file.")
def command(
    models: tuple[str, ...],
    data_dir: Path,
    prediction_dir: Path,
    metric: tuple[str, ...],
    split: str,
    n_tools: str,
    resamples: int,
    seed: int,
    save: Path | None,
) -> None:
    """Compare models on the items they share: is B better than A, or is that chance?

    A model is a name in the folder's metrics, or the path of its metrics file. The first is the baseline.
    """
    from rich.console import Console

    from toolassay.cli.score_tables import print_table
    from toolassay.evaluation.comparison_table import WIDE, comparison_tables
    from toolassay.stages.compare import compare

    comparison = compare(
        *models,
        data_dir=data_dir,
        prediction_dir=prediction_dir,
        metrics=metric,
        split=split,
        n_tools=n_tools,
        resamples=resamples,
        seed=seed,
        save=save,
        screen=SCREEN,
    )
    console = Console()
    width = console.width if console.is_terminal else max(console.width, WIDE)
    for table in comparison_tables(comparison, width=width):
        print_table(table, console)
