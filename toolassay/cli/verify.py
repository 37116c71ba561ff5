"""`toolassay verify`: predictions and scores anew from the raw answers, compared with the files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import verify_options
from toolassay.cli.screen import SCREEN


@click.command("verify")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option("llm", required=True, help="The model whose run is verified.")
@options.option("prediction_dir", type=options.PATH, default="predictions", help="Below it, or as given.")
@options.option(
    "metrics_dir", type=options.PATH, default=None, help="Where its scores are [default: metrics…]."
)
@verify_options()
def command(
    data_dir: Path,
    llm: str,
    prediction_dir: Path,
    metrics_dir: Path | None,
    **settings: Any,
) -> int:
    """Compute predictions and scores anew from a run's raw answers and say what differs.

    Nothing is written to the folder. Ends with 0 where all is equal, with 1 where something differs.
    """
    from toolassay.stages.verify import verify

    found = verify(
        data_dir,
        llm=llm,
        prediction_dir=prediction_dir,
        metrics_dir=metrics_dir,
        **settings,
        screen=SCREEN,
    )
    return 0 if found.is_equal else 1
