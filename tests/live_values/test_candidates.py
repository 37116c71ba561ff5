"""Candidates for arguments: paths, patterns, names of new things, lines of texts."""

from __future__ import annotations

import random
from typing import Any

import pytest

from toolassay.live_values.candidates import Known, argument_places
from toolassay.live_values.facts import facts_of
from toolassay.tools.library import Tool

FILES = ("/workspace/a.txt", "/workspace/in/b.csv")
FOLDERS = ("/workspace", "/workspace/in")
PEOPLE = {"person": [{"name": "Ann Moss", "kind": "person"}, {"name": "Bo Lind", "kind": "person"}]}


def tool(name: str, desc: str, *required: str, reads: bool = False, **described: str) -> Tool:
    properties = {
        one: {"type": "string", **({"description": described[one]} if one in described else {})}
        for one in required
    }
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return Tool(name, description=desc, input_schema=schema, annotations={"readOnlyHint": reads})


def known(value: Any = None) -> Known:
    made = Known(FILES, FOLDERS)
    if value is not None:
        made.add(facts_of(Tool("list_people", description="List people."), {}, value, ""))
    return made


def candidates(made: Known, one: Tool, name: str, *chosen: Any, seed: int = 1) -> list[Any]:
    place = next(place for place in argument_places(one) if place.name == name)
    return made.candidates(one, place, random.Random(seed), chosen)


def test_a_reader_takes_paths_that_are_there() -> None:
    found = candidates(known(), tool("read_file", "Read a file.", "path", reads=True), "path")
    assert {*found[:2]} == {*FILES}
    assert {"a.txt", "in/b.csv", "b.csv"} <= {*found}


@pytest.mark.parametrize("seed", range(2))
def test_what_is_created_gets_a_new_path_in_a_folder_that_is_there(seed: int) -> None:
    found = candidates(known(), tool("write_file", "Create a new file.", "path"), "path", seed=seed)
    assert not {*found} & {*FILES}
    assert {path.rpartition("/")[0] for path in found} == {*FOLDERS}


@pytest.mark.parametrize("seed", range(2))
def test_a_file_that_is_moved_keeps_its_ending_and_a_folder_is_not_moved_into_itself(seed: int) -> None:
    mover = tool("move_file", "Move or rename files and directories.", "source", "destination")
    found = candidates(known(), mover, "destination", "/workspace/in/b.csv", seed=seed)
    assert all(path.endswith(".csv") for path in found)
    found = candidates(known(), mover, "destination", "/workspace/in", seed=seed)
    assert found and not any(path.startswith("/workspace/in/") for path in found)


def test_patterns_match_files_that_are_there() -> None:
    found = candidates(known(), tool("search", "Search.", "pattern", reads=True), "pattern")
    assert {"**/*.txt", "**/b.csv"} <= {*found}


def test_a_text_that_must_be_there_is_a_line_of_the_chosen_file() -> None:
    made = known()
    made.add_text(FILES[0], "first line\n\nsecond line\n")
    made.add_text("/elsewhere", "no file of the workspace")
    editor = tool("edit_file", "Edit a file.", "path", "old_text", "new_text")
    assert {*candidates(made, editor, "old_text", FILES[0])} == {"first line", "second line"}
    assert candidates(made, editor, "path") == [FILES[0]]
    assert candidates(made, editor, "new_text", FILES[0]) == []


def test_the_name_of_a_new_thing_is_none_that_is_there() -> None:
    assert candidates(known(PEOPLE), tool("create_person", "Create a person.", "name"), "name") == []


def test_what_a_description_quotes_is_taken_where_no_fact_fits() -> None:
    about = "Whether to list open bills ('open'), paid bills ('paid') or all bills('all')"
    lister = tool("list_bills", "List bills.", "bill_type", reads=True, bill_type=about)
    assert candidates(known(PEOPLE), lister, "bill_type") == ["open", "paid", "all"]


@pytest.mark.parametrize(
    "declared",
    [{"enum": ["OPEN", "DONE"]}]
    + [
        {"type": "string", "description": text}
        for text in (
            "[Enum]: OPEN, DONE",
            "Either 'OPEN' or 'DONE'.",
            "State (OPEN/DONE)",
            "One of: OPEN, DONE",
        )
    ],
)
def test_declared_values_are_the_only_candidates(declared: dict[str, Any]) -> None:
    schema = {"type": "object", "properties": {"name": declared}, "required": ["name"]}
    assert candidates(known(PEOPLE), Tool("find", description="Find.", input_schema=schema), "name") == [
        "OPEN",
        "DONE",
    ]


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("/workspace/a.txt", "file"),
        ("b.csv", "file"),
        ("in", "folder"),
        ("/workspace", "folder"),
        ("x", ""),
        (3, ""),
    ],
)
def test_the_kind_of_a_value(value: Any, kind: str) -> None:
    assert known().kind_of(value) == kind
