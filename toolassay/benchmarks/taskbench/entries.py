"""The journal entries of requests. The scorer reads them without importing what models need."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from msgspec import UNSET, UnsetType

from toolassay.models import ToolCall
from toolassay.records.dataset import Request
from toolassay.records.requests import key_of, request_fingerprint
from toolassay.runs.journal import ItemEntry, Journal, LineAddress


class PlanEntry(ItemEntry):
    """What a request ended with, and its answers, which earlier versions wrote into the entry.

    Attributes:
        rewriter: Name of the model that rewrote the answer.
        plan: The plan of the calls that a model made; None without one, unset where the answer is the plan.
        steps: Number of answers, where calls were made.
        calls: Number of calls.
        refused_calls: Number of calls that had an error.
        answer: The final text, where calls have results.
        made: Its calls, as JSON of `ExecutedCall`.
        states: The environment before the first call, and after the last one with what changed (JSON of two
            `StateSummary`); None if that is not known.
        offered: Ids of the tools that the request showed; None if it showed all.
        request: Hash of the wording.
        adopted: Line of a prediction file that was taken over without a raw answer.
        response: The raw answer; None if it is not recorded.
        reformatted: The rewritten answer; None without one.
    """

    rewriter: str = ""
    plan: dict[str, Any] | UnsetType | None = UNSET
    steps: int | None = None
    calls: int | None = None
    refused_calls: int | None = None
    answer: str = ""
    made: Sequence[dict[str, Any]] = ()
    states: Sequence[dict[str, Any] | None] | None = None
    offered: list[str] | None = None
    request: str = ""
    adopted: dict[str, Any] | None = None
    response: str | None = None
    finish_reason: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    tool_calls: Sequence[ToolCall] | None = None
    reformatted: str | None = None
    reformatted_finish_reason: str | None = None

    @property
    def has_answer(self) -> bool:
        """Whether there is an answer of any kind."""
        return self.response is not None or self.adopted is not None or self.plan is not UNSET


def entry_of(journal: Journal, request: Request) -> PlanEntry:
    """The journal entry of a request, with its answers.

    It has no values if there is none, or it is for an earlier wording.
    """
    key = key_of(request.id)
    entry = journal.entry(key, PlanEntry, request=request_fingerprint(request.text))
    if entry.has_answer or not entry.outcome:
        return entry
    if answer := journal.answer(LineAddress(key, "planner", 0, entry.asked_again)):
        entry.response = answer.text
        entry.finish_reason = answer.finish_reason
        entry.prompt_tokens = answer.prompt_tokens
        entry.completion_tokens = answer.completion_tokens
        entry.tool_calls = answer.tool_calls
    rewriting = LineAddress(key, f"reformat {entry.rewriter}", 0, entry.asked_again)
    if entry.rewriter and (rewritten := journal.answer(rewriting)):
        entry.reformatted = rewritten.text
        entry.reformatted_finish_reason = rewritten.finish_reason
    return entry


def outcome_of_label(journal: Journal, label: dict[str, Any]) -> str:
    """The outcome in the journal of a label's request; empty without an entry."""
    return entry_of(journal, request_of_label(label)).outcome


def request_of_label(label: dict[str, Any]) -> Request:
    """The request of a label."""
    return Request(label["id"], str(label.get("user_request")), 0)
