"""`toolassay compare`: paired significance tests between the models of a folder."""

from __future__ import annotations

from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.screen import console


@click.command("compare")
@click.argument("models", nargs=-1, required=True, metavar="A B [C …]")
@options.data_dir()
@options.prediction_dir()
@options.option(
    "metric", "-m", multiple=True, help="Strict metric, e.g. node_f1; may be repeated [default: all]."
)
@options.option("split", "-s", default="overall", help="Shape of the gold plan: overall, single, chain, dag.")
@options.option(
    "n_tools", "-n", default="overall", help="Number of tools of the gold plan: overall, 1 to 10."
)
@options.option("resamples", type=click.IntRange(1), default=10_000, help="Resamples of intervals and tests.")
@options.option("seed", type=int, default=0, help="Random seed of the resamples.")
@options.option("save", type=options.PATH, default=None, help="Also write the result to this JSON file.")
def command(models: tuple[str, ...], metric: tuple[str, ...], **settings: Any) -> None:
    """Test whether one model scores better than another, or whether the difference may be chance.

    Compares the items that all models share. A model is a name in the folder's metrics or the path of a
    metrics file; the first is the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.evaluation.comparison import WIDE, comparison_tables
    from toolassay.stages.compare import compare

    comparison = compare(*models, metrics=metric, screen=SCREEN, **settings)
    terminal = console()
    width = terminal.width if terminal.is_terminal else max(terminal.width, WIDE)
    for table in comparison_tables(comparison, width=width):
        print_table(table, terminal)
