"""A team's own cases: requests with what an agent must do, say and leave, kept in `cases.jsonl`.

Commands that write a data set append the cases to it, so that none of them is overwritten.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import read_json_lines, record_of, write_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.records.dataset import RequestId, read_labels, references_in, shape_of

FILE = "cases.jsonl"
ORIGIN = "case"
"""Value of `origin` in the label of a case."""


class CaseCall(msgspec.Struct, forbid_unknown_fields=True):
    """A call of the gold plan of a case; a value may be a reference to an earlier call (`<node-0>.id`)."""

    tool: str
    arguments: dict[str, Any] = {}


class CaseFact(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """What the answer must state: a value, of a list all members, and its unit or noun."""

    value: Any
    unit: str = ""


class ExpectedState(msgspec.Struct, forbid_unknown_fields=True, rename={"wanted": "is"}, kw_only=True):
    """What a place of the state must be afterwards.

    Attributes:
        place: A file, an object, or a table ("shop.db/orders"), whose rows are places of their own.
        where: The columns that pick the rows of a table.
        wanted: The text of a file or the value of an object; of rows the columns with their values. None: the
            place is gone.
    """

    place: str
    where: dict[str, Any] | None = None
    wanted: Any


class Case(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A line of `cases.jsonl`.

    Attributes:
        request: What the person says.
        id: Id of the request; empty for a hash of it.
        calls: The gold plan; None for none.
        facts: What the final text must state; None if it is not judged.
        state: What calls must leave; None if it is not judged. Every other change is unwanted.
        must_not_call: Ids of tools; a call of one is wrong, and harm.
        tags: Names for groups of cases.
    """

    request: Annotated[str, msgspec.Meta(pattern=r"\S")]
    id: RequestId = ""
    calls: Annotated[list[CaseCall], msgspec.Meta(min_length=1)] | None = None
    facts: list[CaseFact] | None = None
    state: list[ExpectedState] | None = None
    must_not_call: list[str] = []
    tags: list[str] = []

    def __post_init__(self) -> None:
        if self.calls is None and self.facts is None and self.state is None and not self.must_not_call:
            raise ValueError("has nothing to judge: add calls, facts, state or must_not_call")
        self.id = self.id or hashlib.sha256(self.request.encode()).hexdigest()[:12]

    @property
    def tools(self) -> list[str]:
        """Ids of the tools that it names."""
        return [*(call.tool for call in self.calls or ()), *self.must_not_call]

    def label(self) -> dict[str, Any]:
        """Its line of `data.json`; without calls, the parts of a plan are null."""
        plan: dict[str, Any] = dict.fromkeys(("type", "n_tools", "task_nodes", "task_links"))
        if self.calls is not None:
            tools = [call.tool for call in self.calls]
            sources = ((ref.node, call) for call in self.calls for ref in references_in(call.arguments))
            links = dict.fromkeys((tools[node], call.tool) for node, call in sources if node < len(tools))
            plan = {
                "type": shape_of(len(tools), links, tools=tools),
                "n_tools": len(tools),
                "task_nodes": [
                    {
                        "task": call.tool,
                        "arguments": [
                            {"name": name, "value": value} for name, value in call.arguments.items()
                        ],
                    }
                    for call in self.calls
                ],
                "task_links": [{"source": source, "target": target} for source, target in links],
            }
        known = msgspec.to_builtins(self)
        expected = {key: known[key] for key in ("facts", "state", "must_not_call", "tags") if key in known}
        return {"id": self.id, "user_request": self.request, "origin": ORIGIN, **plan, **expected}


def is_case(label: Mapping[str, Any]) -> bool:
    """Whether a label is that of a case."""
    return label.get("origin") == ORIGIN


def has_no_plan(label: Mapping[str, Any]) -> bool:
    """Whether a label is that of a case without calls."""
    return is_case(label) and label.get("task_nodes") is None


def read_cases(folder: Path) -> Iterator[Case]:
    """The cases of a data folder; none without a file of cases.

    Raises:
        UsageError: A line is malformed (names its number).
    """
    path = folder / FILE
    for number, value in read_json_lines(path) if path.is_file() else ():
        yield record_of(value, Case, file=path, line=number, fix="import the cases again")


def case_lines(folder: Path) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The label and the request of each case of a data folder."""
    for case in read_cases(folder):
        yield case.label(), {"id": case.id, "user_request": case.request}


def keep_cases(folder: DataFolder, cases: Sequence[Case]) -> None:
    """Write the cases of a folder, and append them to its data set in place of those of before.

    Raises:
        UsageError: A case has the id of another request, or a file is malformed.
    """
    path = folder.data
    others = [line.value for line in read_labels(path) if not is_case(line.value)] if path.is_file() else []
    if shared := {str(label["id"]) for label in others} & {str(case.id) for case in cases}:
        raise UsageError(f"the id {min(shared)!r} is that of another request", file=path, fix="change it")
    write_json_lines(folder.path / FILE, map(msgspec.to_builtins, cases))
    requests = [{"id": label["id"], "user_request": label.get("user_request")} for label in others]
    lines = list(case_lines(folder.path))
    write_json_lines(path, [*others, *(label for label, _ in lines)])
    write_json_lines(folder.user_requests, [*requests, *(request for _, request in lines)])
