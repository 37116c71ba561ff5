"""`toolassay compare`: paired significance tests between the models of a folder."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.screen import console


@click.command("compare")
@click.argument("models", nargs=-1, required=True, metavar="A B [C …]")
@options.data_dir()
@options.option(
    "prediction_dir",
    type=options.PATH,
    default="predictions",
    help="Prediction folder whose metrics are compared, as in evaluate.",
)
@options.option(
    "metric", "-m", multiple=True, help="Strict metric, e.g. node_f1; may be repeated [default: all]."
)
@options.option("split", "-s", default="overall", help="Shape of the gold plan: overall, single, chain, dag.")
@options.option(
    "n_tools", "-n", default="overall", help="Number of tools of the gold plan: overall, 1 to 10."
)
@options.option(
    "resamples",
    type=click.IntRange(1),
    default=10_000,
    help="Resamples of the bootstrap and of the randomisation test.",
)
@options.option("seed", type=int, default=0, help="Random seed of the resamples.")
@options.option("save", type=options.PATH, default=None, help="Also write the result to this JSON file.")
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
    """Test whether one model scores better than another, or whether the difference may be chance.

    Compares the items that all models share. A model is a name in the folder's metrics or the path of a
    metrics file; the first is the baseline.
    """
    from toolassay.cli.score_tables import print_table
    from toolassay.evaluation.comparison import WIDE, comparison_tables
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
    terminal = console()
    width = terminal.width if terminal.is_terminal else max(terminal.width, WIDE)
    for table in comparison_tables(comparison, width=width):
        print_table(table, terminal)
