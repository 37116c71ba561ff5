"""Lists of endpoints: what they name, in which order, with which key."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.redaction import without_secrets


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


def labels(base: str) -> list[str | None]:
    return [one.label for one in ModelOptions(api_base=base).endpoints]


@pytest.mark.parametrize(
    "base",
    [
        "http://host/v1",
        "https://me:a,b@host/v1?x=1,2",
        "http://me:se/cret,@host:80/v1",
        "localhost:4000",
        "http://host/v1,",
    ],
)
def test_one_address_is_no_list(base: str) -> None:
    options = ModelOptions(api_base=base)
    assert options.endpoints == (options,) and options.endpoints[0] is options
    assert options.base_url == base.rstrip("/") and options.label is None


def test_the_order_of_a_list_does_not_matter() -> None:
    urls = ("http://b/v1", "http://a/sk-2/v1/", "http://a/sk-1/v1", "http://me:pw@c/v1")
    options = [ModelOptions(api_base=", ".join(order)) for order in permutations(urls)]
    assert len({(one.endpoint, one.secrets) for one in options}) == 1
    for one in options:
        assert [part.base_url for part in one.endpoints] == [part.base_url for part in options[0].endpoints]
    shown = [part.label for part in options[0].endpoints]
    assert shown[0] == "http://***@c/v1" and shown[3] == "http://b/v1"
    assert [str(label).partition(" (")[0] for label in shown[1:3]] == ["http://a/***/v1"] * 2
    assert len(set(shown)) == 4  # the two that look alike have other labels


def test_endpoints_at_one_address_with_other_keys_have_other_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ONE", "key-1")
    monkeypatch.setenv("OTHER", "key-2\n")
    path = tmp_path / "list.txt"
    path.write_text("http://a/v1 key_env=ONE\nhttp://a/v1 0.5 key_env=OTHER\nhttp://a/v1\n")
    options = ModelOptions(api_base=str(path), api_key="key-of-all")
    found = options.endpoints
    assert [one.label for one in found] == ["http://a/v1", "http://a/v1 #2", "http://a/v1 #3"]
    assert {one.key: one.weight for one in found} == {"key-1": 1.0, "key-2": 0.5, "key-of-all": 1.0}
    assert {"key-1", "key-2", "key-of-all", "Bearer key-1"} <= set(options.secrets)


def test_a_login_replaces_the_key_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key-of-all")
    login, key = ModelOptions(api_base="http://me:pw@a/v1,http://b/v1").endpoints
    assert (login.endpoint, login.key) == ("http://***@a/v1", None)
    assert str(login.authorization).startswith("Basic ") and key.authorization == "Bearer key-of-all"
    with pytest.raises(ValueError, match="a login"):
        _ = ModelOptions(api_base="http://me:pw@a/v1").authorization


def test_a_file_is_read_again_when_it_changes_and_is_one_endpoint_where_it_lists_one(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    path.write_text("\n# comment\n  http://a/v1/   3\n")
    (one,) = ModelOptions(api_base=str(path)).endpoints
    assert (one.base_url, one.label) == ("http://a/v1", None)
    path.write_text("http://a/v1\nhttp://b/v1\n")
    assert labels(str(path)) == ["http://a/v1", "http://b/v1"]


def test_a_change_of_the_options_reaches_every_endpoint() -> None:
    options = ModelOptions(api_base="http://a/v1,http://b/v1", extra_body={"seed": 7}, timeout=9)
    assert [(one.extra_body, one.timeout) for one in options.endpoints] == [({"seed": 7}, 9)] * 2
    assert options.settings == ModelOptions(api_base="http://c/v1", extra_body={"seed": 7}).settings


def test_an_azure_endpoint_of_the_environment_wins_over_a_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://a/v1,http://b/v1")
    assert len(ModelOptions(client="openai").endpoints) == 2
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", "https://acme.openai.azure.com")
    assert len(ModelOptions(client="openai").endpoints) == 1
    assert len(ModelOptions(api_addr="localhost").endpoints) == 1


@pytest.mark.parametrize(
    ("words", "shown"),
    [
        (["--api_base", "http://me:pw@a/v1,http://b/sk-1"], ["--api_base", "http://***@a/v1,http://b/***"]),
        (["--api_base=http://a/v1, http://b?k=2"], ["--api_base=http://a/v1,http://b?k=***"]),
        (
            ["OPENAI_BASE_URL=http://a/v1,http://me:pw@b"],
            ["OPENAI_BASE_URL=http://a/v1,http://***@b"],
        ),
    ],
)
def test_a_command_line_shows_a_list_redacted(words: list[str], shown: list[str]) -> None:
    assert without_secrets(words, []) == shown


def test_a_list_names_an_endpoint_once() -> None:
    with pytest.raises(UsageError, match="twice"):
        labels("http://a/v1,http://a/v1/")
