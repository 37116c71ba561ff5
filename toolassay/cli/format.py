"""`toolassay format`: data_raw.json -> data.json and the files beside it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("format")
@options.data_dir()
@options.dependency_type()
@options.flag(
    "force",
    "Replace a data set that this command did not write, or change the dependency type; dated copies are "
    "kept.",
)
def command(data_dir: Path, **settings: Any) -> None:
    """Turn generated samples into a data set and show how many the critics pass."""
    from toolassay.stages.format import format_data

    format_data(data_dir, screen=SCREEN, **settings)
