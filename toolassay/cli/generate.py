"""`toolassay generate`: graph -> data_raw.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, show
from toolassay.errors import UsageError


@click.command("generate")
@options.option("data_dir", type=options.PATH, default=None, help="The work folder [default: a new one].")
@options.option("graph_desc", type=options.PATH, default=None, help="The graph, for a new folder.")
@options.option("tool_desc", type=options.PATH, default=None, help="The tools, for a new folder.")
@options.model(temperature=0.7, top_p=1.0)
@options.max_tokens("2500")
@options.structured(
    "auto", "Have the server hold answers to a JSON schema: auto where it can, true or the run ends."
)
@options.multiworker()
@options.budget()
@options.dry_run()
@options.dependency_type()
@options.flag("check", "Ask for the teacher's review in the same answer.")
@options.option(
    "number_of_samples",
    type=click.IntRange(1),
    default=None,
    help="The total, those there included [default: the published 5000; its cost is said first].",
)
@options.seed()
@options.flag("use_async", "Kept from the published script; requests are always sent concurrently.")
@options.flag("save_figure", "Draw each new sample into task_graphs/.")
@options.option("method", type=click.Choice(["single", "chain", "dag"]), default=None, help="One shape only.")
@options.option("tool_number", type=click.IntRange(1), default=None, help="One number of tools only.")
@options.sampler_weights()
@options.prompt()
@options.option("prompt_template", type=options.PATH, default=None, help="Your own wording of the prompt.")
@options.flag("play", "Make one sample, show what the model writes, and keep nothing.")
@options.flag("force", "Begin anew where settings differ; the old run is kept.")
def command(data_dir: Path | None, use_async: bool, play: bool, **settings: Any) -> int:
    """Write requests with gold plans for sampled subgraphs (back-instruct).

    The last line names the data folder. With that as --data_dir the same command continues.
    """
    from toolassay.stages.generate import generate
    from toolassay.stages.play import play as play_one

    settings = options.parsed_weights(options.with_budget(options.with_model_options(settings)))
    if play and settings["dry_run"]:
        raise UsageError("--play sends a request, --dry_run sends none", fix="use one of them")
    settings["command"] = options.typed()
    if play:
        return 0 if play_one(data_dir, screen=SCREEN, **settings) is not None else 3
    folder, complete = generate(data_dir, screen=SCREEN, **settings)
    if settings["dry_run"]:
        return 0
    show(str(folder))
    return 0 if complete else 3
