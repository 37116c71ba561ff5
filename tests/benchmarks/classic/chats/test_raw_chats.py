"""Raw chats in, checked row by row."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.benchmarks.classic.chats.chat import Chat, Exchange
from toolassay.benchmarks.classic.chats.raw_chats import find_source, read_chats
from toolassay.benchmarks.classic.chats.settings import ChatSampling
from toolassay.errors import UsageError

HEADER = "conversation,order,sender,text,domain,workflow,cost\n"
ROWS = (
    "a,1,bot,Hello!,hr,,\n"
    "a,2,user,leave please,hr,,\n"
    "a,3,bot,which day?,hr,w1,0.1\n"
    "a,4,bot,any?,hr,,\n"
    "a,5,agent,I take over,hr,,\n"
    "b,2,bot,later,hr,w1,\n"
    "b,1,user,first,hr,,\n"
    "b,10,user,last,hr,,\n"
)


def read(folder: Path, text: str = HEADER + ROWS, **settings: object) -> tuple[Chat, ...]:
    (folder / "messages.csv").write_text(text, encoding="utf-8")
    return read_chats(folder / "messages.csv", ChatSampling(**settings)).chats  # type: ignore[arg-type]


def test_rows_become_exchanges_in_their_order(tmp_path: Path) -> None:
    first, second = read(tmp_path)
    assert first == Chat(
        "a", "hr", (Exchange("leave please", "which day?\nany?", human=True, workflow="w1", cost="0.1"),)
    )
    assert [exchange.user for exchange in second.exchanges] == ["first", "last"]
    assert second.exchanges[0].bot == "later"


def test_a_folder_holds_messages_and_workflows(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"messages.csv"):
        find_source(tmp_path)
    (tmp_path / "messages.jsonl").touch()
    (tmp_path / "workflows.csv").touch()
    assert find_source(tmp_path) == (tmp_path / "messages.jsonl", tmp_path / "workflows.csv")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("a,2,user", "a,2,robot", "messages.csv:3: unknown sender 'robot'"),
        ("a,2,user", "a,soon,user", "messages.csv:3: order 'soon'"),
        ("a,2,user", "a,2026-01-01,user", "messages.csv:3: one chat has both times and numbers"),
        ("w1,0.1", "w1,much", "messages.csv:4: cost 'much'"),
        ("w1", "", "no workflows"),
    ],
)
def test_what_is_wrong_is_reported_with_its_line(tmp_path: Path, old: str, new: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        read(
            tmp_path,
            (HEADER + ROWS).replace(old, new) if old == "w1" else (HEADER + ROWS).replace(old, new, 1),
        )
    assert told in str(error.value)


def test_a_workflow_must_be_in_the_table_of_workflows(tmp_path: Path) -> None:
    workflows = tmp_path / "workflows.csv"
    workflows.write_text("workflow,name,domain\nw1,One,it\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"messages.csv:4: the workflow 'w1' is not one of the domain 'hr'"):
        read(tmp_path, workflows=workflows)
    workflows.write_text("workflow,name,domain\nw1,One,hr\nw1,Two,hr\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"workflows.csv:3: the workflow id 'w1'"):
        read(tmp_path, workflows=workflows)
