"""Merges annotations by majority vote: labels, annotator agreement, and the files of the merged set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.classic.chats.chat_sample import DROPPED, STEPS, ChatFunnel, Drop
from toolassay.benchmarks.classic.chats.workbook import FLAGS, NONE, Annotation, MessageKey
from toolassay.benchmarks.classic.data import (
    DOMAINS,
    MESSAGES,
    WORKFLOWS,
    ClassicData,
    MessageRow,
    Workflow,
    message_rows,
    write_tables,
)
from toolassay.benchmarks.csv_tables import write_table
from toolassay.console.tables import Table, number
from toolassay.console.text_formatting import count_of
from toolassay.files.data_files import read_json, write_json, write_text
from toolassay.metrics.agreement import agreement_of, agreement_on

Ties = Literal["conflict", "first", "drop"]


@dataclass(frozen=True)
class MergedLabel:
    """The annotations of one message, merged.

    Attributes:
        label: id of a workflow, an empty text where none fits, None for a conflict.
        second: id of another workflow that is right too, or an empty text.
        voters: how many annotators made a choice under Workflow 1.
        flags: reasons to leave the conversation out.
        conflict: why there is no majority; empty where there is one. A settled conflict has a label.
    """

    label: str | None
    second: str
    voters: int
    flags: tuple[str, ...]
    conflict: str = ""


def majority_label(answers: Mapping[str, Annotation], *, settle: bool = False) -> MergedLabel:
    """Merge the annotations of one message by majority.

    The voters are the annotators who made a choice under Workflow 1; "none of these" is a choice, an empty
    cell is not. The label is the choice of more than half of the voters. There is a second label if the label
    is a workflow and more than half of the voters named the second one, first or second. A flag counts if
    more than half of the annotators who filled in anything in the row raised it.

    Args:
        answers: by annotator, in the order of the workbooks.
        settle: without a majority, take the first annotator's choice among those with the most votes.

    >>> majority_label({"a": Annotation("w0"), "b": Annotation("w1"), "c": Annotation("w1")}).label
    'w1'
    >>> majority_label({"a": Annotation("w0"), "b": Annotation("w1")}).conflict
    'a tie'
    """
    flagged = Counter(flag for answer in answers.values() for flag in answer.flags)
    flags = tuple(sorted(flag for flag, number in flagged.items() if 2 * number > len(answers)))
    chosen = [answer for answer in answers.values() if answer.first is not None]
    votes = Counter(answer.first for answer in chosen)
    if not votes:
        return MergedLabel(None, "", 0, flags, "no annotator chose")
    most = max(votes.values())
    leading = [label for label, number in votes.items() if number == most]
    # in the order of the annotators
    label = leading[0]
    conflict = ""
    if 2 * most <= len(chosen):
        conflict = "a tie" if len(leading) > 1 else "no majority"
        if not settle:
            return MergedLabel(None, "", len(chosen), flags, conflict)
    return MergedLabel(label, _second_label(chosen, label) if label else "", len(chosen), flags, conflict)


def _second_label(chosen: list[Annotation], label: str) -> str:
    named = Counter(label for answer in chosen for label in (answer.first, answer.second) if label)
    del named[label]
    if not named:
        return ""
    second, number = min(named.items(), key=lambda item: (-item[1], item[0]))
    return second if 2 * number > len(chosen) else ""


AnnotationsByName = Mapping[str, Mapping[MessageKey, Annotation]]
"""Annotations by annotator, in the order of the workbooks."""


@dataclass(frozen=True)
class MergedSet:
    """A sample merged with its workbooks.

    Attributes:
        rows: the released messages with their labels.
        verdicts: the merged label of every message of the sample.
        funnel: which conversations were left out, and why.
        agreement: agreement on the first labels: of all messages, by domain, by label.
        open_conflicts: messages without a label, in conversations without a flag, that `ties` left open.
    """

    rows: Sequence[MessageRow]
    verdicts: Mapping[MessageKey, MergedLabel]
    funnel: ChatFunnel
    agreement: Mapping[str, Any]
    open_conflicts: int


def merge(data: ClassicData, answers: AnnotationsByName, *, ties: Ties = "conflict") -> MergedSet:
    """Merge the annotations of a sample.

    Conversations stay whole: one is left out if a majority flags one of its messages, or if one of its
    messages has no label by majority.

    Args:
        data: the sample.
        answers: the annotations of each annotator.
        ties: what happens to messages without a majority: `conflict` leaves their conversations out until
            they are decided, `drop` leaves them out for good, `first` takes the first annotator's choice
            among those with the most votes. A message without any vote is never released.
    """
    keys = [(example.conversation, example.request_idx) for example in data.examples]
    given = {key: {name: these[key] for name, these in answers.items() if key in these} for key in keys}
    verdicts = {
        key: majority_label(annotations, settle=ties == "first") for key, annotations in given.items()
    }
    chats: dict[str, list[MessageKey]] = defaultdict(list)
    for key in sorted(keys):
        chats[key[0]].append(key)
    funnel = ChatFunnel(len(chats), len(keys))
    funnel.add("sample", "what was annotated")
    for flag, column in FLAGS.items():
        flagged = {key for key, verdict in verdicts.items() if flag in verdict.flags}
        _leave_out(chats, funnel, flag, f"flagged {column!r}", flagged)
    # Counted before the next two steps remove them: only these conversations wait for a decision.
    unlabelled = {key for key, verdict in verdicts.items() if verdict.label is None}
    waiting = sum(key in unlabelled for these in chats.values() for key in these)
    unseen = {key for key, verdict in verdicts.items() if not verdict.voters}
    _leave_out(chats, funnel, "no_vote", "no annotator chose a label", unseen)
    _leave_out(chats, funnel, "conflict", "no majority for a label", unlabelled)
    kept = {key for these in chats.values() for key in these}
    rows = [
        row._replace(label=verdicts[key].label or "", second_label=verdicts[key].second)
        for key, row in zip(keys, message_rows(data), strict=True)
        if key in kept
    ]
    agreement = _agreement(data, given)
    return MergedSet(rows, verdicts, funnel, agreement, waiting if ties == "conflict" else 0)


def _leave_out(
    chats: dict[str, list[MessageKey]], funnel: ChatFunnel, step: str, why: str, wrong: Collection[MessageKey]
) -> None:
    drops = []
    for name, keys in list(chats.items()):
        number = next((key[1] for key in keys if key in wrong), None)
        if number is not None:
            del chats[name]
            drops.append(Drop(name, len(keys), f"message {number}: {why}"))
    funnel.add(step, why, drops)


def _agreement(data: ClassicData, given: Mapping[MessageKey, Mapping[str, Annotation]]) -> dict[str, Any]:
    votes: dict[str, list[dict[str, str]]] = defaultdict(list)
    for example in data.examples:
        answers = given[example.conversation, example.request_idx].items()
        votes[example.domain].append(
            {name: annotation.first for name, annotation in answers if annotation.first is not None}
        )
    pairs = (
        (domain, vote) for domain, these in votes.items() for message in these for vote in message.values()
    )
    on = {(domain, label): agreement_on(label, votes[domain]) for domain, label in sorted({*pairs})}
    every = [message for these in votes.values() for message in these]
    return {
        "all": agreement_of(every).to_json("messages"),
        "domains": {domain: agreement_of(these).to_json("messages") for domain, these in votes.items()},
        "labels": [
            {"domain": domain, "label": label or None, **figures.to_json("messages")}
            for (domain, label), figures in on.items()
        ],
    }


def card(merged: MergedSet, workflows: Sequence[Workflow], annotators: int, rules: Sequence[str]) -> str:
    """The card of a merged set, in Markdown.

    Args:
        merged: the set.
        workflows: the workflows that agents choose from.
        annotators: how many there are; the card has no names.
        rules: how their choices were merged, a sentence each.
    """
    offered = Counter(workflow.domain for workflow in workflows)
    domains = sorted({row.domain for row in merged.rows})
    counts = [_counts(merged, domain, offered[domain]) for domain in domains]
    counts.append(_counts(merged, None, sum(offered[domain] for domain in domains)))
    agreement = [_agreement_row(name, figures) for name, figures in merged.agreement["domains"].items()]
    agreement.append(_agreement_row(_ALL, merged.agreement["all"]))
    parts = [
        "# Chats and the workflows to start",
        "One example is a chat up to a user message; an agent names the workflow of its domain to start, "
        "or none.",
        Table(("domain", *_COUNTS), counts).markdown(),
        f"## Labels\n\nBy {count_of(annotators, 'annotator')}. " + " ".join(rules),
        Table(("domain", "messages with two votes or more", "raw agreement", "kappa"), agreement).markdown(),
        "First labels of all that was annotated. Kappa is Cohen's for two annotators, Fleiss' for more.",
        f"## What was left out\n\n{merged.funnel.table()}",
    ]
    return "\n\n".join(parts) + "\n"


_ALL = "**all**"
_COUNTS = ("messages", "conversations", "workflows", "no workflow", "two labels")


def _counts(merged: MergedSet, domain: str | None, workflows: int) -> tuple[str | int, ...]:
    rows = [row for row in merged.rows if domain in (None, row.domain)]
    chats = len({row.conversation for row in rows})
    none = sum(not row.label for row in rows)
    two = sum(bool(row.second_label) for row in rows)
    return _ALL if domain is None else domain, len(rows), chats, workflows, none, two


def _agreement_row(name: str, agreement: Mapping[str, Any]) -> tuple[str | int, ...]:
    raw, kappa = (number(agreement[key], 3, unknown="-") for key in ("raw", "kappa"))
    return name, agreement["messages"], raw, kappa


CONFLICTS = "conflicts.csv"
VOTES = "votes.csv"
AGREEMENT = "agreement.json"
_CARD = "README.md"
_BENCHMARK = "benchmark.json"
_FILES = {
    *(CONFLICTS, VOTES, AGREEMENT, STEPS, DROPPED),
    *(_CARD, _BENCHMARK, DOMAINS, WORKFLOWS, MESSAGES),
}


def is_unfinished(folder: Path) -> bool:
    """Whether a folder holds only a merge with open conflicts, which another merge may replace."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not {CONFLICTS, STEPS} <= names <= _FILES:
        return False
    return MESSAGES not in names or bool(read_json(folder / STEPS).get("open_conflicts"))


