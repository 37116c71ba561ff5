from __future__ import annotations

import pytest

from toolassay.models import ModelOptions
from toolassay.models.address import Address


@pytest.mark.parametrize(
    ("base", "url", "login", "query"),
    [
        ("https://host/v1", "https://host/v1", "", ""),
        ("https://host:8000/v1/?a=1&b=2#top", "https://host:8000/v1", "", "a=1&b=2"),
        ("https://me:pass@host/v1", "https://host/v1", "me:pass", ""),
        ("https://token@host/v1", "https://host/v1", "token", ""),
        ("http://me:a@b@host/v1", "http://host/v1", "me:a@b", ""),
        ("http://me:a/b@host:1/v1?x=1", "http://host:1/v1", "me:a/b", "x=1"),
        ("http://me:a?b#c@host/v1", "http://host/v1", "me:a?b#c", ""),
        ("http://[::1]:8000/v1", "http://[::1]:8000/v1", "", ""),
        ("http://[::1]/v1/@cf", "http://[::1]/v1/@cf", "", ""),
        ("https://host/ai/@cf/model", "https://host/ai/@cf/model", "", ""),
        ("https://host:8000/ai/@cf/model", "https://host:8000/ai/@cf/model", "", ""),
        ("https://host/v1?mail=me@home", "https://host/v1", "", "mail=me@home"),
        ("me:pass@host/v1", "host/v1", "me:pass", ""),
        ("", "", "", ""),
    ],
)
def test_an_address_is_taken_apart(base: str, url: str, login: str, query: str) -> None:
    address = Address.of(base)
    assert (address.url, address.login, address.query) == (url, login, query)
    for part in (login, query):
        assert not part or part not in repr(address)


@pytest.mark.parametrize(
    ("base", "shown"),
    [
        ("https://api.openai.com/v1", "https://api.openai.com/v1"),
        ("https://host/openai/deployments/acme-4o/chat", "https://host/openai/deployments/***/chat"),
        ("https://host/v1beta/openai", "https://host/v1beta/openai"),
        ("https://host/API/Inference/V2", "https://host/API/Inference/V2"),
        ("https://host/v1secret/v1", "https://host/***/v1"),
        ("https://host/sk%2D123;x=1//v1", "https://host/***//v1"),
        ("https://me:pass@host/v1", "https://***@host/v1"),
        ("https://token@host/v1?a=b", "https://***@host/v1?a=***"),
        ("https://host/v1?api-version=1&sk1=2&c2VjcmV0==", "https://host/v1?api-version=***&***=***&***=***"),
        ("https://host/v1?abc", "https://host/v1?***"),
        ("http://[::1]:8000/x/v1", "http://[::1]:8000/***/v1"),
        ("localhost:80/v1", "localhost:80/v1"),
        ("sk-proj-abc", "***"),
        ("", ""),
    ],
)
def test_only_scheme_host_port_and_known_words_are_shown(base: str, shown: str) -> None:
    assert Address.of(base).shown == shown
    assert Address.of(shown).shown == shown


def test_endpoints_that_are_shown_alike_have_other_fingerprints() -> None:
    one, other = Address.of("https://host/tenant-1/v1"), Address.of("https://host/tenant-2/v1")
    assert one.shown == other.shown
    assert one.fingerprint and other.fingerprint and one.fingerprint != other.fingerprint
    assert Address.of("https://host/v1").fingerprint is None


def test_a_segment_of_the_path_that_is_hidden_is_a_credential() -> None:
    options = ModelOptions(api_base="https://host/path%2Dsecret/openai/v1")
    assert {"path%2Dsecret", "path-secret"} <= set(options.credentials)
    assert not {"openai", "v1"} & set(options.credentials)
    assert "secret" not in repr(options) + repr(options.address)


def test_a_login_becomes_a_header() -> None:
    assert Address.of("http://Aladdin:open%20sesame@host").authorization == (
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    )
    assert Address.of("http://host").authorization is None


def test_what_lets_somebody_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    options = ModelOptions(
        api_base="https://me:p%40ssword@host/v1?tenant=abc%2Fdef&on=1",
        extra_headers={"X-Auth": "Token 1234567", "X-On": "true"},
        extra_body={"guard": {"access_token": "body-secret"}, "reasoning": "thorough", "n": 1},
    )
    for secret in ("p%40ssword", "p@ssword", "bWU6cEBzc3dvcmQ=", "abc%2Fdef", "abc/def", "1234567"):
        assert secret in options.credentials
    assert "body-secret" in options.credentials
    assert "thorough" in options.secrets and "thorough" not in options.credentials
    assert not {"true", "1", "me"} & set(options.secrets)
    shown = repr(options)
    assert not [secret for secret in options.secrets if secret in shown]


def test_a_key_beside_a_login_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    login = "http://me:password@host"
    with pytest.raises(ValueError, match="a login, and there is a key too"):
        _ = ModelOptions(api_base=login, api_key="sk-1").authorization
    assert ModelOptions(api_base=login).authorization == "Basic bWU6cGFzc3dvcmQ="
    assert ModelOptions(api_base=login, extra_headers={"authorization": "x"}).authorization is None
    assert ModelOptions(api_base="http://host", api_key=" sk-1\n").authorization == "Bearer sk-1"
