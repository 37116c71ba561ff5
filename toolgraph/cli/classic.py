"""`toolgraph classic …`: the benchmark of chats."""

from __future__ import annotations

import click

from toolgraph.cli.classic_build import build


@click.group("classic")
def command() -> None:
    """Agents that read a chat and name the workflow to start."""


command.add_command(build)
