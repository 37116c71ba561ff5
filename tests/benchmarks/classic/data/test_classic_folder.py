"""Four tables in, checked examples out."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.benchmarks.classic.data import ChatTurn, read_data
from toolassay.errors import UsageError

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
        ("messages.csv", "c1,yes", '"c1,yes', "messages.csv:4: a quotation mark in this row"),
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
