"""`toolassay classic …`: agents that pick a workflow for a chat."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.classic_build import build
from toolassay.cli.dotenv_file import load_environment
from toolassay.cli.options import CommandGroup
from toolassay.cli.screen import SCREEN, show
from toolassay.errors import UsageError


@click.group("classic", cls=CommandGroup)
def command() -> None:
    """Agents that pick a workflow for a chat: cost, latency, accuracy, stability, security."""


@command.command("evaluate")
@options.option("data_dir", type=options.PATH, default="data_classic", help="The tables.")
@options.option(
    "predictions",
    type=options.PATH,
    multiple=True,
    required=True,
    help="Prediction rows with all trials: a JSON array or JSON lines; may be repeated.",
)
@options.option(
    "mode",
    type=click.Choice(["compat", "strict"]),
    default="compat",
    help="compat: the published metrics; strict: errors count, nothing is removed.",
)
@options.with_published()
@options.option("out", type=options.PATH, required=True, help="Folder for metrics.json.")
def evaluate(
    data_dir: Path, predictions: tuple[Path, ...], mode: str, with_published: bool | None, out: Path
) -> None:
    """Score prediction rows, whoever made them."""
    from toolassay.cli.classic_scores import print_compat, print_strict
    from toolassay.offline.marks import mark_of, marked
    from toolassay.stages.evaluate_classic import METRICS, evaluate_rows

    scores = evaluate_rows(data_dir, predictions, out=out, mode=mode, screen=SCREEN)
    name = predictions[0].stem
    named = {marked(name, mark_of(name, {})): scores}
    if mode == "compat":
        print_compat(named, with_published=with_published)
    else:
        print_strict(named)
    show(str(out / METRICS))


@command.command("run", context_settings={"ignore_unknown_options": True})
@click.option("--data", default="v1", show_default=True, help="The data: a path, or a name in configs/data/.")
@click.option("--agent", default="cot", show_default=True, help="The agent: likewise in configs/agent/.")
@click.option("--eval", "eval_", default="default", show_default=True, help="Likewise in configs/eval/.")
@click.option(
    "--set", "values", multiple=True, metavar="KEY=VALUE", help="E.g. agent.temperature=0.2; may be repeated."
)
@options.multiworker()
@options.option("prediction_dir", default="predictions", help="Below the data folder.")
@options.budget()
@options.dry_run()
@options.with_published()
@options.flag("force", "Begin anew where settings differ; the old run is kept.")
@click.argument("more", nargs=-1, type=click.UNPROCESSED, metavar="[--KEY=VALUE]...")
def run(
    data: str,
    agent: str,
    eval_: str,
    values: tuple[str, ...],
    more: tuple[str, ...],
    with_published: bool | None,
    **settings: Any,
) -> int:
    """Have a configured agent choose for every message, and score it.

    Single values are set with --set agent.temperature=0.2, or as --agent.temperature=0.2. Keys come from
    the environment (OPENAI_API_KEY) or .env, never from a configuration.
    """
    from toolassay.benchmarks.classic.configuration import read_configuration
    from toolassay.cli.classic_scores import print_chat_scores
    from toolassay.stages.run_classic import run_classic

    _refuse_unknown(more)
    names = {"data": data, "agent": agent, "eval": eval_}
    configuration = read_configuration(names, [*values, *more])
    load_environment()
    settings = options.with_budget(settings)
    ended = run_classic(configuration, command=options.typed(), screen=SCREEN, **settings)
    if ended.evaluation is not None:
        print_chat_scores([ended.evaluation], with_published=with_published)
        show(str(ended.evaluation.path))
    return 0 if ended.inference.summary.complete else 3


def _refuse_unknown(more: tuple[str, ...]) -> None:
    """Refuse what is neither a flag nor a value of a configuration; no value is repeated, it may be a key."""
    from toolassay.benchmarks.classic.configuration import KEYS, checked, nearest

    for word in more:
        name, equals, _ = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            raise click.UsageError(f"Got unexpected extra argument ({name})")
        if equals and "." in name:
            continue  # the reader of configurations says more
        if name in KEYS:
            raise click.UsageError(f"--{name} has no value: write --{name}=VALUE")
        try:
            checked(name, None)
        except ValueError as error:
            if not str(error).startswith("unknown key"):
                raise UsageError(str(error)) from None
        context = click.get_current_context()
        flags = [flag for option in context.command.params for flag in option.opts if flag.startswith("--")]
        meant = nearest(name, flags)
        fix = meant if meant.startswith("--") else f"--{meant}=VALUE"
        raise click.UsageError(f"No such flag: --{name}. Fix: did you mean {fix}?")


command.add_command(build)
