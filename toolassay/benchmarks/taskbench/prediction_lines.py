"""Converts the raw answers in a journal to the lines of the prediction file; answers are re-parsed each
time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from toolassay.dataset import Request
from toolassay.graph import DependencyType
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs.items import ENDED
from toolassay.runs.journal import Journal, LineAddress
from toolassay.runs.manifest import COUNT

if TYPE_CHECKING:
    from toolassay.answers import ParsedAnswer

_ANSWERS = {"response", "adopted"}


def entry_of(journal: Journal, request: Request) -> dict[str, Any]:
    """The journal entry of a request, with its answers: `response`, `finish_reason`, …, and `reformatted`.

    It is empty if there is none, or it is for an earlier wording. Earlier versions wrote the answers into the
    entry itself.
    """
    key = key_of(request.id)
    entry = journal.get(key)
    if entry.get("request") != request_fingerprint(request.text):
        return {}
    if _ANSWERS & entry.keys():
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


def is_settled(entry: Mapping[str, Any]) -> bool:
    """Whether an entry is final, so that a continued run does not repeat the request."""
    return entry.get("outcome") in ENDED and bool(_ANSWERS & entry.keys())


def is_unusable(entry: Mapping[str, Any], dependency_type: DependencyType) -> bool:
    """Whether the answer of a settled entry is malformed or truncated."""
    if "adopted" in entry or entry["outcome"] == "refused":
        return bool(entry["outcome"] == "malformed")
    return plan_of(entry, dependency_type)[0] is None


def read_entry(
    entry: Mapping[str, Any], dependency_type: DependencyType
) -> tuple[dict[str, Any] | None, ParsedAnswer]:
    """Parse the raw answer of an entry, or its reformatted answer if it has one."""
    from toolassay.benchmarks.taskbench.parse import read_plan  # with the prompts, 30 ms

    text, reason = entry["response"], entry["finish_reason"]
    if "reformatted" in entry:
        text, reason = entry["reformatted"], entry["reformatted_finish_reason"]
    return read_plan(text, dependency_type, reason)


def plan_of(entry: Mapping[str, Any], dependency_type: DependencyType) -> tuple[dict[str, Any] | None, bool]:
    """The plan of an entry (None if malformed), and whether the answer was truncated."""
    plan, answer = read_entry(entry, dependency_type)
    return (None if answer.problem else plan), answer.truncated


def prediction_line(
    request: Request, entry: Mapping[str, Any], dependency_type: DependencyType
) -> dict[str, Any]:
    """The line of a settled entry; a line adopted from an existing file is unchanged.

    >>> entry = {"outcome": "answered", "response": "{}", "finish_reason": "stop"}
    >>> prediction_line(Request(7, "Hi", 1), entry, "resource")
    {'id': 7, 'user_request': 'Hi', 'result': None, 'outcome': 'malformed'}
    """
    if "adopted" in entry:
        line: dict[str, Any] = entry["adopted"]
        return line
    refused = entry["outcome"] == "refused"
    plan, truncated = (None, False) if refused else plan_of(entry, dependency_type)
    line = {"id": request.id, "user_request": request.text, "result": plan}
    if plan is None:
        line["outcome"] = "refused" if refused else "malformed"
        if truncated:
            line["truncated"] = True
    return line


def prediction_lines(
    requests: Iterable[Request], journal: Journal, dependency_type: DependencyType
) -> Iterator[dict[str, Any]]:
    """One line per settled request, in the order of the requests."""
    for request in requests:
        entry = entry_of(journal, request)
        if is_settled(entry):
            yield prediction_line(request, entry, dependency_type)
