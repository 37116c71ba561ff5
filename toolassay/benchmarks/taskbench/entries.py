"""The journal entries of requests. The scorer reads them without importing what models need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from toolassay.dataset import Request
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs.journal import Journal, LineAddress
from toolassay.runs.manifest import COUNT

ANSWERS = {"response", "adopted", "plan"}
"""The fields of an entry of which each is an answer."""


def entry_of(journal: Journal, request: Request) -> dict[str, Any]:
    """The journal entry of a request, with its answers: `response`, `finish_reason`, …, and `reformatted`.

    It is empty if there is none, or it is for an earlier wording. Earlier versions wrote the answers into the
    entry itself.
    """
    key = key_of(request.id)
    entry = journal.get(key)
    if entry.get("request") != request_fingerprint(request.text):
        return {}
    if ANSWERS & entry.keys():
        return entry
    again = entry.get(COUNT, 0)
    answer, rewritten = journal.answer(LineAddress(key, "planner", 0, again)), dict[str, Any]()
    if "rewriter" in entry:
        rewritten = journal.answer(LineAddress(key, f"reformat {entry['rewriter']}", 0, again))
    for name in (*LineAddress._fields, "asked"):
        answer.pop(name, None)
    if rewritten:
        answer["reformatted"] = rewritten["response"]
        answer["reformatted_finish_reason"] = rewritten["finish_reason"]
    return {**answer, **entry}


def entry_of_label(journal: Journal, label: Mapping[str, Any]) -> dict[str, Any]:
    """The journal entry of a label's request; empty if there is none."""
    return entry_of(journal, Request(label["id"], str(label.get("user_request")), 0))
