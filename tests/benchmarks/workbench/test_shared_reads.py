"""Copies of a sandbox share what was read of a table: no search may differ from one that reads again."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule

from tests.support.workplace import ANN, BO, TABLES
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import TOOLS, ToolFailure, call

WORDS = [
    "budget",
    "stand",
    "a|b",
    "^s.*p$",
    "(",
    "",
    "nan",
    "2023-12-01",
    "2023-11-28 10:00:00",
    "Lead",
    "0007",
]
IDS = ["00000000", "00000001", "00000002", "00000003"]
FIELDS = ["event_name", "subject", "board", "list_name", "status", "due_date", "new column"]
values = st.sampled_from([*WORDS, *IDS, *FIELDS, ANN, BO, "Design", "Won", 5, 7.5, None, True])


@st.composite
def tool_calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    tool = draw(st.sampled_from(list(TOOLS.values())))
    chosen = draw(st.sets(st.sampled_from(list(tool.arguments)))) | {next(iter(tool.arguments))}
    return tool.name, {name: draw(values) for name in sorted(chosen)}


def result(sandbox: Sandbox, name: str, arguments: dict[str, Any]) -> str:
    try:
        return json.dumps(call(sandbox, name, arguments))
    except ToolFailure as failure:
        return f"failed: {failure}"


def unshared(sandbox: Sandbox) -> Sandbox:
    """A copy that has read nothing yet."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(sandbox.connection.serialize())
    copy = Sandbox(connection)
    copy.overwrites = sandbox.overwrites
    return copy


STATEMENTS = [
    "UPDATE tasks SET board = 'Design' WHERE row = 1",
    "DELETE FROM emails",
    "INSERT INTO directory (label, email_address) VALUES (9, 'new@acme.example')",
]


class Copies(RuleBasedStateMachine):
    """Calls, statements and failures in copies of copies, each compared with a copy that has read nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.copies = [Sandbox.of(TABLES)]

    def chosen(self, number: int) -> Sandbox:
        return self.copies[number % len(self.copies)]

    @rule(number=st.integers(0, 9), made=tool_calls(), again=st.booleans())
    def call(self, number: int, made: tuple[str, dict[str, Any]], again: bool) -> None:
        sandbox = self.chosen(number)
        for _ in range(1 + again):
            other = unshared(sandbox)
            assert result(sandbox, *made) == result(other, *made)
            assert [*sandbox.connection.iterdump()] == [*other.connection.iterdump()]

    @rule(number=st.integers(0, 9), overwrites=st.sampled_from([None, True, False]))
    def fork(self, number: int, overwrites: bool | None) -> None:
        self.copies.append(self.chosen(number).fork(overwrites=overwrites))

    @rule(number=st.integers(0, 9), statement=st.sampled_from(STATEMENTS))
    def statement(self, number: int, statement: str) -> None:
        self.chosen(number).connection.execute(statement)

    @rule(number=st.integers(0, 9), made=st.lists(tool_calls(), max_size=3), later=tool_calls())
    def undo(self, number: int, made: list[tuple[str, dict[str, Any]]], later: tuple[str, Any]) -> None:
        """A tool fails after it has written, and read what it wrote."""
        sandbox = self.chosen(number)
        before = [*sandbox.connection.iterdump()]
        with pytest.raises(ZeroDivisionError), sandbox.transaction():
            for name, arguments in made:
                with contextlib.suppress(ToolFailure, TypeError, AttributeError, ValueError):
                    TOOLS[name].function(sandbox, **arguments)
            _ = 1 / 0
        assert [*sandbox.connection.iterdump()] == before
        self.call(number, later, again=False)

    def teardown(self) -> None:
        for sandbox in self.copies:
            sandbox.close()


Copies.TestCase.settings = settings(max_examples=10, stateful_step_count=30)
TestCopies = Copies.TestCase


def test_copies_share_what_was_read_until_one_of_them_changes(sandbox: Sandbox) -> None:
    copies = [sandbox.fork() for _ in range(2)]
    call(copies[0], "email.search_emails", {"query": ""})
    assert sandbox.reads() is copies[0].reads() is copies[1].reads() != {}
    call(copies[0], "email.delete_email", {"email_id": "00000000"})
    assert copies[0].reads() is not copies[1].reads() is sandbox.reads()