def remove_unfinished(folder: Path) -> None:
    """Remove the files of an unfinished merge.

    The messages go first: a folder with messages is taken for a data set, also after an interruption.
    """
    for name in (MESSAGES, *sorted(_FILES - {MESSAGES, STEPS, CONFLICTS}), STEPS, CONFLICTS):
        (folder / name).unlink(missing_ok=True)


def write_reports(folder: Path, merged: MergedSet, answers: AnnotationsByName) -> None:
    """Write the votes, the conflicts, the agreement and the funnel."""
    rows = []
    for key, verdict in merged.verdicts.items():
        given = [these[key].first if key in these else None for these in answers.values()]
        notes = [verdict.conflict, "one vote" if verdict.voters == 1 else "", *verdict.flags]
        labels = (*map(_shown, given), _shown(verdict.label), verdict.second, verdict.voters)
        rows.append([*key, *labels, "; ".join(filter(None, notes))])
    columns = ("conversation_uuid", "request_idx", *answers, "label", "second_label", "voters", "note")
    conflicts = (row for row, verdict in zip(rows, merged.verdicts.values(), strict=True) if verdict.conflict)
    write_table(folder / VOTES, columns, rows)
    write_table(folder / CONFLICTS, columns, conflicts)
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


def _shown(label: str | None) -> str:
    return NONE if label == "" else label or ""
