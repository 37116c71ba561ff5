"""The files of a merged set."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from toolassay.benchmarks.classic.chats.answer import Key
from toolassay.benchmarks.classic.chats.funnel import DROPPED, STEPS
from toolassay.benchmarks.classic.chats.merge.card import card
from toolassay.benchmarks.classic.chats.merge.merged import Answers, MergedSet
from toolassay.benchmarks.classic.chats.tables import write_tables
from toolassay.benchmarks.classic.chats.workbook.layout import NONE
from toolassay.benchmarks.classic.data import ClassicData
from toolassay.benchmarks.classic.data.folder import DOMAINS, MESSAGES, WORKFLOWS
from toolassay.benchmarks.classic.data.table import write_table
from toolassay.files import read_json, write_json, write_text

CONFLICTS, VOTES, AGREEMENT = "conflicts.csv", "votes.csv", "agreement.json"
_CARD, _BENCHMARK = "README.md", "benchmark.json"
_FILES = {
    *(CONFLICTS, VOTES, AGREEMENT, STEPS, DROPPED),
    *(_CARD, _BENCHMARK, DOMAINS, WORKFLOWS, MESSAGES),
}


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds a merge that waits for decisions, and nothing else: it may be made again."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not {CONFLICTS, STEPS} <= names <= _FILES:
        return False
    return MESSAGES not in names or bool(read_json(folder / STEPS).get("open_conflicts"))


def remove_unfinished(folder: Path) -> None:
    """Remove the files of such a merge; the tables first, so that what is left is never taken for a set."""
    for name in (MESSAGES, *sorted(_FILES - {MESSAGES, STEPS, CONFLICTS}), STEPS, CONFLICTS):
        (folder / name).unlink(missing_ok=True)


def write_reports(folder: Path, merged: MergedSet, answers: Answers) -> None:
    """Write every vote, the conflicts, the agreement, and what was left out."""
    rows = {key: _votes(key, merged, answers) for key in merged.verdicts}
    columns = ("conversation_uuid", "request_idx", *answers, "label", "second_label", "voters", "note")
    write_table(folder / VOTES, columns, rows.values())
    write_table(
        folder / CONFLICTS,
        columns,
        (row for key, row in rows.items() if merged.verdicts[key].conflict),
    )
    write_json(folder / AGREEMENT, merged.agreement)
    merged.funnel.write(folder, annotators=len(answers), open_conflicts=merged.open_conflicts)


def write_set(
    folder: Path, merged: MergedSet, data: ClassicData, annotators: int, rules: Sequence[str]
) -> None:
    """Write the tables of the released messages, their card and `benchmark.json`."""
    domains = {
        name: title for name, title in data.domains.items() if any(row.domain == name for row in merged.rows)
    }
    workflows = [workflow for domain in domains for workflow in data.workflows[domain]]
    write_text(folder / _CARD, card(merged, workflows, annotators, rules))
    write_json(
        folder / _BENCHMARK,
        {
            "benchmark": "classic",
            "source": "own chats, annotated and merged by toolassay classic build",
            "conversations": merged.funnel.conversations,
            "messages": len(merged.rows),
            "workflows": len(workflows),
            "annotators": annotators,
        },
    )
    write_tables(folder, merged.rows, workflows, domains)


def _votes(key: Key, merged: MergedSet, answers: Answers) -> list[object]:
    verdict = merged.verdicts[key]
    given = [these[key].first if key in these else None for these in answers.values()]
    notes = [verdict.conflict, "one vote" if verdict.voters == 1 else "", *verdict.flags]
    return [
        *(*key, *map(_shown, given), _shown(verdict.label), verdict.second, verdict.voters),
        "; ".join(note for note in notes if note),
    ]


def _shown(label: str | None) -> str:
    return NONE if label == "" else label or ""
