"""`toolassay classic build …`: a set from one's own chats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.options import CommandGroup
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError

_FORCE = "Replace files that are there."


@click.group("build", cls=CommandGroup)
def build() -> None:
    """Make a set of your own chats: sample, workbook, merge, publish."""


@build.command("sample")
@options.option(
    "raw",
    type=options.PATH,
    required=True,
    help="A table of messages, or a folder with messages and workflows (CSV or JSON lines).",
)
@options.option(
    "workflows",
    type=options.PATH,
    default=None,
    help="A table of workflows: workflow, name, description, domain.",
)
@options.option("out", type=options.PATH, required=True, help="Folder for the tables without labels.")
@options.option("per_domain", type=click.IntRange(min=1), default=1000, help="Conversations of each domain.")
@options.option("seed", type=int, default=0, help="The same seed draws the same conversations.")
@options.option("min_length", type=click.IntRange(min=1), default=5, help="Characters of a user message.")
@options.option(
    "mask",
    default="patterns",
    metavar="patterns|MODEL_PATH|off",
    help="How personal data is found; a model is a spaCy folder, never downloaded.",
)
@options.option(
    "mask_pattern", multiple=True, metavar="KIND=REGEX", help="Also mask this, e.g. EMPLOYEE=E[0-9]{6}."
)
@options.option(
    "phone_regions",
    default="",
    show_default=False,
    metavar="US,DE,…",
    help="Of telephone numbers without a country code [default: eight large ones].",
)
@options.option(
    "profanity",
    type=options.PATH,
    default=None,
    help="A file of words, one a line; without it there is no such filter.",
)
@options.option(
    "filter",
    multiple=True,
    metavar="NAME=drop|cut|off",
    help="Leave out the whole conversation (the default), cut it there, or look for nothing.",
)
@options.option(
    "column",
    multiple=True,
    metavar="NAME=THEIRS",
    help="What a column is called in your tables, e.g. text=body.",
)
@options.option(
    "domain", default="", show_default=False, help="The domain of all chats, if no column says it."
)
@options.option(
    "user_is", default="", show_default=False, metavar="A,B", help="Names of the user under sender."
)
@options.option(
    "bot_is", default="", show_default=False, metavar="A,B", help="Names of the bot under sender."
)
@options.option(
    "human_is", default="", show_default=False, metavar="A,B", help="Names of your team under sender."
)
@options.flag("force", _FORCE)
def sample(
    raw: Path,
    workflows: Path | None,
    column: tuple[str, ...],
    domain: str,
    user_is: str,
    bot_is: str,
    human_is: str,
    mask_pattern: tuple[str, ...],
    phone_regions: str,
    filter: tuple[str, ...],
    **settings: Any,
) -> None:
    """Clean, filter and draw raw chats, and mask personal data."""
    from toolassay.benchmarks.classic.chats.raw_chats import RawSource, find_source
    from toolassay.stages.classic_build import sample_chats

    messages, beside = find_source(raw)
    senders = {"user": options.names(user_is), "bot": options.names(bot_is), "human": options.names(human_is)}
    source = RawSource(
        messages,
        workflows or beside,
        _pairs("--column", column),
        domain,
        **{kind: names for kind, names in senders.items() if names},
    )
    actions = _pairs("--filter", filter)
    for name, action in actions.items():
        if action not in ("drop", "cut", "off"):
            raise UsageError(f"--filter {name}={action}: no such action", fix="say drop, cut or off")
    sample_chats(
        source,
        actions=actions,  # type: ignore[arg-type]
        mask_patterns=_pairs("--mask_pattern", mask_pattern),
        phone_regions=options.names(phone_regions),
        screen=SCREEN,
        **settings,
    )


@build.command("workbook")
@options.option("data_dir", type=options.PATH, required=True, help="The sample.")
@options.option("annotators", required=True, metavar="A,B,C", help="Their names, which become file names.")
@options.option("out", type=options.PATH, required=True, help="Folder for the workbooks.")
@options.option("shuffle", type=int, default=None, metavar="SEED", help="An own order for each annotator.")
@options.flag("force", "Replace workbooks that are there, with what was filled in.")
def workbook(annotators: str, **settings: Any) -> None:
    """Write an Excel workbook for each annotator."""
    from toolassay.stages.classic_build import write_workbooks

    write_workbooks(annotators=options.names(annotators), screen=SCREEN, **settings)


@build.command("merge")
@options.option("data_dir", type=options.PATH, required=True, help="The sample that was annotated.")
@options.option(
    "workbooks",
    type=options.PATH,
    multiple=True,
    help="Workbooks (.xlsx or .csv), or a folder of them; a file is an annotator.",
)
@click.argument("more", nargs=-1, type=options.PATH, metavar="[WORKBOOK]...")
@options.option("out", type=options.PATH, required=True, help="Folder for the set and the reports.")
@options.option(
    "ties",
    type=click.Choice(["conflict", "first", "drop"]),
    default="conflict",
    help="Without a majority: left out until decided (exit code 3), the first one's choice, or left out.",
)
@options.flag("any_flag", "One annotator is enough to flag a message; else it takes a majority.")
@options.flag("force", _FORCE)
def merge(workbooks: tuple[Path, ...], more: tuple[Path, ...], **settings: Any) -> int:
    """Put the workbooks together by majority: a clean set, and how far annotators agree."""
    from toolassay.stages.classic_build import merge_workbooks

    return 3 if merge_workbooks(workbooks=[*workbooks, *more], screen=SCREEN, **settings) else 0


@build.command("publish")
@options.option("data_dir", type=options.PATH, required=True, help="The merged set.")
@options.option("to", type=options.PATH, required=True, help="Folder for tables and card.")
@options.flag("parquet", "Parquet instead of CSV.")
@options.option(
    "prompts", type=options.PATH, default=None, help="A table of security prompts, where the set has none."
)
@options.flag("force", _FORCE)
def publish(**settings: Any) -> None:
    """Lay a set out as the Hugging Face hub has it; nothing is sent."""
    from toolassay.stages.classic_build import publish_set

    publish_set(screen=SCREEN, **settings)


def _pairs(flag: str, values: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for value in values:
        name, equals, rest = value.partition("=")
        if not (name and equals and rest):
            raise UsageError(f"{flag} {value!r} has no '='", fix=f"write {flag} NAME=VALUE")
        found[name.strip()] = rest
    return found
