"""`toolassay variety`: measures the variety of a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.variety.measures import SAMPLE


@click.command("variety")
@options.data_dir()
@options.option(
    "out",
    type=options.PATH,
    default="variety",
    help="Output folder for variety.json, variety.md and the pictures.",
)
@options.threshold()
@options.option(
    "sample",
    type=click.IntRange(2),
    default=SAMPLE,
    help="Number of requests on which distinct-n and self-similarity are measured. Data sets are comparable "
    "only at the same number.",
)
@options.option("seed", type=click.IntRange(0), default=0, help="Random seed of the sampled requests.")
@options.engine()
def command(data_dir: Path, out: Path, **settings: Any) -> None:
    """Measure the variety of a data set: repeats, wording, tools, links, sizes and shapes."""
    from toolassay.stages.variety import measure_variety

    measure_variety(data_dir, out=out, screen=SCREEN, **settings)
