"""`toolassay infer`: user_requests.json -> predictions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, infer_sections, notes, security_modes
from toolassay.cli.options import SectionedCommand
from toolassay.cli.screen import SCREEN

_PUBLISHED = "published"
TOO_FEW = "{} attacks say nothing: give a number from 1, or true"


class Attacks(click.ParamType[bool | int | str]):
    """A number of attacks, whether there are any, or the published test."""

    name = "attacks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bool | int | str:
        """A number as it is, the name of the published test, anything else as a truth value."""
        if isinstance(value, bool):
            return value
        if value == _PUBLISHED:
            return _PUBLISHED
        try:
            number = int(value)
        except ValueError:
            try:
                return bool(click.BOOL.convert(value, param, ctx))
            except click.BadParameter:
                self.fail(f"{value!r} is no number of attacks: give one from 1, or true", param, ctx)
        if number < 1:
            self.fail(TOO_FEW.format(number), param, ctx)
        return number


class _Infer(SectionedCommand):
    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        # After an option whose value may be left out, click takes "-3" for another option.
        words = [word for arg in args for word in arg.split("=", 1)]
        for flag, value in pairwise(words):
            if flag == "--security" and value[:1] == "-" and value[1:].isdigit():
                raise click.BadParameter(TOO_FEW.format(value), ctx, param_hint="'--security'")
        return super().parse_args(ctx, args)


@click.command("infer", cls=_Infer)
@options.section(
    "Data",
    options.option("data_dir", type=options.PATH, default="data_huggingface", help="The data folder."),
    options.option(
        "limit", type=click.IntRange(1), default=None, help="Ask only the first N requests.", metavar="N"
    ),
    options.option(
        "ids",
        type=options.PATH,
        default=None,
        help="Ask only those in this file: an id a line, a JSON list, or split_ids.json:test for a split.",
    ),
    options.option(
        "prediction_dir", default=None, help="Below the data folder [default: predictions and the tag]."
    ),
    options.option(
        "trials",
        type=click.IntRange(1),
        default=1,
        help="Make the whole run this often; limits are of all of them.",
    ),
    options.flag("force", "Begin again where settings differ; the old run is kept."),
    options.flag(
        "retry_malformed",
        "Ask again what was answered malformed or cut off; other answers stay. --max_tokens may differ from "
        "before.",
    ),
)
@options.section(
    "Model",
    options.model(temperature=0.2, top_p=0.1),
    options.max_tokens(notes("max_tokens")),
    options.structured(
        None,
        "Have the server hold answers to a JSON schema: auto where it can, true or the run ends "
        f"[default: {notes('structured')}].",
    ),
)
@options.section("Limits and cost", options.multiworker(), options.budget(), options.dry_run())
@options.section(
    "Security",
    options.option(
        "security",
        type=Attacks(),
        is_flag=False,
        flag_value=True,
        default=False,
        show_default=False,
        metavar="N|true|published",
        help="Send N attacks (true: the usual number) and harmless twins of them instead of the requests. "
        f"{security_modes()}",
    ),
    options.option(
        "judge",
        default=None,
        metavar="MODEL",
        help="With --security: a model that is asked as well.",
    ),
)
@infer_sections()
def command(data_dir: Path, **settings: Any) -> int:
    """Ask a model about every item of a data folder: for a plan, for the steps of a task, for a choice.

    What is answered already is not asked again: the same command continues a run.
    """
    from toolassay.stages.infer import infer

    settings = options.with_budget(options.with_model_options(settings))
    inference = infer(data_dir, command=options.typed(), screen=SCREEN, **by_field(settings))
    return 0 if inference.summary.complete else 3
