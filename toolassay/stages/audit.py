"""The audit of verdicts: people judge outcomes of a model in a sheet, and reports correct its accuracy.

The sheet shows neither verdicts nor gold. Decisions are in `audits/<model>/<reviewer>.jsonl` of the data
folder, in the form of `reviews/`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import msgspec

from toolassay.console.text_formatting import shortened
from toolassay.errors import UsageError
from toolassay.evaluation.items import OUTCOME, OUTCOME_AT_BEST, read_executed
from toolassay.files.data_files import read_json_lines, safe_name, unescaped_json
from toolassay.files.spreadsheets import SheetRow, rows_error
from toolassay.metrics.confidence_interval import AuditedStratum
from toolassay.plans.execution_record import Execution, read_executions
from toolassay.records.dataset import RequestId
from toolassay.reports.scoreboard import VerdictAudit
from toolassay.review.decision import Log, OutcomeDecision, Record, ReviewStore
from toolassay.review.samples import short_hash
from toolassay.review.sheets import SheetForm, id_text, read_sheet, write_sheet
from toolassay.stages.leaderboard import ScoredFolder
from toolassay.stages.outcomes import executions_file
from toolassay.stages.settings import AuditSettings

VERDICTS = ("wrong", "undecided", "right")
"""By the number of right ones among the outcome and the outcome at best."""
_DECISIONS: Mapping[str, OutcomeDecision] = {"yes": "right", "no": "wrong"}
# Widths in characters.
_SHOWN = {"id": 12, "fingerprint": 18, "request": 50, "calls": 70, "changes": 50, "answer": 50}
_FORM = SheetForm({**_SHOWN, "right": 10, "note": 30}, ("right", "note"), tuple(_DECISIONS))
_LONGEST = 1_000  # characters of a result; a person needs no more of a long page


@dataclass(frozen=True)
class AuditItem:
    """What a model did about a request.

    Attributes:
        id: Id of the request.
        verdict: One of `VERDICTS`, which reviewers do not see.
        shown: What they see, by column.
        fingerprint: A hash of that.
    """

    id: RequestId
    verdict: str
    shown: Mapping[str, str]
    fingerprint: str

    @property
    def judged_as(self) -> str:
        """The fingerprint in a decision: a sample of the items with one verdict is none of another's."""
        return f"{self.fingerprint} {self.verdict}"


def audit_items(folder: ScoredFolder, llm: str) -> Iterator[AuditItem]:
    """Each item with a verdict that ranks: what the model did in the first run that has one.

    Args:
        folder: Data folder.
        llm: Name of the model.
    """
    executed = read_executed(folder.items_file(llm))
    if executed is None or executed.problem:
        return
    for trial in folder.trials(llm):
        lines = {line["id"]: line for _, line in read_json_lines(trial.output)}
        path = executions_file(trial)
        for execution in read_executions(path) if path.is_file() else ():
            runs = executed.verdicts.get(str(execution.id), {})
            if trial.number == min(runs, default=None):  # the first run with a verdict
                scores = runs[trial.number].scores
                bounds = [scores[OUTCOME], scores.get(OUTCOME_AT_BEST, scores[OUTCOME])]
                shown = _shown(execution, lines.get(execution.id, {}))
                fingerprint = short_hash([execution.id, shown])
                yield AuditItem(execution.id, VERDICTS[bounds.count(1.0)], shown, fingerprint)


def _shown(execution: Execution, line: Mapping[str, Any]) -> dict[str, str]:
    """What reviewers see of an execution, and of the line of a prediction file."""
    calls = [
        f"{call.tool}({unescaped_json(call.arguments)}) -> "
        + shortened(call.error or unescaped_json(call.result), _LONGEST)
        for call in execution.calls
    ]
    changes = [f"{path}: {unescaped_json(change)}" for path, change in (execution.changes or {}).items()]
    return {
        "request": line.get("user_request", ""),
        "calls": "\n".join([*calls, execution.reason]),
        "changes": "\n".join(changes),
        "answer": line.get("answer", ""),
    }


def drawn_items(items: Sequence[AuditItem], count: int, seed: int = 0) -> list[AuditItem]:
    """Items in equal parts from those with each verdict, as far as there are, in an order that hides it.

    A larger draw with the same seed has the items of a smaller one.

    Args:
        items: All items.
        count: Number of items to draw.
        seed: Random seed of the draw.
    """
    order = sorted(items, key=lambda item: short_hash([seed, item.id]))
    strata = ([item for item in order if item.verdict == verdict] for verdict in VERDICTS)
    drawn = [item for turn in zip_longest(*strata) for item in turn if item is not None][:count]
    return sorted(drawn, key=lambda item: item.fingerprint)


