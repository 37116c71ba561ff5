from __future__ import annotations

import platform

import pytest

from toolassay.models.redaction import versions, without_secrets
from toolassay.version import __version__


def test_versions() -> None:
    found = versions("numpy", "no-such-package")
    assert found["toolassay"] == __version__
    assert found["python"] == platform.python_version()
    assert found["numpy"][0].isdigit() and "no-such-package" not in found


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--api_key", "sk-secret"], ["--api_key", "***"]),
        (["--api-key=sk-secret"], ["--api-key=***"]),
        (["--api_key", "--odd"], ["--api_key", "***"]),
        (["--api_base", "https://me:pw@host/v1"], ["--api_base", "https://***@host/v1"]),
        (["--api_base=https://h/v1?key=k&a=b"], ["--api_base=https://h/v1?key=***&a=***"]),
        (["--api_base", "https://me:p/w@host/v1?k"], ["--api_base", "https://***@host/v1?***"]),
        (["--api-base", "https://h/sk-1/v1"], ["--api-base", "https://h/***/v1"]),
        (["--api_addr", "me:pw@host:1/sk-1"], ["--api_addr", "***@host:1/***"]),
        (
            ["--set", "agent.api_base=http://me:p w'@h/sk-1/v1"],
            ["--set", "agent.api_base=http://***@h/***/v1"],
        ),
        (["--note", "see https://h/sk-1/v1, please"], ["--note", "see https://h/***/v1, please"]),
        (["--llm", "KNOWN-SECRET"], ["--llm", "***"]),
        (["--llm", "my-KNOWN-SECRET-model"], ["--llm", "my-***-model"]),
    ],
)
def test_a_command_without_its_secrets(words: list[str], shown: list[str]) -> None:
    assert list(without_secrets(words, ["KNOWN-SECRET", "1"])) == shown
