"""`toolassay check`: sorts the samples of data.json into passed, quarantined and rejected."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN, say
from toolassay.screen import WARNING


@click.command("check")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder; it is not changed.")
@options.option(
    "out",
    type=options.PATH,
    required=True,
    help="Output folder: the samples that pass, quarantine/, rejected.json, gates.jsonl, funnel.json.",
)
@options.option(
    "against",
    type=options.PATH,
    default=None,
    help="Another data folder or file; requests that repeat one of its requests do not pass.",
)
@options.threshold(None)
@options.flag("repair", "First repair mechanical errors; repairs.jsonl lists every change.")
@options.option(
    "gates",
    default=None,
    help="Comma-separated gates to run: id, schema, graph, wiring, grounding, leak, language, execution "
    "(after `toolassay execute`), duplicate, contamination (needs --against), llm_critic, second_opinion "
    "(needs --solver) [default: all].",
)
@options.option("without", default=None, help="Comma-separated gates to skip.")
@options.option(
    "min_pass",
    type=click.FloatRange(0, 1),
    default=None,
    metavar="SHARE",
    help="Exit with code 3 if a smaller share of the samples passes, e.g. 0.9.",
)
@options.dependency_type()
@options.option(
    "critic",
    multiple=True,
    metavar="LLM",
    help="Model that reviews each sample; may be repeated. One model that finds a fault "
    "quarantines a sample, two reject it. 'offline' needs no server.",
)
@options.option(
    "solver",
    multiple=True,
    metavar="LLM",
    help="Model that solves the requests without seeing the gold; may be repeated. A sample that no solver "
    "gets right is quarantined.",
)
@options.option(
    "prediction_dir",
    default=None,
    help="Folder of the solvers' predictions, relative to the data folder [default: OUT/predictions].",
)
@options.server()
@options.multiworker()
@options.budget("for each model, earlier starts included")
@options.engine()
@options.flag(
    "force", "Restart a model's run whose settings differ, and replace files that were edited in OUT."
)
def command(data_dir: Path, out: Path, min_pass: float | None, **settings: Any) -> int:
    """Run every sample through the gates and sort the data set: pass, quarantine, reject.

    An interrupted run of a critic or solver continues with the same command. Exit code 3: a model left
    samples without an answer, or a smaller share than --min_pass passes.
    """
    from toolassay.stages.check import check

    settings = options.with_budget(options.with_model_options(settings))
    if settings["gates"] is not None:
        settings["gates"] = options.names(settings["gates"])
    settings["without"] = options.names(settings["without"] or "")
    settings["solvers"] = settings.pop("solver")
    checked = check(data_dir, out=out, command=options.typed(), screen=SCREEN, **settings)
    if min_pass is not None and checked.share < min_pass:
        say(f"{WARNING}{checked.share:.1%} pass, less than --min_pass ({min_pass:.1%})")
        return 3
    return 0 if checked.complete else 3
