"""`toolassay check`: data.json -> what passes the gates, what is doubtful, what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, say
from toolassay.screen import WARNING


@click.command("check")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; nothing in it changes.")
@options.option(
    "out",
    type=options.PATH,
    required=True,
    help="The folder to write: what passes, quarantine/, rejected.json, gates.jsonl, funnel.json.",
)
@options.option(
    "against",
    type=options.PATH,
    default=None,
    help="Another data folder or file: requests that repeat one of its are held back.",
)
@options.option(
    "threshold", type=float, default=None, help="How alike near duplicates are, 0.2 to 1 [default: 0.6]."
)
@options.flag("repair", "Mend first what is mechanical; every change stands in repairs.jsonl.")
@options.option(
    "gates",
    default=None,
    help="Only these gates, with commas between, of id, schema, graph, wiring, knowability, leak, duplicate, "
    "contamination (with --against), llm_critic, second_opinion (with --solver).",
)
@options.option("without", default=None, help="All gates but these, with commas between.")
@options.option(
    "min_pass",
    type=click.FloatRange(0, 1),
    default=None,
    metavar="SHARE",
    help="Exit with 3 where a smaller share passes, e.g. 0.9.",
)
@options.dependency_type()
@options.option(
    "critic",
    multiple=True,
    metavar="LLM",
    help="A model that reviews each sample; may be repeated. The no of one model quarantines, that of two "
    "rejects. 'offline' needs no server.",
)
@options.option(
    "solver",
    multiple=True,
    metavar="LLM",
    help="A model that solves the requests blind; may be repeated. What none gets is put in quarantine.",
)
@options.option(
    "prediction_dir",
    default=None,
    help="Where the solvers' predictions lie or are put, below the data folder [default: OUT/predictions].",
)
@options.server()
@options.multiworker()
@options.budget("for each model, earlier starts included")
@options.flag(
    "force", "Begin anew where a model's run had other settings, and replace what was changed in OUT."
)
def command(data_dir: Path, out: Path, min_pass: float | None, **settings: Any) -> int:
    """Send every label through the gates, and sort the set by what they say.

    The same command continues where the critic or a solver stopped. Exit code 3: a model left samples
    without an answer, or fewer pass than --min_pass asks for.
    """
    from toolassay.stages.check import check

    settings = options.with_budget(options.with_model_options(settings))
    if settings["gates"] is not None:
        settings["gates"] = options.names(settings["gates"])
    settings["without"] = options.names(settings["without"] or "")
    settings["solvers"] = settings.pop("solver")
    checked = check(data_dir, out=out, command=options.typed(), screen=SCREEN, **settings)
    if min_pass is not None and checked.share < min_pass:
        say(f"{WARNING}{checked.share:.1%} pass, fewer than the {min_pass:.1%} of --min_pass")
        return 3
    return 0 if checked.complete else 3
