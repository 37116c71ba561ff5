"""The review: people look at the samples of a data folder, and what comes of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.work_folder import graph_of
from toolassay.data_folder import DataFolder
from toolassay.dataset import read_labels
from toolassay.errors import UsageError
from toolassay.files import atomic_target, write_json, write_text
from toolassay.gates.gate import Background
from toolassay.gates.gate_pipeline import gate_pipeline
from toolassay.review.apply import Applied, apply_reviews
from toolassay.review.findings import FILE, Findings, read_findings
from toolassay.review.outcome import markdown, verification
from toolassay.review.samples import Shares, Unchanged, read_samples
from toolassay.review.session import QUEUES, Queue, Session
from toolassay.review.sheets import read_sheet, rows_of, take_sheet, write_sheet
from toolassay.review.store import FOLDER, Log, ReviewStore, checked_name
from toolassay.runs.event_loop import run_coroutine
from toolassay.screen import DEFAULT, WARNING, Screen
from toolassay.stages.checked import CHECKED, FUNNEL, QUARANTINE, as_reviewed
from toolassay.text_formatting import count_of


def review_session(
    data_dir: str | Path,
    *,
    gates: str | Path | None = None,
    dependency_type: str | None = None,
    reviewers: Sequence[str] = (),
    each: int = 0,
    screen: Screen = DEFAULT,
) -> Session:
    """The review of a data folder: samples, findings, and what everybody has decided so far.

    Args:
        data_dir: holds `data.json` and the tools.
        gates: a `gates.jsonl`; default that of the folder; without one the gates look at a sample when it is
            shown.
        dependency_type: resource or temporal; default what the folder says.
        reviewers: names among whom the samples are shared out; empty: everybody looks at all.
        each: how many of them look at each sample; 0: all.
        screen: who listens.

    Raises:
        UsageError: a file is missing or malformed, or the shares cannot be made.
    """
    shares = Shares([checked_name(name) for name in reviewers], each)
    folder = DataFolder(Path(data_dir)).require()
    graph = graph_of(folder, dependency_type, say=screen.say)
    background = Background(graph.library, graph.dependency_type, graph)
    unchanged = Unchanged(folder.data)
    samples = read_samples(folder.data)
    path = Path(gates) if gates is not None else _gates_of(folder)
    written = read_findings(path) if gates is not None or path.exists() else {}
    if written and written.keys().isdisjoint(sample.id for sample in samples):
        screen.say(f"{WARNING}{path} speaks of none of the samples")
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


def _gates_of(folder: DataFolder) -> Path:
    """What the gates said of the samples of a folder."""
    return _of_check(folder, FILE)


def _of_check(folder: DataFolder, name: str) -> Path:
    """A file of a check: beside the folder for one of those in quarantine, else in it."""
    own = folder.path / name
    apart = CHECKED in folder.benchmark and folder.path.resolve().name == QUARANTINE and not own.exists()
    return folder.path.resolve().parent / name if apart else own


def start_review(
    data_dir: str | Path,
    *,
    reviewer: str = "",
    queue: str = "all",
    port: int = 0,
    open_browser: bool = False,
    gates: str | Path | None = None,
    dependency_type: str | None = None,
    reviewers: Sequence[str] = (),
    each: int = 0,
    screen: Screen = DEFAULT,
) -> None:
    """Serve the page of a review on 127.0.0.1 until interrupted.

    Every action is on the disk (`reviews/<reviewer>.jsonl`) before the page says that it is saved; the page
    opens at the first sample the reviewer has not decided.

    Args:
        data_dir: holds `data.json` and the tools.
        reviewer: a name; empty has the page ask for it.
        queue: all, or conflicts: what reviewers differ on, for an adjudicator.
        port: 0 takes a free one.
        open_browser: show the page in the browser.
        gates: a `gates.jsonl`; default that of the folder, else the gates are run.
        dependency_type: resource or temporal; default what the folder says.
        reviewers: names among whom the samples are shared out; empty: everybody looks at all.
        each: how many of them look at each sample; 0: all.
        screen: shown the address when there is one.

    Raises:
        UsageError: a file is missing or malformed, a name that cannot be used, a port that is taken.
        KeyboardInterrupt: at Ctrl-C.
    """
    chosen: Queue | None = next((name for name in QUEUES if name == queue), None)
    if chosen is None:
        raise UsageError(f"unknown queue '{queue}'", fix=f"use {' or '.join(QUEUES)}")
    session = review_session(
        data_dir, gates=gates, dependency_type=dependency_type, reviewers=reviewers, each=each, screen=screen
    )
    if reviewer:
        reviewer = checked_name(reviewer)
        session.store.log(reviewer)
        if chosen == "all":
            session.shares.check(reviewer)

    async def run() -> None:
        from toolassay.review.server import ReviewServer

        server = ReviewServer(session, reviewer=reviewer, queue=chosen)
        await server.open(port)
        screen.show(server.address)
        screen.say("open that address in a browser on this machine; Ctrl-C ends the review, all is saved")
        if open_browser:
            import webbrowser

            await asyncio.to_thread(webbrowser.open, server.address)
        try:
            await asyncio.Event().wait()
        finally:
            await server.close()

    run_coroutine(run())


def review_summary(data_dir: str | Path, *, screen: Screen = DEFAULT) -> dict[str, object]:
    """The table of human verification and the agreement of the reviewers, in `reviews/table.json` and `.md`.

    Args:
        data_dir: the folder that was reviewed.
        screen: shown the tables.

    Returns:
        The object of `table.json`.

    Raises:
        UsageError: a file is missing or malformed.
    """
    table = verification(review_session(data_dir, screen=screen).outcomes())
    pieces = markdown(table)
    for heading, rows in pieces:
        screen.show(heading)
        screen.table(rows)
        screen.show("")
    everything = table["samples"]["all"]
    if everything["undecided"]:
        stale = (
            f", {everything['stale']} of them decided on an earlier version" if everything["stale"] else ""
        )
        screen.say(f"{count_of(everything['undecided'], 'sample')} undecided{stale}")
    if everything["conflicts"]:
        screen.say(f"{count_of(everything['conflicts'], 'conflict')}: settle with --queue conflicts")
    folder = Path(data_dir) / FOLDER
    write_json(folder / "table.json", table)
    write_text(folder / "table.md", "\n".join(f"{heading}\n\n{rows}\n" for heading, rows in pieces))
    return table


def export_reviews(
    data_dir: str | Path,
    file: str | Path,
    *,
    reviewer: str = "",
    gates: str | Path | None = None,
    reviewers: Sequence[str] = (),
    each: int = 0,
    screen: Screen = DEFAULT,
) -> int:
    """Write the samples as a sheet to fill in, with what the reviewer has decided; how many rows.

    Args:
        data_dir: holds `data.json` and the tools.
        file: an `.xlsx` or `.csv`.
        reviewer: whose decisions stand in it; empty: nobody's.
        gates: a `gates.jsonl`; default that of the folder, else the gates are run.
        reviewers: names among whom the samples are shared out; the sheet holds the reviewer's share.
        each: how many of them look at each sample; 0: all.
        screen: who listens.

    Raises:
        UsageError: a file is missing or malformed, or the sheet is of another kind.
    """
    session = review_session(data_dir, gates=gates, reviewers=reviewers, each=each, screen=screen)
    reviewer = checked_name(reviewer) if reviewer else ""
    log = session.store.log(reviewer) if reviewer else Log()
    session.shares.check(reviewer)
    samples = tuple(sample for sample in session.samples if session.shares.holds(reviewer, sample.id))
    count = write_sheet(Path(file), rows_of(samples, session.findings, log))
    screen.show(f"{file}: {count_of(count, 'sample')}")
    return count


def import_reviews(
    data_dir: str | Path, file: str | Path, *, reviewer: str, insist: bool = False, screen: Screen = DEFAULT
) -> int:
    """Take in a sheet that was filled in: all of it or, if a row is wrong, nothing; how much was new.

    Args:
        data_dir: the folder the sheet was made of.
        file: an `.xlsx` or `.csv`.
        reviewer: who filled it in.
        insist: save fixes that the gates reject, which is noted.
        screen: who listens.

    Raises:
        UsageError: rows are wrong (tells which), or a file is missing or malformed.
    """
    session = review_session(data_dir, screen=screen)
    count = take_sheet(session, read_sheet(Path(file)), checked_name(reviewer), Path(file), insist=insist)
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
    """Write the data folder that the decisions make of this one.

    Args:
        data_dir: the folder that was reviewed.
        out: another folder; made if missing.
        keep_undecided: keep what nobody has decided on; else it is left out.
        with_passed: of the quarantine of a check: take along what passed the gates.
        screen: told the counts.

    Raises:
        IncompleteError: reviewers differ on samples that nobody has settled.
        UsageError: a file is missing or malformed, `out` holds another data set, or `with_passed` of what is
            no quarantine.
        ToolassayError: no sample is left.
    """
    folder, target = DataFolder(Path(data_dir)), DataFolder(Path(out))
    passed = _passed_beside(folder) if with_passed else ()
    session = review_session(data_dir, screen=screen)
    about = as_reviewed(folder.benchmark, folder.path, target.path)
    if with_passed:
        about[CHECKED]["level"] = "pass or quarantine"
    applied = apply_reviews(
        session.outcomes(), folder, target, keep_undecided=keep_undecided, passed=passed, about=about
    )
    _copy_funnel(_of_check(folder, FUNNEL), target.path / FUNNEL)
    told = ", ".join(f"{count} {name}" for name, count in sorted(applied.counts.items()))
    more = f", and {applied.passed} that passed the gates" if applied.passed else ""
    screen.show(f"{target.data}: {applied.kept} of {len(session.samples)} samples ({told}){more}")
    return applied


def _passed_beside(quarantine: DataFolder) -> Iterator[Mapping[str, Any]]:
    """The labels that passed where these were put in quarantine.

    Raises:
        UsageError: this is no quarantine of a check, or what passed is gone or malformed.
    """
    passed = DataFolder(quarantine.path.resolve().parent)
    checked = quarantine.benchmark.get(CHECKED)
    if not isinstance(checked, Mapping) or checked.get("level") != "quarantine" or not passed.data.exists():
        raise UsageError(
            "is no quarantine that toolassay check wrote: nothing passed beside it",
            file=quarantine.path,
            fix="leave --with_passed out",
        )
    return (label for _, label in read_labels(passed.data))


def _copy_funnel(funnel: Path, copy: Path) -> None:
    """Have what the gates counted before the review stand beside what it left; that of another set goes."""
    if not funnel.exists():
        copy.unlink(missing_ok=True)
        return
    with atomic_target(copy) as stream:
        stream.write(funnel.read_bytes())
