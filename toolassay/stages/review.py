"""The review stage: reviewers decide on the samples of a data folder, on a page or in spreadsheets."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec

from toolassay.benchmarks.work_folder import graph_of
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import copy_file, write_json, write_text
from toolassay.gates.checked_folder import CHECKED, FUNNEL, QUARANTINE, as_reviewed
from toolassay.gates.gate import Background, read_gates
from toolassay.gates.gate_pipeline import gate_pipeline
from toolassay.plans.gold import Gold
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import read_labels
from toolassay.review.decision import FOLDER, Log, ReviewStore, checked_name
from toolassay.review.outcome import Applied, HumanVerification, apply_reviews, markdown, verification
from toolassay.review.samples import Shares, Unchanged, drawn_samples, read_samples
from toolassay.review.session import FILE, QUEUES, Findings, Queue, Session
from toolassay.review.sheets import read_sheet, rows_of, take_sheet, write_sheet
from toolassay.runs.event_loop import run_coroutine
from toolassay.stages.audit import take_audit, write_audit
from toolassay.stages.settings import AuditSettings, PageSettings, ReviewSettings

_DRAWN = 30  # outcomes that --verdicts draws by default


def review_session(
    data_dir: str | Path,
    *,
    settings: ReviewSettings = ReviewSettings(),
    screen: Screen = DEFAULT,
) -> Session:
    """The review of a data folder: samples, findings of the gates, and all decisions so far.

    Args:
        data_dir: Folder with `data.json` and the tools.
        settings: Which samples, and who reviews them.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, or the samples cannot be shared like this.
    """
    given = settings
    names = [checked_name(name) for name in given.reviewers]
    folder = DataFolder(Path(data_dir)).require()
    graph = graph_of(folder, given.dependency_type, say=screen.say)
    background = Background(graph.library, graph.dependency_type, graph)
    unchanged = Unchanged(folder.data)
    samples = read_samples(folder.data)
    shares = Shares(names, given.each, None if given.sample is None else drawn_samples(samples, given.sample))
    path = _of_check(folder, FILE) if given.gates is None else Path(given.gates)
    lines = read_gates(path) if given.gates is not None or path.exists() else ()
    written = {line.id: line for line in lines}
    if written and written.keys().isdisjoint(sample.id for sample in samples):
        screen.say(f"{WARNING}{path} has findings for none of the samples")
    passed = gate_pipeline(background)
    name = folder.path.resolve().name
    return Session(
        name,
        samples,
        background,
        passed,
        Findings(written, passed),
        ReviewStore(folder.path),
        unchanged=unchanged,
        shares=shares,
    )


def _of_check(folder: DataFolder, name: str) -> Path:
    """A file of the check; for a quarantine folder it is in the parent folder."""
    own = folder.path / name
    apart = (
        folder.benchmark.checked is not None and folder.path.resolve().name == QUARANTINE and not own.exists()
    )
    return folder.path.resolve().parent / name if apart else own


def start_review(
    data_dir: str | Path,
    *,
    reviewer: str = "",
    queue: str = "all",
    page: PageSettings = PageSettings(),
    settings: ReviewSettings = ReviewSettings(),
    screen: Screen = DEFAULT,
) -> None:
    """Serve the page of a review on 127.0.0.1 until interrupted.

    Each decision is on disk (`reviews/<reviewer>.jsonl`) before the page shows it as saved. The page opens at
    the first undecided sample of the reviewer.

    Args:
        data_dir: Folder with `data.json` and the tools.
        reviewer: Name of the reviewer; if empty, the page asks for it.
        queue: "all", or "conflicts": samples with differing decisions, for an adjudicator.
        page: Where the page is shown.
        settings: Which samples, and who reviews them.
        screen: Receives the address once the server listens.

    Raises:
        UsageError: A file is missing or malformed, a name is not valid, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    chosen: Queue | None = next((name for name in QUEUES if name == queue), None)
    if chosen is None:
        raise UsageError(f"unknown queue '{queue}'", fix=f"use {' or '.join(QUEUES)}")
    session = review_session(data_dir, settings=settings, screen=screen)
    if reviewer:
        reviewer = checked_name(reviewer)
        session.store.log(reviewer)
        if chosen == "all":
            session.shares.check(reviewer)

    async def run() -> None:
        from toolassay.review.server import ReviewServer

        server = ReviewServer(session, reviewer=reviewer, queue=chosen)
        advice = (
            "open that address in a browser on this machine; Ctrl-C ends the review, all decisions are saved"
        )
        await server.show(page.port, screen, advice, open_browser=page.open_browser)

    run_coroutine(run())


def publishable_by_people(data_dir: str | Path) -> tuple[int, int]:
    """How many samples people found correct as they are, and how many they decided.

    Raises:
        UsageError: A file is missing or malformed.
    """
    decided = [
        outcome.decision.action
        for outcome in review_session(data_dir).outcomes()
        if outcome.decision is not None
    ]
    return decided.count("correct"), len(decided)


