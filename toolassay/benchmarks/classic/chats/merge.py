"""Merges annotations by majority vote: labels, annotator agreement, and the files of the merged set."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from toolassay.benchmarks.classic.chats.chat_funnel import DROPPED, STEPS, ChatFunnel, Drop
from toolassay.benchmarks.classic.chats.workbook import FLAGS, NONE, Annotation, MessageKey
from toolassay.benchmarks.classic.csv_table import write_table
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
from toolassay.files import read_json, write_json, write_text
from toolassay.metrics.agreement import Agreement, agreement_of, agreement_on
from toolassay.text_formatting import count_of

__all__ = ["Agreement", "MergedSet", "Ties", "agreement_of", "merge"]


Ties = Literal["conflict", "first", "drop"]


@dataclass(frozen=True)
class MergedLabel:
    """The merged annotations of one message.

    Args:
        label: id of a workflow, an empty string if no workflow fits, None if there is a conflict.
        second: id of another correct workflow, or an empty string.
        voters: number of annotators who made a choice under Workflow 1.
        flags: reasons to leave out the conversation.
        conflict: why there is no majority; empty if there is one. A settled conflict has a label as well.
    """

    label: str | None
    second: str
    voters: int
    flags: tuple[str, ...]
    conflict: str = ""


def majority_label(
    answers: Mapping[str, Annotation], *, settle: bool = False, any_flag: bool = False
) -> MergedLabel:
    """Merge the annotations of one message.

    The label needs the votes of more than half of the annotators who made a choice under Workflow 1. "None of
    these" is such a choice, an empty cell is not. A second label is added if the label is a workflow and more
    than half of them named the second one first or second. A flag needs more than half of the annotators who
    filled in anything in the row.

    Args:
        answers: by annotator, in the order of the workbooks.
        settle: without a majority, use the choice of the first annotator among those with the most votes.
        any_flag: one annotator suffices for a flag.

    >>> majority_label({"a": Annotation("w0"), "b": Annotation("w1"), "c": Annotation("w1")}).label
    'w1'
    >>> majority_label({"a": Annotation("w0"), "b": Annotation("w1")}).conflict
    'a tie'
    """
    flagged = Counter(flag for answer in answers.values() for flag in answer.flags)
    flags = tuple(sorted(flag for flag, number in flagged.items() if any_flag or 2 * number > len(answers)))
    chosen = [answer for answer in answers.values() if answer.first is not None]
    votes = Counter(answer.first for answer in chosen)
    if not votes:
        return MergedLabel(None, "", 0, flags, "nobody chose")
    most = max(votes.values())
    leading = [label for label, number in votes.items() if number == most]
    label, conflict = leading[0], ""  # in the order of the annotators
    if 2 * most <= len(chosen):
        conflict = "a tie" if len(leading) > 1 else "no majority"
        if not settle:
            return MergedLabel(None, "", len(chosen), flags, conflict)
    return MergedLabel(label, _second_label(chosen, label) if label else "", len(chosen), flags, conflict)


def _second_label(chosen: list[Annotation], label: str) -> str:
    named = Counter(
        workflow
        for answer in chosen
        for workflow in (answer.first, answer.second)
        if workflow not in (None, "", label)
    )
    if not named:
        return ""
    second, number = min(named.items(), key=lambda item: (-item[1], item[0] or ""))
    return (second or "") if 2 * number > len(chosen) else ""


AnnotationsByName = Mapping[str, Mapping[MessageKey, Annotation]]
"""Annotations by annotator, in the order of the workbooks."""


@dataclass(frozen=True)
class MergedSet:
    """A sample merged with its workbooks.

    Args:
        rows: the released messages with their labels.
        verdicts: the merged annotations of every message of the sample.
        funnel: which conversations were left out, and why.
        agreement: on primary labels: over all, by domain, by label.
        open_conflicts: number of messages without a label, in conversations without a flag, left to be
            decided.
    """

    rows: Sequence[MessageRow]
    verdicts: Mapping[MessageKey, MergedLabel]
    funnel: ChatFunnel
    agreement: Mapping[str, Any]
    open_conflicts: int


def merge(
    data: ClassicData, answers: AnnotationsByName, *, ties: Ties = "conflict", any_flag: bool = False
) -> MergedSet:
    """Merge workbooks.

    Conversations stay whole: one is left out if one of its messages is flagged by a majority or has no label
    by majority.

    Args:
        data: the sample.
        answers: of each annotator.
        ties: the treatment of messages without a majority. `conflict` leaves out their conversations until
            they are decided, `drop` leaves them out for good, `first` uses the choice of the first annotator
            among those with the most votes. A message without any choice is never released.
        any_flag: one annotator suffices to flag a message.
    """
    keys = [(example.conversation, example.request_idx) for example in data.examples]
    given = {key: {name: these[key] for name, these in answers.items() if key in these} for key in keys}
    verdicts = {
        key: majority_label(found, settle=ties == "first", any_flag=any_flag) for key, found in given.items()
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
    _leave_out(chats, funnel, "no_vote", "nobody chose a label", unseen)
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
        place = next((key[1] for key in keys if key in wrong), None)
        if place is not None:
            del chats[name]
            drops.append(Drop(name, len(keys), f"message {place}: {why}"))
    funnel.add(step, why, drops)


def _agreement(data: ClassicData, given: Mapping[MessageKey, Mapping[str, Annotation]]) -> dict[str, Any]:
    votes: dict[str, list[dict[str, str]]] = defaultdict(list)
    for example in data.examples:
        answers = given[example.conversation, example.request_idx]
        votes[example.domain].append(
            {name: answer.first for name, answer in answers.items() if answer.first is not None}
        )
    everything = [message for these in votes.values() for message in these]
    labels = sorted(
        {(domain, vote) for domain, these in votes.items() for message in these for vote in message.values()}
    )
    return {
        "all": _figures(agreement_of(everything)),
        "domains": {domain: _figures(agreement_of(these)) for domain, these in votes.items()},
        "labels": [
            {"domain": domain, "label": label or None, **_figures(agreement_on(label, votes[domain]))}
            for domain, label in labels
        ],
    }


def _figures(agreement: Agreement) -> dict[str, Any]:
    return agreement.to_json("messages")


def card(merged: MergedSet, workflows: Sequence[Workflow], annotators: int, rules: Sequence[str]) -> str:
    """The data set's card, in Markdown.

    Args:
        merged: the data set.
        workflows: that agents can choose.
        annotators: their number; their names are not published.
        rules: how annotations were merged, one sentence each.
    """
    offered = Counter(workflow.domain for workflow in workflows)
    domains = sorted({row.domain for row in merged.rows})
    parts = [
        "# Chats and the workflows to start",
        "One example is a chat up to a user message; an agent names the workflow of its domain to start, "
        "or none.",
        "| domain | messages | conversations | workflows | no workflow | two labels |\n"
        "| --- | ---: | ---: | ---: | ---: | ---: |\n"
        + "\n".join(_counts(merged, domain, offered[domain]) for domain in domains)
        + "\n"
        + _counts(merged, None, sum(offered[domain] for domain in domains)),
        f"## Labels\n\nBy {count_of(annotators, 'annotator')}. " + " ".join(rules),
        "| domain | messages with two votes or more | raw agreement | kappa |\n| --- | ---: | ---: | ---: |\n"
        + "\n".join(_agreement_row(name, found) for name, found in _agreement_by_domain(merged.agreement)),
        "First labels of all that was annotated. Kappa is Cohen's for two annotators, Fleiss' for more.",
        f"## What was left out\n\n{merged.funnel.table()}",
    ]
    return "\n\n".join(parts) + "\n"


def _counts(merged: MergedSet, domain: str | None, workflows: int) -> str:
    rows = [row for row in merged.rows if domain in (None, row.domain)]
    chats = len({row.conversation for row in rows})
    none, two = sum(not row.label for row in rows), sum(bool(row.second_label) for row in rows)
    name = "**all**" if domain is None else domain
    return f"| {name} | {len(rows):,} | {chats:,} | {workflows:,} | {none:,} | {two:,} |"


def _agreement_by_domain(agreement: Mapping[str, Any]) -> list[tuple[str, Mapping[str, Any]]]:
    return [*agreement["domains"].items(), ("**all**", agreement["all"])]


def _agreement_row(name: str, found: Mapping[str, Any]) -> str:
    raw, kappa = ("-" if found[key] is None else f"{found[key]:.3f}" for key in ("raw", "kappa"))
    return f"| {name} | {found['messages']:,} | {raw} | {kappa} |"


CONFLICTS, VOTES, AGREEMENT = "conflicts.csv", "votes.csv", "agreement.json"
_CARD, _BENCHMARK = "README.md", "benchmark.json"
_FILES = {
    *(CONFLICTS, VOTES, AGREEMENT, STEPS, DROPPED),
    *(_CARD, _BENCHMARK, DOMAINS, WORKFLOWS, MESSAGES),
}


def is_unfinished(folder: Path) -> bool:
    """Whether a folder has only a merge that waits for decisions, so that it may be overwritten."""
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if not {CONFLICTS, STEPS} <= names <= _FILES:
        return False
    return MESSAGES not in names or bool(read_json(folder / STEPS).get("open_conflicts"))


def remove_unfinished(folder: Path) -> None:
    """Remove the files of such a merge. The messages go first, so that an interruption leaves no data set."""
    for name in (MESSAGES, *sorted(_FILES - {MESSAGES, STEPS, CONFLICTS}), STEPS, CONFLICTS):
        (folder / name).unlink(missing_ok=True)


def write_reports(folder: Path, merged: MergedSet, answers: AnnotationsByName) -> None:
    """Write all votes, the conflicts, the agreement and the funnel."""
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


def _votes(key: MessageKey, merged: MergedSet, answers: AnnotationsByName) -> list[object]:
    verdict = merged.verdicts[key]
    given = [these[key].first if key in these else None for these in answers.values()]
    notes = [verdict.conflict, "one vote" if verdict.voters == 1 else "", *verdict.flags]
    return [
        *(*key, *map(_shown, given), _shown(verdict.label), verdict.second, verdict.voters),
        "; ".join(note for note in notes if note),
    ]


def _shown(label: str | None) -> str:
    return NONE if label == "" else label or ""
