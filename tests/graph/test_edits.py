"""Corrections of a schema graph: what each does, what does not fit, and the file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.builders import imported_tool
from tests.support.dependency_lists import ARGUMENTS, TOOLS, dependency_lists, field_pairs
from toolassay.errors import UsageError
from toolassay.graph import Dependency, FieldPair, strongest
from toolassay.graph.edits import (
    NO_LONGER_DERIVED,
    Edit,
    apply,
    combine,
    field_problem,
    read_edits,
    write_edits,
)
from toolassay.tools.library import ToolLibrary

TEXT = {"type": "string"}
NESTED = {"type": "object", "properties": {"id": TEXT}}
OUTPUT = {
    "type": "object",
    "properties": {
        "id": TEXT,
        "name": TEXT,
        "items": {"type": "array", "items": NESTED},
        "open": {"type": "object"},
        "by_day": {"type": "object", "additionalProperties": NESTED},
    },
}
LIBRARY = ToolLibrary.from_json(
    {
        "nodes": [
            imported_tool(name, "", {"x": NESTED, "y": TEXT, "z": TEXT, "dotted.name": TEXT}, output=OUTPUT)
            for name in TOOLS
        ]
    }
)
DERIVED = Dependency("a", "b", "x", 0.4, (FieldPair("id", "x"), FieldPair("name", "y")), ("named alike",))


def edit(action: Any, source: str = "a", target: str = "b", **more: Any) -> Edit:
    return Edit.from_json({"action": action, "source": source, "target": target, **more})


def edited(*edits: Edit, links: tuple[Dependency, ...] = (DERIVED,)) -> list[Dependency]:
    result = apply(edits, links, LIBRARY)
    assert result.problems == []
    assert result.applied == list(edits)
    return result.dependencies


def test_an_added_link_is_a_persons_and_certain() -> None:
    added = edit("add", "c", "d", fields=[{"from": "items[].id", "to": "y"}], note="seen it")
    assert edited(added)[1] == Dependency(
        "c", "d", "y", 1.0, (FieldPair("items[].id", "y"),), ("added by a person: seen it",), origin="user"
    )


def test_a_removed_link_is_gone() -> None:
    assert edited(edit("remove")) == []


def test_a_pinned_link_survives_every_threshold() -> None:
    (pinned,) = edited(edit("pin", note="sure"))
    assert (pinned.score, pinned.origin, pinned.fields) == (0.4, "schema", DERIVED.fields)
    assert dict(pinned.further) == {"pinned": True, "note": "sure"}
    assert strongest([pinned, DERIVED], min_confidence=0.9) == [pinned]


def test_a_pinned_link_that_is_no_longer_derived_is_kept_from_its_copy() -> None:
    pinned = edit("pin", link=DERIVED.to_json())
    result = apply([pinned], [], LIBRARY)
    assert [(one.score, one.fields) for one in result.dependencies] == [(0.4, DERIVED.fields)]
    assert result.problems == [(pinned, NO_LONGER_DERIVED)]


def test_a_retyped_link_is_changed_as_given_and_pinned() -> None:
    (first,) = edited(edit("retype", type="y"))
    assert (first.type, first.fields) == ("y", DERIVED.fields[::-1])
    (other,) = edited(edit("retype", fields=[{"from": "name", "to": "z"}]))
    assert (other.type, other.fields, other.kind) == ("z", (FieldPair("name", "z"),), "dependency")
    (order,) = edited(edit("retype", type="order"))
    assert (order.type, order.fields, order.kind) == ("order", (), "observed")
    (kind,) = edited(edit("retype", kind="observed"))
    assert (kind.type, kind.fields, kind.kind) == ("x", DERIVED.fields, "observed")
    assert all(dict(one.further)["pinned"] for one in (first, other, order, kind))


@pytest.mark.parametrize(
    ("given_edit", "reason"),
    [
        (edit("remove", "b", "a"), "there is no such link to remove"),
        (edit("retype", "b", "a", type="x"), "there is no such link"),
        (edit("pin", "b", "a"), "there is no such link"),
        (edit("add", "a", "gone"), "the tools have no 'gone'"),
        (edit("remove", "gone", "a"), "the tools have no 'gone'"),
        (edit("add", fields=[{"from": "id", "to": "nothing"}]), "'b' has no argument 'nothing'"),
        (edit("retype", fields=[{"from": "price", "to": "y"}]), "the result of 'a' has no 'price'"),
    ],
)
def test_an_edit_that_does_not_fit_is_reported_and_changes_nothing(given_edit: Edit, reason: str) -> None:
    result = apply([given_edit], [DERIVED], LIBRARY)
    assert result.dependencies == [DERIVED]
    assert (result.applied, result.problems) == ([], [(given_edit, reason)])


@pytest.mark.parametrize(
    ("source", "target", "problem"),
    [
        ("", "y", False),
        ("items[].id", "x.id", False),
        ("items[0].id", "dotted.name", False),
        ("by_day.monday.id", "y", False),
        ("items.id", "y", True),
        ("id[]", "y", True),
        ("id", "x.price", True),
        ("id", "", True),
    ],
)
def test_paths_are_checked_against_the_schemas(source: str, target: str, problem: bool) -> None:
    tool = LIBRARY["a"]
    assert bool(field_problem(FieldPair(source, target), tool, tool)) is problem


def test_an_added_link_stays_added_when_it_is_pinned_or_retyped() -> None:
    added = edit("add", fields=[{"from": "id", "to": "y"}, {"from": "name", "to": "z"}])
    assert combine([added], [edit("pin")]) == [added]
    (changed,) = combine([added], [edit("retype", type="z")])
    assert (changed.action, changed.type, changed.fields) == ("add", "z", added.fields)
    (order,) = combine([added], [edit("retype", type="order")])
    assert edited(order, links=())[0].kind == "observed"


# The file


def edits_file(path: Path, *items: Any) -> Path:
    file = path / "graph_edits.json"
    file.write_text(json.dumps({"edits": list(items)}, indent=2))
    return file


@pytest.mark.parametrize(
    ("item", "message"),
    [
        (7, "Expected 'object', got 'int'"),
        ({"action": "delete", "source": "a", "target": "b"}, "Invalid enum value 'delete' - at '.*action'"),
        ({"action": "add", "source": "a"}, "Object missing required field 'target'"),
        ({"action": "add", "source": "a", "target": "a"}, "leads from a tool to itself"),
        ({"action": "add", "source": "a", "target": "b", "fields": "id"}, ".*got 'str' - at '.*fields'"),
        (
            {"action": "pin", "source": "a", "target": "b", "link": {"source": "a", "target": "c"}},
            "'link' is of other tools",
        ),
    ],
)
def test_a_malformed_edit_is_named_with_its_line(item: Any, message: str, tmp_path: Path) -> None:
    file = edits_file(tmp_path, {"action": "pin", "source": "c", "target": "d"}, item)
    with pytest.raises(UsageError, match=rf"graph_edits\.json:8: edit 2: {message}.*Fix: correct"):
        read_edits(file)


@pytest.mark.parametrize("text", ["[]", '{"edits": {}}', "{"])
def test_a_malformed_file_is_refused_and_never_replaced(text: str, tmp_path: Path) -> None:
    file = tmp_path / "graph_edits.json"
    file.write_text(text)
    with pytest.raises(UsageError, match=r"graph_edits\.json"):
        write_edits(file, [edit("pin")])
    assert file.read_text() == text
    assert list(tmp_path.iterdir()) == [file]


def test_a_copy_is_kept_if_an_edit_is_replaced_and_not_if_one_is_added(tmp_path: Path) -> None:
    file = tmp_path / "graph_edits.json"
    assert write_edits(file, [edit("pin")]) is None
    before = file.read_bytes()
    assert write_edits(file, [edit("pin")]) is None
    assert write_edits(file, [edit("pin"), edit("remove", "c", "d")]) is None
    added = file.read_bytes()
    assert (len(list(tmp_path.iterdir())), added == before) == (1, False)
    copy = write_edits(file, [edit("remove")])
    assert copy is not None and copy.read_bytes() == added
    assert read_edits(file) == [edit("remove")]


# Properties


@st.composite
def edit_lists(draw: st.DrawFn) -> list[Edit]:
    edits = []
    for _ in range(draw(st.integers(0, 5))):
        source, target = draw(st.permutations([*TOOLS, "gone"]))[:2]
        value: dict[str, Any] = {
            "action": draw(st.sampled_from(["add", "remove", "pin", "retype"])),
            "source": source,
            "target": target,
        }
        if draw(st.booleans()):
            value["type"] = draw(st.sampled_from([*ARGUMENTS, "order"]))
        if draw(st.booleans()):
            value["fields"] = [pair.to_json() for pair in draw(field_pairs())]
        if draw(st.booleans()):
            value["kind"] = draw(st.sampled_from(["dependency", "observed"]))
        value["note"] = draw(st.sampled_from(["", "sure"]))
        if draw(st.booleans()):
            value["link"] = Dependency(source, target, "y", 0.2, (FieldPair("id", "y"),)).to_json()
        edits.append(Edit.from_json(value))
    return list({one.pair: one for one in edits}.values())


@given(edit_lists(), dependency_lists())
def test_applying_edits_twice_changes_nothing(edits: list[Edit], links: list[Dependency]) -> None:
    once = apply(edits, links, LIBRARY).dependencies
    assert apply(edits, once, LIBRARY).dependencies == once


@given(edit_lists(), dependency_lists())
def test_every_edit_is_applied_or_reported(edits: list[Edit], links: list[Dependency]) -> None:
    result = apply(edits, links, LIBRARY)
    assert {one.pair for one in edits} == {one.pair for one in result.applied} | {
        problem.edit.pair for problem in result.problems
    }
    pairs = [(one.source, one.target) for one in result.dependencies]
    assert len(set(pairs)) == len(pairs)
    removed = {one.pair for one in edits if one.action == "remove"}
    assert not removed & set(pairs)
    untouched = {(one.source, one.target): one for one in links if one not in result.dependencies}
    assert set(untouched) <= {one.pair for one in result.applied}


@given(edit_lists())
def test_edits_are_read_back_as_written(tmp_path_factory: pytest.TempPathFactory, edits: list[Edit]) -> None:
    file = tmp_path_factory.mktemp("edits") / "graph_edits.json"
    write_edits(file, edits)
    assert (read_edits(file) if file.exists() else []) == edits


@given(edit_lists(), edit_lists())
def test_combined_edits_have_one_for_each_pair(edits: list[Edit], newer: list[Edit]) -> None:
    combined = combine(edits, newer)
    pairs = [one.pair for one in combined]
    assert len(set(pairs)) == len(pairs)
    assert set(pairs) == {one.pair for one in [*edits, *newer]}
    assert combine(combined, []) == combined
