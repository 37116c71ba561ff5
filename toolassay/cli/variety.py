"""`toolassay variety`: how varied a data set is."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.variety.measures import SAMPLE
from toolassay.variety.near_duplicates import DEFAULT_THRESHOLD


@click.command("variety")
@options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder.")
@options.option(
    "out",
    type=options.PATH,
    default="variety",
    help="The folder to write variety.json, variety.md and the pictures into.",
)
@options.option(
    "threshold",
    type=float,
    default=DEFAULT_THRESHOLD,
    help="How alike near duplicates are (Jaccard of their shingles).",
)
@options.option(
    "sample",
    type=click.IntRange(2),
    default=SAMPLE,
    help="Requests that distinct-n and likeness are measured on; compare only sets of one number.",
)
@options.option("seed", type=click.IntRange(0), default=0, help="What they are drawn with.")
def command(data_dir: Path, out: Path, threshold: float, sample: int, seed: int) -> None:
    """Say how varied a data set is: repeats, wording, first words, tools, links, sizes and shapes."""
    from toolassay.stages.variety import measure_variety

    measure_variety(data_dir, out=out, threshold=threshold, sample=sample, seed=seed, screen=SCREEN)
