"""The journal of an execution: what was about to be called, what it returned, and how each plan ended."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.calls.execution_record import ExecutedCall, Execution
from toolassay.dataset import RequestId
from toolassay.locks import Closable
from toolassay.requests import key_of
from toolassay.runs.journal import AppendOnlyLines, text_in


@dataclass
class UnfinishedPlan:
    """What is known of a plan whose end is not recorded.

    Attributes:
        plan: Fingerprint of the plan.
        done: The calls with a result, by number of the call.
        intended: Number of the call that was about to be made and has no result; None if there is none.
    """

    plan: str
    done: dict[int, ExecutedCall] = field(default_factory=dict)
    intended: int | None = None


class ExecutionJournal(Closable):
    """An append-only file with the events of every plan; the last end of a plan counts.

    Args:
        path: The file, created if missing.
        is_durable: Whether each intent reaches the disk before the call, so that it survives a power failure;
            needed where a call must not be repeated.

    Raises:
        UsageError: Another process has it open, or a line before the last one is broken.
    """

    def __init__(self, path: Path, *, is_durable: bool = False) -> None:
        self._lines = AppendOnlyLines(path, what="journal")
        self._is_durable = is_durable
        self._ended: dict[str, tuple[int, str, str]] = {}
        self._unfinished: dict[str, UnfinishedPlan] = {}
        try:
            for offset, (key, entry) in self._lines.scan(_checked):
                self._take(offset, key, entry)
        except BaseException:
            self.close()
            raise

    def _take(self, offset: int, key: str, entry: dict[str, Any]) -> None:
        event = entry.get("event")
        if event == "start":
            self._unfinished[key] = UnfinishedPlan(str(entry["plan"]))
        elif event == "call" and key in self._unfinished:
            self._unfinished[key].intended = entry["number"]
        elif event == "withdrawn" and key in self._unfinished:
            self._unfinished[key].intended = None
        elif event == "result" and key in self._unfinished:
            one = self._unfinished[key]
            one.done[entry["number"]], one.intended = ExecutedCall.of(entry["call"]), None
        elif event == "end":
            record = entry["execution"]
            self._ended[key] = offset, str(record.get("plan", "")), record["outcome"]
            if record["outcome"] != "provider_error":  # that one may be continued
                self._unfinished.pop(key, None)

    def outcome(self, item: RequestId, plan: str) -> str | None:
        """How a plan ended; None if its end is not recorded, or is that of another plan."""
        found = self._ended.get(key_of(item))
        return found[2] if found is not None and found[1] == plan else None

    def execution(self, item: RequestId) -> Execution:
        """The last recorded execution of a request.

        Raises:
            KeyError: There is none.
        """
        return Execution.of(self._lines.line_at(self._ended[key_of(item)][0])["execution"])

    def unfinished(self, item: RequestId, plan: str) -> UnfinishedPlan:
        """What an earlier start did of a plan; nothing if it is another plan now."""
        found = self._unfinished.get(key_of(item))
        return found if found is not None and found.plan == plan else UnfinishedPlan(plan)

    def start(self, item: RequestId, plan: str) -> None:
        """A plan is run from its first call."""
        self._add(item, {"event": "start", "plan": plan})

    def intend(self, item: RequestId, number: int, call: ExecutedCall) -> None:
        """A call is about to be made."""
        self._add(
            item, {"event": "call", "number": number, "tool": call.tool, "arguments": dict(call.arguments)}
        )
        if self._is_durable:
            self._lines.force()

    def withdraw(self, item: RequestId, number: int) -> None:
        """A call that was about to be made did not reach its tool."""
        self._add(item, {"event": "withdrawn", "number": number})

    def returned(self, item: RequestId, number: int, call: ExecutedCall) -> None:
        """A call has a result or was refused."""
        self._add(item, {"event": "result", "number": number, "call": call.to_json()})

    def end(self, execution: Execution) -> None:
        """A plan has ended."""
        self._add(execution.id, {"event": "end", "execution": execution.to_json()})

    def _add(self, item: RequestId, entry: dict[str, Any]) -> None:
        key = key_of(item)
        self._take(self._lines.append({"key": key, **entry}), key, entry)

    def close(self) -> None:
        """Close the file and release the lock."""
        self._lines.close()


def _checked(entry: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """The key of an entry, and the entry.

    Raises:
        KeyError, TypeError, ValueError: It is malformed.
    """
    event = entry["event"]
    if event == "start":
        text_in(entry, "plan")
    elif event == "call" and not isinstance(entry["number"], int):
        raise TypeError("the number of a call is no integer")
    elif event == "result":
        ExecutedCall.of(entry["call"])
        if not isinstance(entry["number"], int):
            raise TypeError("the number of a call is no integer")
    elif event == "end":
        Execution.of(entry["execution"])
    return text_in(entry, "key"), entry
