"""`toolassay verify`: recomputes predictions and scores from the raw answers and compares them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import verify_options
from toolassay.cli.screen import SCREEN


@click.command("verify")
@options.data_dir()
@options.option("llm", required=True, help="Model whose run is verified.")
@options.prediction_dir()
@options.option(
    "metrics_dir",
    type=options.PATH,
    default=None,
    help="Metrics folder [default: as --prediction_dir, with metrics for predictions].",
)
@verify_options()
def command(data_dir: Path, **settings: Any) -> int:
    """Recompute predictions and scores from a run's raw answers and report every difference.

    Writes nothing to the folder. Exit code 0: everything is equal; 1: something differs.
    """
    from toolassay.stages.verify import verify

    found = verify(data_dir, screen=SCREEN, **settings)
    return 0 if found.is_equal else 1
