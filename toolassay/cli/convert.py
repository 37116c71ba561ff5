"""`toolassay convert`: JSON Lines to Parquet and back."""

from __future__ import annotations

from pathlib import Path

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("convert")
@click.argument("source", type=options.PATH)
@click.argument("target", type=options.PATH)
def command(source: Path, target: Path) -> None:
    """Convert a JSON Lines file (data, requests, predictions, items) to Parquet, or back to the same bytes.

    The name that ends with .parquet says which way. The stages read and write JSON Lines; Parquet is for
    storing and querying. Needs pyarrow: pip install '.[scale]'.
    """
    from toolassay.stages.convert import convert

    convert(source, target, screen=SCREEN)
