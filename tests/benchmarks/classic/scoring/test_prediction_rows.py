"""Tables of data and rows of predictions in, typed and checked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import write_lines
from tests.support.shop_chats import answer, answers, chats, write_array
from toolassay.benchmarks.classic.data import ChatTurn, read_data
from toolassay.benchmarks.classic.scoring.prediction_rows import read_rows
from toolassay.errors import UsageError


def test_array_and_lines_are_the_same_rows_in_the_same_order(tmp_path: Path) -> None:
    data = chats(tmp_path)
    values = [*answers(trial=1), *answers()]
    write_lines(tmp_path / "lines.json", values[::-1])
    found = read_rows(write_array(tmp_path / "array.json", values), data)
    assert found == read_rows(tmp_path / "lines.json", data)
    assert [(row.conversation, row.request, row.trial) for row in found][:4] == [
        ("c1", 0, 0),
        ("c1", 0, 1),
        ("c1", 1, 0),
        ("c1", 1, 1),
    ]


def test_what_is_missing_may_be_null_or_not_a_number(tmp_path: Path) -> None:
    value = answer(("c1", 0), float("nan"), cost=float("nan"), time_to_pred=None)
    del value["tokens_input"]
    (row,) = read_rows(write_array(tmp_path / "p.json", [value]))
    assert (row.cost, row.seconds, row.tokens_input, row.tokens_output) == (None, None, None, 10)
    assert row.prediction == ""  # no choice of none, which is null
    assert row.outcome == "answered" and row.order == ""


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"y_workflow_uuids": "['return']"}, "`$.y_workflow_uuids`"),
        ({"time_to_pred": -1}, "`$.time_to_pred`"),
        ({"outcome": "great"}, "Invalid enum value 'great'"),
        ({"domain_uuid": "farm"}, "the conversation 'c2' belongs to 'shop', not to 'farm'"),
        ({"conversation_uuid": "c1"}, "answers message 0 of 'c1' in trial 0 again"),
    ],
)
def test_a_wrong_row_is_named(tmp_path: Path, change: dict[str, Any], told: str) -> None:
    data = chats(tmp_path)
    values = [answer(("c1", 0), "return"), {**answer(("c2", 0), "return"), **change}]
    array = write_array(tmp_path / "array.json", values)
    lines = tmp_path / "lines.json"
    lines.write_text("\n".join(json.dumps(value) for value in values))
    for path, line in ((array, 3), (lines, 2)):
        with pytest.raises(UsageError) as error:
            read_rows(path, data)
        assert str(error.value).startswith(f"{path}:{line}: row 2: ")
        assert told in str(error.value)


def test_a_file_that_holds_no_rows_is_reported(tmp_path: Path) -> None:
    table, empty = tmp_path / "rows.csv", tmp_path / "empty.json"
    table.write_text("conversation_uuid\nc1\n")
    empty.touch()
    for path, told in (
        (tmp_path, "is a folder, not a JSON array"),
        (table, "is a table, not a JSON array"),
        (empty, "no rows. Fix: give a file written by infer()"),
    ):
        with pytest.raises(UsageError, match=told):
            read_rows(path)


TABLES = {
    "domains.csv": "domain_uuid,domain_name\nshop,Shop\n",
    "workflows.csv": (
        "workflow_uuid,name,description,domain_uuid\n"
        'w1,Return Goods,"Books a return, with label",shop\n'
        "w2, Track Parcel ,,shop\n"
        "None,None,,shop\n"
    ),
    "messages.csv": (
        "conversation_uuid,request_content,response_content,true_workflow_uuid,"
        "true_workflow_uuid_2,request_idx,domain_uuid\n"
        "c1,my shoes are too small,Shall I book a return?,w1,w2,0,shop\n"
        "c2,hello,,,,0,shop\n"
        "c1,yes,,w1,w1,1,shop\n"
        "c2,thanks,,None,,1,shop\n"
    ),
}


def build_folder(path: Path) -> Path:
    for name, text in TABLES.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_an_example_is_a_chat_up_to_a_user_message(folder: Path) -> None:
    data = read_data(folder)
    assert [example.id for example in data.examples] == ["c1--0", "c2--0", "c1--2", "c2--2"]
    assert data.examples[2].question.turns == (
        ChatTurn("user", "my shoes are too small"),
        ChatTurn("bot", "Shall I book a return?"),
        ChatTurn("user", "yes"),
    )
    assert data.examples[3].question.turns == (ChatTurn("user", "hello"), ChatTurn("user", "thanks"))
    assert [workflow.name for workflow in data.examples[0].question.candidates] == [
        "Return Goods",
        "Track Parcel",
    ]


def test_either_label_is_right_and_none_only_where_there_is_none(folder: Path) -> None:
    first, hello, yes, thanks = read_data(folder).examples
    assert first.labels == ("w1", "w2") and first.accepts("w2") and not first.accepts(None)
    assert yes.labels == ("w1",)
    assert hello.labels == thanks.labels == ()
    assert hello.accepts(None) and not hello.accepts("w1")


@pytest.mark.parametrize(
    ("file", "old", "new", "told"),
    [
        ("messages.csv", "c2,hello,,,,0,shop", "c2,hello,,,,0,farm", "messages.csv:3: unknown domain 'farm'"),
        ("messages.csv", "w1,w2,0,shop", "w9,w2,0,shop", "messages.csv:2: the label 'w9' is not a workflow"),
        ("messages.csv", "c2,hello", "c2, ", "messages.csv:3: conversation_uuid or request_content is empty"),
        ("messages.csv", "c1,yes", '"c1,yes', "messages.csv:4: not a row of a CSV table"),
        ("workflows.csv", " Track Parcel ", "return  goods", "workflows.csv:3: the name 'return  goods'"),
        ("domains.csv", "shop,Shop", "shop,Shop\nshop,Two", "domains.csv:3: domain_uuid 'shop'"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(
    folder: Path, file: str, old: str, new: str, told: str
) -> None:
    path = folder / file
    path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UsageError) as error:
        read_data(folder)
    assert told in str(error.value)
