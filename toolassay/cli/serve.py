"""`toolassay serve`: the offline models behind an OpenAI-compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.serving.faults import KINDS

_LIST = "\n".join(f"  {name:<15}{text}" for name, text in KINDS.items())


@click.command("serve", epilog=f"\b\nFaults:\n{_LIST}")
@options.option(
    "port", type=click.IntRange(0, 65535), default=4000, help="Port on 127.0.0.1; 0: any free port."
)
@options.option(
    "data_dir",
    type=options.PATH,
    multiple=True,
    help="Data folder that requests will be about; may be repeated. Plans are then those of --llm offline.",
)
@options.option(
    "fault",
    multiple=True,
    metavar="NAME=WHEN",
    help="Fault to inject; may be repeated. WHEN is a share of the requests (0.05), first:K, once (the first "
    "time of each prompt) or always.",
)
@options.option("seed", type=int, default=0, help="Random seed of the faults.")
@options.option("delay", type=click.FloatRange(0), default=0.0, help="Seconds before each answer.")
@options.option(
    "capacity",
    type=click.IntRange(1),
    default=None,
    help="Maximum concurrent requests; further ones get a 429.",
)
@options.option(
    "retry_after",
    type=click.FloatRange(0),
    default=1.0,
    help="Seconds in the Retry-After header of the faults 429 and 500.",
)
def command(data_dir: tuple[Path, ...], fault: tuple[str, ...], **settings: Any) -> None:
    """Run a local OpenAI-compatible server that answers with the offline models, with faults on request.

    Every model name gets answers from the offline models. Ctrl-C stops the server.
    """
    from toolassay.stages.serve import serve

    try:
        serve(data_dirs=data_dir, faults=fault, screen=SCREEN, **settings)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("interrupted") from stop
