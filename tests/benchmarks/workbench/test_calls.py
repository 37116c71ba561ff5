from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.benchmarks.workbench.calls import LONGEST, WorkbenchCall, parse_call

PLAIN = st.text(st.characters(exclude_characters='"\\\r\n\0', exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(st.sampled_from(["recipient", "subject", "body"]), PLAIN))
def test_a_call_is_read_as_it_was_written(arguments: dict[str, str]) -> None:
    call = WorkbenchCall("email.send_email", arguments)
    assert parse_call(str(call)) == call


@given(st.text(max_size=200))
def test_any_text_is_a_call_or_none(text: str) -> None:
    assert parse_call(text) is None or "(" in text


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
