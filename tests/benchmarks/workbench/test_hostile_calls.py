"""Whatever an agent sends: a clear answer, no code run, no hang, and a workplace that is as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.workbench.calls import run_text
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tools import ToolFailure, call

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
