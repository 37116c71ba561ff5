"""`toolassay generate`: tool graph -> data_raw.json."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.executor_options import NAMES, executor_section, taken_options, without_options
from toolassay.cli.screen import SCREEN, show
from toolassay.errors import UsageError


@click.command("generate")
@options.option("data_dir", type=options.PATH, default=None, help="The data folder [default: a new one].")
@options.option("graph_desc", type=options.PATH, default=None, help="Tool graph of a new folder.")
@options.option("tool_desc", type=options.PATH, default=None, help="Tools of a new folder.")
@options.model(temperature=0.7, top_p=1.0)
@options.max_tokens("2500")
@options.structured(
    "auto",
    "Structured output: the server constrains answers to a JSON schema. auto: if it supports that; true: "
    "the run ends if it does not.",
)
@options.multiworker()
@options.engine()
@options.budget()
@options.dry_run()
@options.batch()
@options.dependency_type()
@options.flag("check", "Also request the model's review of its own sample, in the same answer.")
@options.option(
    "number_of_samples",
    type=click.IntRange(1),
    default=None,
    help="Total number of samples, existing ones included [default: the published 5000; the estimated cost "
    "is shown first].",
)
@options.seed()
@options.flag("use_async", "Ignored; kept for the published script. Requests are always concurrent.")
@options.flag("save_figure", "Draw each new sample into task_graphs/.")
@options.option(
    "method", type=click.Choice(["single", "chain", "dag"]), default=None, help="Sample only this shape."
)
@options.option(
    "tool_number", type=click.IntRange(1), default=None, help="Sample only subgraphs with this many tools."
)
@options.sampler_weights()
@options.by_score()
@options.cover()
@options.until()
@options.option(
    "rewrite",
    type=click.IntRange(0, 10),
    default=None,
    help="How often an answer that does not pass the gates goes back to the model with what they found "
    "[default: 0; 2 for `offline` with tools of your own].",
)
@options.option(
    "critic",
    multiple=True,
    metavar="LLM",
    help="With --rewrite: model that reviews what the gates let pass; may be repeated.",
)
@options.prompt()
@options.option(
    "prompt_template", type=options.PATH, default=None, help="Text file with your own prompt template."
)
@options.option(
    "values_from",
    type=click.Choice(NAMES),
    default=None,
    help="Collect real values of arguments from this executor first (values.json), use them in requests, and "
    "execute each plan when it is written; what is refused goes back to the writer (a served model: with "
    "--rewrite N).",
)
@executor_section()
@options.flag("play", "Generate one sample and show the model's answer; writes nothing.")
@options.flag("force", "Start a new run if the settings differ; the old run is kept.")
def command(
    data_dir: Path | None, use_async: bool, play: bool, values_from: str | None, **settings: Any
) -> int:
    """Generate requests with gold plans for sampled subgraphs (Back-Instruct).

    The last line of the output is the data folder. Pass it as --data_dir to continue an interrupted run.
    """
    from toolassay.stages.generate import generate
    from toolassay.stages.play import play as play_one

    if values_from is None:
        without_options(settings)
    else:
        from toolassay.stages.live_values import LiveSettings

        own = taken_options(settings, values_from)
        consent = {name: settings.pop(name) for name in ("allow_writes", "allow_tools")}
        settings["live"] = LiveSettings(values_from, own, **consent)
    settings = options.parsed_weights(options.with_budget(options.with_model_options(settings)))
    if play and settings["dry_run"]:
        raise UsageError("--play sends a request, --dry_run sends none", fix="use one of them")
    if play and settings["options"].batch:
        raise UsageError("--play shows the answer to one request", fix="leave --batch out")
    if play and settings["engine"]:
        raise UsageError("--play generates one sample", fix="omit --engine")
    settings["command"] = options.typed()
    if play:
        settings.pop("batch_cancel")
        return 0 if play_one(data_dir, screen=SCREEN, **settings) is not None else 3
    folder, complete = generate(data_dir, screen=SCREEN, **settings)
    if settings["dry_run"]:
        return 0
    show(str(folder))
    return 0 if complete else 3
