"""`toolassay review`: human review of the samples, on a local page or in a spreadsheet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from toolassay.cli import options
from toolassay.cli.screen import SCREEN
from toolassay.errors import UsageError


@click.command("review")
@options.option("data_dir", type=options.PATH, required=True, help="The data folder to review.")
@options.option("reviewer", default="", show_default=False, help="Your name [default: the page asks for it].")
@options.option(
    "queue",
    type=click.Choice(["all", "conflicts"]),
    default="all",
    help="Samples that the page shows. conflicts: only those on which reviewers disagree.",
)
@options.option(
    "reviewers",
    default="",
    show_default=False,
    help="Comma-separated names to divide the samples among [default: everyone reviews all].",
)
@options.option("each", type=click.IntRange(1), default=None, help="Number of --reviewers per sample.")
@options.page()
@options.option(
    "gates",
    type=options.PATH,
    default=None,
    help="A gates.jsonl written by toolassay check [default: the one in the folder].",
)
@options.dependency_type()
@options.flag("table", "Print and write the human-verification table and the agreement; opens no page.")
@options.option(
    "export", type=options.PATH, default=None, help="Write a spreadsheet to fill in: .xlsx or .csv."
)
@click.option(
    "--import", "import_", type=options.PATH, default=None, help="Read the decisions of a filled-in sheet."
)
@options.flag("insist", "With --import: save fixes that the gates reject; the review records that.")
@options.option("apply", type=options.PATH, default=None, help="Write the reviewed data set to this folder.")
@options.flag("keep_undecided", "With --apply: keep samples that have no decision.")
@options.flag(
    "with_passed", "With --apply, on the quarantine of a check: also include the samples that passed."
)
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
    """Review samples on a local page or in a spreadsheet; then show the agreement and write the reviewed set.

    Every decision is saved at once, in reviews/<reviewer>.jsonl of the data folder. Ctrl-C stops the page.
    """
    from toolassay.stages import review as stage

    if sum([export is not None, import_ is not None, apply is not None, table]) > 1:
        raise UsageError("--export, --import, --apply and --table exclude one another", fix="choose one")
    if page["queue"] != "all" and not (export is import_ is apply is None and not table):
        raise UsageError("--queue only applies to the page", fix="omit it, or settle conflicts on the page")
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
            raise UsageError("--import needs the name of the reviewer", fix="add --reviewer NAME")
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
