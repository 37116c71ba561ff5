"""`toolassay infer`: user_requests.json -> predictions."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
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
    options.max_tokens("2000; CLASSic 512, its agent reasoning 4096"),
    options.structured(
        None,
        "Have the server hold answers to a JSON schema: auto where it can, true or the run ends "
        "[default: false, comparable with published figures; CLASSic the shape without the names]. Of "
        "WorkBench for --agent react only.",
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
        "CLASSic: published is the published test of the bare model, graded by --judge.",
    ),
    options.option(
        "judge",
        default=None,
        metavar="MODEL",
        help="With --security: a model that is asked as well.",
    ),
)
@options.section(
    "TaskBench",
    options.dependency_type(),
    options.option("use_demos", type=click.IntRange(0), default=0, help="How many demonstrations."),
    options.option("demo_ids", default=None, help="Which labels demonstrate, by id, with commas between."),
    options.flag("reformat", "Have unreadable answers rewritten as strict JSON."),
    options.option("reformat_by", default="self", help="By whom: a model, or 'self'."),
    options.flag("tag", "Put demonstrations and reformatting into the folder's name."),
    options.flag("log_first_detail", "Show the first prompt and its answer."),
    options.prompt(),
    options.option(
        "prompt_template", type=options.PATH, default=None, help="Your own wording of the prompt."
    ),
)
@options.section(
    "WorkBench and CLASSic",
    options.option(
        "agent",
        default=None,
        help="WorkBench: native (tool calls; default), react (actions in text), react_published (the same, "
        "read as the published agent reads them). CLASSic: cot (default), "
        "reasoning, tools (a function a workflow), retrieval (default of the offline model), recorded.",
    ),
)
@options.section(
    "WorkBench",
    options.option(
        "toolkit",
        type=click.Choice(["all", "domains"]),
        default=None,
        help="All tools (default), or those of a task's domains.",
    ),
    options.option(
        "resample", type=click.IntRange(0), default=0, help="New tries of a run that called nothing."
    ),
    options.option(
        "resample_temperature", type=float, default=0.5, help="The temperature of these new tries."
    ),
    options.option("max_steps", type=click.IntRange(1), default=20, help="Maximum answers a task."),
    options.option(
        "max_seconds",
        type=options.FloatRange(0, min_open=True),
        default=120.0,
        help="Maximum seconds of a task's answers, without the wait for this client's turn.",
    ),
    options.allow_tools(),
)
@options.section(
    "CLASSic",
    options.option(
        "order", default=None, metavar="table|name|SEED", help="The order in which workflows are shown."
    ),
    options.option(
        "recorded", type=options.PATH, default=None, help="Recorded answers, CSV or JSON, to give again."
    ),
    options.option(
        "none_as",
        multiple=True,
        help="What a recorded answer says where it chose none [default: none]; '' is an empty cell.",
    ),
)
def command(data_dir: Path, demo_ids: str | None, **settings: Any) -> int:
    """Ask a model for the plan of every request; in a folder of WorkBench, let it act on each, in
    one of CLASSic, choose the workflow to start.

    What is answered already is not asked again: the same command continues a run.
    """
    from toolassay.stages.infer import infer

    demos = options.names(demo_ids or "")
    settings = options.with_budget(options.with_model_options(settings))
    inference = infer(data_dir, demo_ids=demos, command=options.typed(), screen=SCREEN, **settings)
    return 0 if inference.summary.complete else 3
