"""Calls and patterns that an agent sends: a clear answer, no code run, no hang, a workplace as it was."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.workbench.calls import LONGEST, WorkbenchCall, parse_call, run_text
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import ToolFailure, call
from toolassay.benchmarks.workbench.tools.tool import LONGEST_PATTERN, Search

TEN_MB = 10_000_000
MARK = "MARK"
TEXTS = {
    "an import": f'__import__("pathlib").Path("{MARK}").touch()',
    "an import in a value": f'email.delete_email.func(email_id=__import__("pathlib").Path("{MARK}").touch())',
    "a tool and code": f'email.delete_email.func(email_id="1") or open("{MARK}", "w")',
    "quotes in a value": 'email.delete_email.func(email_id="say "00000000"")',
    "a backslash at the end": 'email.delete_email.func(email_id="00000000\\")',
    "an unknown tool": 'email.delete_all.func(sure="yes")',
    "nested parentheses": "(" * 90_000 + ")" * 90_000,
    "a long sum": "email.delete_email.func(email_id=" + "1+" * 50_000 + "1)",
    "attributes": "a" + ".a" * 90_000 + "()",
    "ten megabytes": f'email.delete_email.func(email_id="{"x" * TEN_MB}")',
    "a number SQLite cannot hold": f"email.delete_email.func(email_id={2**64})",
    "a pattern that fills the memory": 'calendar.search_events.func(query="(((a{999}){999}){999}){999}")',
    "no text": "",
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_a_hostile_text_gets_an_answer_and_changes_nothing(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = sandbox.image()
    with pytest.raises(ToolFailure) as failure:
        run_text(sandbox, text)
    assert len(str(failure.value)) < 1000
    assert sandbox.image() == before
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("value", [["00000000"], "x" * TEN_MB, float("nan")])
def test_a_hostile_value_gets_an_answer_and_changes_nothing(sandbox: Sandbox, value: Any) -> None:
    before = sandbox.image()
    with pytest.raises(ToolFailure, match="email_id is"):
        call(sandbox, "email.delete_email", {"email_id": value})
    assert sandbox.image() == before


def test_values_are_data_to_the_database(sandbox: Sandbox) -> None:
    value = "'); DROP TABLE emails; --\n\\ \" \0 \ud83d\ude00 {x}"
    call(sandbox, "email.send_email", {"recipient": "a@b.c", "subject": value, "body": value})
    sent = sandbox.rows("emails")[-1]
    assert sent[3] == sent[5] == value.replace("\ud83d\ude00", "\U0001f600")


PLAIN = st.text(st.characters(exclude_characters='"\\\r\n\0', exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(st.sampled_from(["recipient", "subject", "body"]), PLAIN))
def test_a_call_is_read_as_it_was_written(arguments: dict[str, str]) -> None:
    call = WorkbenchCall("email.send_email", arguments)
    assert parse_call(str(call)) == call


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ('email.send_email.func("a", "b", body="c")', {"recipient": "a", "subject": "b", "body": "c"}),
        ('email.send_email.func(body="a\\tb\\u00e9\\x41\\q")', {"body": "a\tbéA\\q"}),
        ('email.send_email.func(body="a\nb")', {"body": "a\nb"}),
        ("email.send_email.func(body=None, subject=-3)", {"body": None, "subject": -3}),
    ],
)
def test_values_are_python_literals(text: str, arguments: dict[str, object]) -> None:
    assert parse_call(text) == WorkbenchCall("email.send_email", arguments)


def test_tools_and_arguments_that_do_not_exist_are_read_all_the_same() -> None:
    assert parse_call('web.search.func(q="x")') == WorkbenchCall("web.search", {"q": "x"})
    assert parse_call('email.send_email.func(cc="x")') == WorkbenchCall("email.send_email", {"cc": "x"})


@pytest.mark.parametrize(
    "text",
    [
        "email",
        'email.send_email(body="x")',
        'a.email.send_email.func(body="x")',
        'email.send_email.func(body="say "hi"")',
        'email.send_email.func(body="x", body="y")',
        'email.send_email.func("x", recipient="y")',
        'email.send_email.func(*["x"])',
        'email.send_email.func(body=f"{1}")',
        'email.send_email.func(body="x" * 10**9)',
        'web.search.func("x")',
        "x" * (LONGEST + 1),
    ],
)
def test_anything_else_is_no_call(text: str) -> None:
    assert parse_call(text) is None


ROWS = [{"name": "Ann Lee", "mail": "ann@x.y"}, {"name": "Bo (B.) Ray", "mail": "bo@x.y"}]


def found(pattern: object) -> list[str]:
    return [row["name"][:3] for row in Search().contains(ROWS, pattern, "name")]


def test_a_pattern_is_searched_anywhere_and_without_case() -> None:
    assert found("LEE") == ["Ann"]
    assert found("") == ["Ann", "Bo "]
    assert found(r"\(b\.\)") == ["Bo "]
    assert found("^a|y$") == ["Ann", "Bo "]


@pytest.mark.parametrize("pattern", ["(", r"\p{L}", "a" * (LONGEST_PATTERN + 1), 5])
def test_what_re_cannot_compile_is_a_failure(pattern: object) -> None:
    with pytest.raises(ToolFailure, match=r"pattern|expression"):
        found(pattern)


@pytest.mark.filterwarnings("ignore:Possible nested set")
@pytest.mark.parametrize("pattern", ["\u0131", "[[:alpha:]]", "{e}"])
def test_what_two_engines_read_differently_is_read_as_re_does(pattern: str) -> None:
    rows = [*ROWS, {"name": "Lin {e}"}]
    expected = [row for row in rows if re.search(pattern, row["name"], re.IGNORECASE)]
    assert Search().contains(rows, pattern, "name") == expected


def test_a_search_that_takes_too_long_is_given_up() -> None:
    rows = [{"name": "a" * 60 + "!"}]
    with pytest.raises(ToolFailure, match=r"took more than 0.05 s"):
        Search(seconds=0.05).contains(rows, "^(a|aa|aaa)*$|(a?){30}b", "name")


@pytest.mark.parametrize("pattern", ["((((a{100}){100}){100}){100}){100}", "(a{1,9999}b{,9999})"])
def test_counts_that_would_fill_the_memory_are_refused(pattern: str) -> None:
    with pytest.raises(ToolFailure, match="repeats too much"):
        found(pattern)
