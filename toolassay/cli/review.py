"""`toolassay review`: people look at the samples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError


@click.command("review")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder to review.")
@options.option("reviewer", default="", show_default=False, help="Your name [default: the page asks].")
@options.option(
    "queue",
    type=click.Choice(["all", "conflicts"]),
    default="all",
    help="Of the page; conflicts: settle what the reviewers differ on.",
)
@options.option(
    "reviewers",
    default="",
    show_default=False,
    help="Share the samples out among these, with commas [default: everybody looks at all].",
)
@options.option("each", type=click.IntRange(1), default=None, help="How many of --reviewers look at each.")
@options.option("port", type=click.IntRange(0, 65535), default=0, help="On 127.0.0.1; 0 takes a free one.")
@click.option(
    "--open",
    "open_browser",
    type=bool,
    default=False,
    is_flag=False,
    flag_value=True,
    help="Open the browser.",
)
@options.option(
    "gates",
    type=options.PATH,
    default=None,
    help="A gates.jsonl that toolassay check wrote [default: the folder's own].",
)
@options.dependency_type()
@options.flag("table", "Print the human-verification table and the agreement, and write them; no page.")
@options.option("export", type=options.PATH, default=None, help="Write a sheet to fill in: .xlsx or .csv.")
@click.option(
    "--import", "import_", type=options.PATH, default=None, help="Take in a sheet that was filled in."
)
@options.flag("insist", "With --import: save fixes that the gates reject; it is noted.")
@options.option("apply", type=options.PATH, default=None, help="Write the reviewed data set to this folder.")
@options.flag("keep_undecided", "With --apply: keep what nobody has decided on.")
@options.flag("with_passed", "With --apply, of the quarantine of a check: take along what passed the gates.")
def command(
    data_dir: Path,
    reviewer: str,
    export: Path | None,
    import_: Path | None,
    apply: Path | None,
    table: bool,
    insist: bool,
    keep_undecided: bool,
    with_passed: bool,
    gates: Path | None,
    reviewers: str,
    each: int | None,
    **page: Any,
) -> None:
    """Have people look at every sample: a page on this machine, or a sheet; then the table, and the new set.

    Every decision is saved at once, in reviews/<reviewer>.jsonl of the folder. Ctrl-C ends the page.
    """
    from toolassay.stages import review as stage

    if sum([export is not None, import_ is not None, apply is not None, table]) > 1:
        raise UsageError("--export, --import, --apply and --table are one command each", fix="choose one")
    if page["queue"] != "all" and not (export is import_ is apply is None and not table):
        raise UsageError("--queue is for the page alone", fix="leave it out, or settle conflicts on the page")
    shared: dict[str, Any] = {
        "reviewers": options.names(reviewers),
        "each": each or 0,
        "gates": gates,
        "screen": SCREEN,
    }
    if export is not None:
        stage.export_reviews(data_dir, export, reviewer=reviewer, **shared)
    elif import_ is not None:
        if not reviewer:
            raise UsageError("--import needs to know whose sheet it is", fix="add --reviewer NAME")
        stage.import_reviews(data_dir, import_, reviewer=reviewer, insist=insist, screen=SCREEN)
    elif apply is not None:
        stage.apply_review(
            data_dir, apply, keep_undecided=keep_undecided, with_passed=with_passed, screen=SCREEN
        )
    elif table:
        stage.review_summary(data_dir, screen=SCREEN)
    else:
        try:
            stage.start_review(data_dir, reviewer=reviewer, **shared, **page)
        except KeyboardInterrupt as stop:
            raise KeyboardInterrupt("stopped; every decision is saved") from stop
