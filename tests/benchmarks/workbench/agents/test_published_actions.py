"""What the published agents of WorkBench wrote, read as it was read then and as it is read now."""

from __future__ import annotations

import ast
import csv
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from toolassay.benchmarks.workbench.agents.native_and_react import CallFormat, PublishedReact, React
from toolassay.models import ChatResponse

EVERY = 3  # of the published runs of a file, which hold some 7,200 actions together


class Written(NamedTuple):
    """What a model wrote, and the action that the published agent carried out."""

    text: str
    name: str
    given: Any


def published(folder: Path) -> Iterator[Written]:
    """The actions in the published results, from the Python text in which these hold them."""
    for path in sorted(folder.rglob("*.csv")):
        with path.open(encoding="utf-8", newline="") as stream:
            rows = [row["full_response"] for row in csv.DictReader(stream)]
        for text in rows[::EVERY]:
            for node in ast.walk(ast.parse(text.replace(": nan", ": None"), mode="eval")) if text else ():
                if isinstance(node, ast.Call) and ast.unparse(node.func) == "AgentAction":
                    made = {str(item.arg): ast.literal_eval(item.value) for item in node.keywords}
                    yield Written(made["log"], made["tool"], made["tool_input"])


def read(form: CallFormat, text: str) -> tuple[str, Any]:
    (call,) = form.read(ChatResponse(text), 1).asked or (None,)
    if call is None:
        return "", None
    try:
        given = json.loads(call.arguments)
    except ValueError:
        given = call.arguments
    return call.name, given


@pytest.fixture(scope="module")
def actions(reference: Path) -> list[Written]:
    csv.field_size_limit(sys.maxsize)
    found = list(published(reference / "workbench" / "results"))
    assert len(found) > 500
    return found


def test_published_actions_are_read_as_published(actions: list[Written]) -> None:
    for text, name, given in actions:
        found, arguments = read(PublishedReact(), text)
        assert found == name
        assert (arguments or "") == (given or "") or json.dumps(arguments) == given or str(arguments) == given


def test_published_actions_are_read_alike_where_there_is_one(actions: list[Written]) -> None:
    single = [text for text, _, _ in actions if text.count('"action"') == 1]
    assert len(single) > 0.8 * len(actions)
    for text in single:
        assert read(React(), text) == read(PublishedReact(), text)
