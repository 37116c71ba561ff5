"""`toolassay serve`: the offline models as a chat-completions server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.serving.faults import KINDS

_LIST = "\n".join(f"  {name:<15}{text}" for name, text in KINDS.items())


@click.command("serve", epilog=f"\b\nFaults:\n{_LIST}")
@options.option("port", type=click.IntRange(0, 65535), default=4000, help="On 127.0.0.1; 0 takes a free one.")
@options.option(
    "data_dir",
    type=options.PATH,
    multiple=True,
    help="Folders that will be asked about: plans are then those of --llm offline.",
)
@options.option(
    "fault",
    multiple=True,
    metavar="NAME=WHEN",
    help="WHEN is a share (0.05), first:K, once (every prompt the first time) or always. Repeatable.",
)
@options.option("seed", type=int, default=0, help="Of the faults.")
@options.option("delay", type=click.FloatRange(0), default=0.0, help="Seconds every answer takes.")
@options.option("capacity", type=click.IntRange(1), default=None, help="Requests at once; the rest gets 429.")
@options.option(
    "retry_after", type=click.FloatRange(0), default=1.0, help="Seconds that faults 429 and 500 ask to wait."
)
@options.option("pause", type=click.FloatRange(0), default=0.1, help="Seconds between the pieces of a drip.")
@options.option("outage", type=click.FloatRange(0), default=1.0, help="Seconds that fault refused lasts.")
def command(data_dir: tuple[Path, ...], fault: tuple[str, ...], **settings: Any) -> None:
    """Answer as an OpenAI-compatible server on this machine, without a model; with faults if asked.

    Any model name is answered by the offline models. Ctrl-C ends it.
    """
    from toolassay.stages.serve import serve

    try:
        serve(data_dirs=data_dir, faults=fault, screen=SCREEN, **settings)
    except KeyboardInterrupt as stop:
        raise KeyboardInterrupt("interrupted") from stop
