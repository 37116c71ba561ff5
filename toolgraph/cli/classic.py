"""`toolgraph classic …`: agents that pick a workflow for a chat."""

from __future__ import annotations

from pathlib import Path

import click

from toolgraph.cli import options
from toolgraph.cli.screen import SCREEN, show


@click.group("classic")
def command() -> None:
    """Agents that pick a workflow for a chat: cost, latency, accuracy, stability, security."""


@command.command("evaluate")
@options.option("data_dir", type=options.PATH, default="data_classic", help="The tables.")
@options.option(
    "predictions",
    type=options.PATH,
    multiple=True,
    required=True,
    help="Prediction rows with all trials: a JSON array or JSON lines; may be repeated.",
)
@options.option(
    "mode",
    type=click.Choice(["compat", "strict"]),
    default="compat",
    help="compat: the published metrics; strict: errors count, nothing is removed.",
)
@options.option("out", type=options.PATH, required=True, help="Folder for metrics.json.")
def evaluate(data_dir: Path, predictions: tuple[Path, ...], mode: str, out: Path) -> None:
    """Score prediction rows, whoever made them."""
    from toolgraph.cli.classic_scores import print_compat, print_strict
    from toolgraph.stages.evaluate_classic import METRICS, evaluate_rows

    scores = evaluate_rows(data_dir, predictions, out=out, mode=mode, screen=SCREEN)
    (print_compat if mode == "compat" else print_strict)({predictions[0].stem: scores})
    show(str(out / METRICS))
