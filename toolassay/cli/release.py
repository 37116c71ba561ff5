"""`toolassay release`: the generated samples that pass the gates become the data set of the folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN


@click.command("release")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder, with data_raw.json.")
@options.option(
    "critic",
    multiple=True,
    metavar="LLM",
    help="Model that reviews each sample; may be repeated, as for `check`.",
)
@options.server()
@options.multiworker()
@options.budget("for each critic, earlier starts included")
@options.engine()
@options.flag("force", "Replace a data set that was edited; a dated copy is kept.")
def command(data_dir: Path, **settings: Any) -> int:
    """Make the generated samples that pass the gates the data set of the folder.

    data.json and user_requests.json hold what passes; quarantine/ and rejected.json the rest; gates.jsonl and
    funnel.json say why. data_raw.json is unchanged. Exit code 3: no sample passes, or a critic left samples
    without an answer.
    """
    from toolassay.stages.release import release

    settings = options.with_budget(options.with_model_options(settings))
    released = release(data_dir, command=options.typed(), screen=SCREEN, **settings)
    return 0 if released.complete and released.levels["pass"] else 3
