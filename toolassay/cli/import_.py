"""`toolassay import …`: turns published data sets into data folders."""

from __future__ import annotations

import click

from toolassay.benchmarks.registry import benchmarks
from toolassay.cli.options import CommandGroup


@click.group("import", cls=CommandGroup)
def command() -> None:
    """Create a data folder from a published data set."""


for _benchmark in benchmarks():
    for _name, _entry in _benchmark.importers.items():
        command.add_command(_entry.load(), _name)