def review_summary(data_dir: str | Path, *, screen: Screen = DEFAULT) -> HumanVerification:
    """Write the decisions and the agreement of the reviewers to `reviews/table.json` and `reviews/table.md`.

    Args:
        data_dir: Reviewed folder.
        screen: Receives the tables.

    Returns:
        Content of `table.json`.

    Raises:
        UsageError: A file is missing or malformed.
    """
    table = verification(review_session(data_dir, screen=screen).outcomes())
    pieces = markdown(table)
    for heading, rows in pieces:
        screen.show(heading)
        screen.table(rows)
        screen.show("")
    everything = table.samples["all"]
    if everything.undecided:
        stale = f", {everything.stale} of them decided on an earlier version" if everything.stale else ""
        screen.say(f"{count_of(everything.undecided, 'sample')} undecided{stale}")
    if everything.conflicts:
        screen.say(f"{count_of(everything.conflicts, 'conflict')}: settle with --queue conflicts")
    folder = Path(data_dir) / FOLDER
    write_json(folder / "table.json", msgspec.to_builtins(table))
    write_text(folder / "table.md", "\n".join(f"{heading}\n\n{rows}\n" for heading, rows in pieces))
    return table


def export_reviews(
    data_dir: str | Path,
    file: str | Path,
    *,
    reviewer: str = "",
    settings: ReviewSettings = ReviewSettings(),
    audit: AuditSettings = AuditSettings(),
    screen: Screen = DEFAULT,
) -> int:
    """Write a spreadsheet with the samples and the reviewer's decisions; returns the number of rows.

    With `verdicts`, it has outcomes of that model instead, drawn by verdict, and no decisions.

    Args:
        data_dir: Folder with `data.json` and the tools.
        file: An `.xlsx` or `.csv` file.
        reviewer: Reviewer whose decisions are filled in; empty for none.
        settings: Which samples, and who shares them; the sheet has the share of `reviewer`.
        audit: Whose outcomes, if not samples are reviewed.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: A file is missing or malformed, or the sheet has another format.
    """
    if audit.verdicts:
        count = write_audit(Path(data_dir), Path(file), audit, settings.sample or _DRAWN)
        screen.show(f"{file}: {count_of(count, 'outcome')} of {audit.verdicts}")
        return count
    session = review_session(data_dir, settings=settings, screen=screen)
    reviewer = checked_name(reviewer) if reviewer else ""
    log = session.store.log(reviewer) if reviewer else Log()
    session.shares.check(reviewer)
    samples = tuple(sample for sample in session.samples if session.shares.holds(reviewer, sample.id))
    count = write_sheet(Path(file), rows_of(samples, session.findings, log))
    screen.show(f"{file}: {count_of(count, 'sample')}")
    return count


def import_reviews(
    data_dir: str | Path,
    file: str | Path,
    *,
    reviewer: str,
    audit: AuditSettings = AuditSettings(),
    screen: Screen = DEFAULT,
) -> int:
    """Import a completed spreadsheet; returns the number of new decisions. An invalid row imports nothing.

    Args:
        data_dir: Folder that the sheet was exported from.
        file: An `.xlsx` or `.csv` file.
        reviewer: Name of the reviewer.
        audit: Whose outcomes the sheet has, if not samples.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: Rows are invalid (the message names them), or a file is missing or malformed.
    """
    if audit.verdicts:
        count = take_audit(Path(data_dir), Path(file), audit, checked_name(reviewer))
    else:
        session = review_session(data_dir, screen=screen)
        count = take_sheet(session, read_sheet(Path(file)), checked_name(reviewer), Path(file))
    screen.show(f"{file}: {count_of(count, 'new decision')} of {reviewer}")
    return count


def apply_review(
    data_dir: str | Path,
    out: str | Path,
    *,
    keep_undecided: bool = False,
    with_passed: bool = False,
    screen: Screen = DEFAULT,
) -> Applied:
    """Apply the decisions and write the reviewed data folder.

    Args:
        data_dir: Reviewed folder.
        out: Another folder, created if missing.
        keep_undecided: Keep samples without a decision instead of leaving them out.
        with_passed: For the quarantine of a check: add the samples that passed the gates.
        screen: Receives the counts.

    Raises:
        IncompleteError: Some samples have unsettled conflicts.
        UsageError: A file is missing or malformed, `out` has another data set, or `with_passed` is given for
            a folder that is not a quarantine.
        ToolassayError: No sample is left.
    """
    folder = DataFolder(Path(data_dir))
    target = DataFolder(Path(out))
    passed = _passed_beside(folder) if with_passed else ()
    session = review_session(data_dir, screen=screen)
    about = as_reviewed(folder.written_benchmark, folder.path, target.path)
    if with_passed:
        about[CHECKED]["level"] = "pass or quarantine"
    applied = apply_reviews(
        session.outcomes(), folder, target, keep_undecided=keep_undecided, passed=passed, about=about
    )
    if (funnel := _of_check(folder, FUNNEL)).exists():
        copy_file(funnel, target.path / FUNNEL)
    else:  # an outdated copy
        (target.path / FUNNEL).unlink(missing_ok=True)
    decisions = ", ".join(f"{count} {name}" for name, count in sorted(applied.counts.items()))
    more = f", and {applied.passed} that passed the gates" if applied.passed else ""
    screen.show(f"{target.data}: {applied.kept} of {len(session.samples)} samples ({decisions}){more}")
    return applied


def _passed_beside(quarantine: DataFolder) -> Iterator[Gold]:
    """The passed labels of the check that wrote a quarantine folder.

    Raises:
        UsageError: The folder is not the quarantine of a check, or the passed labels are missing.
    """
    passed = DataFolder(quarantine.path.resolve().parent)
    checked = quarantine.benchmark.checked
    if checked is None or checked.level != "quarantine" or not passed.data.exists():
        raise UsageError(
            f"is not a quarantine folder of {as_called('check')} with passed samples beside it",
            file=quarantine.path,
            fix="omit --with_passed",
        )
    return (Gold.of(label, line) for line, label in read_labels(passed.data))
