"""The clean set, and what did not make it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from toolassay.benchmarks.classic.chats.answer import Answer, Key
from toolassay.benchmarks.classic.chats.funnel import Drop, Funnel
from toolassay.benchmarks.classic.chats.merge.verdict import Ties, Verdict, decide
from toolassay.benchmarks.classic.chats.tables import MessageRow, message_rows
from toolassay.benchmarks.classic.chats.workbook.layout import FLAGS
from toolassay.benchmarks.classic.data import ClassicData
from toolassay.metrics.agreement import Agreement, agreement_of, agreement_on

Answers = Mapping[str, Mapping[Key, Answer]]
"""By annotator, in the order of the workbooks."""


@dataclass(frozen=True)
class MergedSet:
    """What came of a sample and its workbooks.

    Args:
        rows: of the messages that are released, with their labels.
        verdicts: on every message of the sample.
        funnel: which conversations were left out, and why.
        agreement: of the first labels: over all, by domain, by label.
        open_conflicts: messages without a label, in conversations without a flag, that `ties` left open.
    """

    rows: Sequence[MessageRow]
    verdicts: Mapping[Key, Verdict]
    funnel: Funnel
    agreement: Mapping[str, Any]
    open_conflicts: int


def merge(
    data: ClassicData, answers: Answers, *, ties: Ties = "conflict", any_flag: bool = False
) -> MergedSet:
    """Put workbooks together.

    Conversations stay whole: one is left out if a majority flags one of its messages, or if one of them has
    no label by majority.

    Args:
        data: the sample.
        answers: of each annotator.
        ties: what becomes of messages without a majority: `conflict` leaves their conversations out until
            they are decided, `drop` leaves them out for good, `first` takes the choice of the first annotator
            among those with the most votes. A message for which nobody chose anything is never released.
        any_flag: one annotator is enough to flag a message.
    """
    keys = [(example.conversation, example.request_idx) for example in data.examples]
    given = {key: {name: these[key] for name, these in answers.items() if key in these} for key in keys}
    verdicts = {key: decide(found, settle=ties == "first", any_flag=any_flag) for key, found in given.items()}
    chats: dict[str, list[Key]] = defaultdict(list)
    for key in sorted(keys):
        chats[key[0]].append(key)
    funnel = Funnel(len(chats), len(keys))
    funnel.add("sample", "what was annotated")
    for flag, column in FLAGS.items():
        flagged = {key for key, verdict in verdicts.items() if flag in verdict.flags}
        _leave_out(chats, funnel, flag, f"flagged {column!r}", flagged)
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
    chats: dict[str, list[Key]], funnel: Funnel, step: str, why: str, wrong: Collection[Key]
) -> None:
    drops = []
    for name, keys in list(chats.items()):
        place = next((key[1] for key in keys if key in wrong), None)
        if place is not None:
            del chats[name]
            drops.append(Drop(name, len(keys), f"message {place}: {why}"))
    funnel.add(step, why, drops)


def _agreement(data: ClassicData, given: Mapping[Key, Mapping[str, Answer]]) -> dict[str, Any]:
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
