"""`toolassay infer`: the items of a data folder -> predictions."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.benchmark_options import by_field, infer_sections, notes, security_modes
from toolassay.cli.options import SectionedCommand
from toolassay.cli.screen import SCREEN


class Attacks(click.ParamType[bool | int | str]):
    """The value of `--security`: a number of attacks, true, false or "published"."""

    name = "attacks"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> bool | int | str:
        """Parse a number of at least 1, "published", or a boolean."""
        text = str(value)
        if text.lstrip("-").isdecimal():
            if int(text) > 0:
                return int(text)
        elif text == "published":
            return text
        else:
            with suppress(click.BadParameter):
                return bool(click.BOOL.convert(value, param, ctx))
        return self.fail(f"{text!r} is not a valid number of attacks: write 1 or more, or true", param, ctx)


@click.command("infer", cls=SectionedCommand)
@options.section(
    "Data",
    options.data_dir(),
    options.option(
        "limit", type=click.IntRange(1), default=None, help="Run only the first N items.", metavar="N"
    ),
    options.option(
        "ids",
        type=options.PATH,
        default=None,
        help="Run only the ids in this file: one per line, a JSON list, or split_ids.json:test for a split.",
    ),
    options.option(
        "prediction_dir",
        default=None,
        help="Output folder, below the data folder [default: predictions, with a suffix if --tag].",
    ),
    options.option(
        "trials",
        type=click.IntRange(1),
        default=1,
        help="Number of complete runs of all items. Limits apply to all trials together.",
    ),
    options.flag("force", "Start a new run if the settings differ from the existing run, which is kept."),
    options.flag(
        "retry_malformed",
        "Retry items with a malformed or truncated answer; other answers are kept. --max_tokens may differ "
        "from the first run.",
    ),
)
@options.section(
    "Model",
    options.model(temperature=0.2, top_p=0.1),
    options.max_tokens(notes("max_tokens")),
    options.structured(
        None,
        "Make the server constrain answers to a JSON schema. auto: if the server supports it; true: stop if "
        "it does not "
        f"[default: {notes('structured')}].",
    ),
)
@options.section(
    "Limits and cost",
    options.multiworker(),
    options.engine(),
    options.budget(),
    options.dry_run(),
    options.batch(),
)
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
        help="Send N prompt-injection attacks and their harmless twins instead of the items; true sends the "
        "default number. "
        f"{security_modes()}",
    ),
    options.option(
        "judge",
        default=None,
        metavar="MODEL",
        help="With --security: a second model that judges whether the agent complied.",
    ),
)
@infer_sections()
def command(data_dir: Path, **settings: Any) -> int:
    """Run a model on every item of a data folder and write its predictions.

    The same command continues an interrupted run; items that have an answer are not sent again.
    """
    from toolassay.stages.infer import infer

    settings = options.with_budget(options.with_model_options(settings))
    inference = infer(data_dir, command=options.typed(), screen=SCREEN, **by_field(settings))
    return 0 if inference.summary.complete else 3