def write_audit(data_dir: Path, file: Path, settings: AuditSettings, count: int) -> int:
    """Write a sheet with drawn outcomes; returns the number of rows.

    Args:
        data_dir: Data folder.
        file: An `.xlsx` or `.csv` file.
        settings: The model, and where its predictions are.
        count: Number of outcomes to draw.

    Raises:
        UsageError: The model has no verdicts that rank, or the file has another ending.
    """
    rows = (
        {"id": id_text(item.id), "fingerprint": item.fingerprint, **item.shown, "right": "", "note": ""}
        for item in drawn_items(_items_of(data_dir, settings), count, settings.seed)
    )
    return write_sheet(file, rows, _FORM)


def take_audit(data_dir: Path, file: Path, settings: AuditSettings, reviewer: str) -> int:
    """Save the decisions of a sheet, all or none; returns the number of new ones.

    Args:
        data_dir: Data folder.
        file: The sheet.
        settings: The model, and where its predictions are.
        reviewer: The reviewer who filled it in.

    Raises:
        UsageError: Rows are wrong (the message names them), or the model has no verdicts that rank.
    """
    # Not by id, which spreadsheets turn into dates and numbers.
    items = {item.fingerprint: item for item in _items_of(data_dir, settings)}
    problems: list[tuple[SheetRow, str]] = []
    records: list[Record] = []
    for row in read_sheet(file, _FORM):
        item = items.pop(row.cells["fingerprint"].strip(), None)
        answer = row.cells["right"].strip().casefold()
        if item is None:
            problems.append((row, "is there twice, or the model's predictions changed: export it again"))
        elif answer in _DECISIONS:
            records.append(
                Record(item.id, item.judged_as, _DECISIONS[answer], reviewer, note=row.cells["note"])
            )
        elif answer:
            problems.append((row, f"'{answer[:40]}' is neither yes nor no (column 'right')"))
    if problems:
        raise rows_error(file, problems)

    def new_records(log: Log) -> list[Record]:
        standing = log.standing("reviewer").values()
        # The time alone makes no new decision.
        kept = [msgspec.structs.replace(record, when="") for record in standing]
        return [record for record in records if record not in kept]

    return len(_store(data_dir, settings.verdicts).append(reviewer, new_records))


def _items_of(data_dir: Path, settings: AuditSettings) -> list[AuditItem]:
    llm = settings.verdicts
    folder = ScoredFolder.at(data_dir, settings.prediction_dir, settings.metrics_dir)
    items = list(audit_items(folder, llm))
    if not items:
        raise UsageError(f"there are no outcomes of {llm} that rank", fix=folder.fix(llm))
    return items


def _store(data_dir: Path, llm: str) -> ReviewStore:
    return ReviewStore(data_dir, f"audits/{safe_name(llm)}")


def read_audit(folder: ScoredFolder, llm: str, n_items: int) -> VerdictAudit | None:
    """What reviewers say of a model's outcomes, by majority; None without decisions.

    Args:
        folder: Data folder.
        llm: Name of the model.
        n_items: Number of items behind its accuracy: those with a verdict, and those left unanswered.
    """
    logs = _store(folder.folder.path, llm).logs()
    if not logs:
        return None
    decisions = [log.standing("reviewer") for log in logs.values()]
    strata = dict.fromkeys(VERDICTS, AuditedStratum(0, 0, 0))
    ties = 0
    stale = sum(map(len, decisions))
    for item in audit_items(folder, llm):
        records = [of_reviewer.get(item.id) for of_reviewer in decisions]
        votes = [record.action for record in records if record and record.fingerprint == item.judged_as]
        lead = votes.count("right") - votes.count("wrong")
        stale -= len(votes)
        ties += bool(votes) and not lead
        size, judged, right = strata[item.verdict]
        strata[item.verdict] = AuditedStratum(size + 1, judged + bool(lead), right + (lead > 0))
    # Chosen items may be fewer than those with a verdict.
    unanswered = max(0, n_items - sum(stratum.items for stratum in strata.values()))
    strata["unanswered"] = AuditedStratum(unanswered, unanswered, 0)
    return VerdictAudit(list(logs), strata, ties, stale)
