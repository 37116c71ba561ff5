"""Which model a name is, and where its server is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from yarl import URL

from tests.support.simulated import Books
from tests.support.wheels import installed
from toolassay.errors import UsageError
from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions, create_model
from toolassay.models.address import Address
from toolassay.models.client import Client, Registered
from toolassay.models.concurrency import Limiter
from toolassay.models.redaction import without
from toolassay.models.registry import is_served
from toolassay.offline.model_tasks import ReformatTask
from toolassay.offline.offline_model import OfflineModel


@pytest.fixture(autouse=True)
def no_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_BASE_URL", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("options", "url"),
    [
        (ModelOptions(), "http://localhost:4000/v1"),
        (ModelOptions(api_port=8002), "http://localhost:8002/v1"),
        (ModelOptions(api_addr="http://host/", api_port=1), "http://host:1/v1"),
        (ModelOptions(api_addr="::1", api_port=1), "http://[::1]:1/v1"),
        (ModelOptions(api_base="https://host/x/", api_addr="y", api_port=1), "https://host/x"),
    ],
)
def test_where_the_server_is(options: ModelOptions, url: str) -> None:
    assert options.base_url == url


def test_the_environment_counts_where_no_flag_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "https://env/v1/")
    monkeypatch.setenv("OPENAI_API_KEY", "from environment\n")
    assert ModelOptions().base_url == "https://env/v1"
    assert ModelOptions(api_port=1).base_url == "http://localhost:1/v1"
    assert ModelOptions().key == "from environment"
    assert ModelOptions(api_key="given").key == "given"


def test_who_a_name_is() -> None:
    assert isinstance(create_model("offline", ModelOptions()), OfflineModel)
    assert isinstance(create_model("meta-llama/Llama-3-8B", ModelOptions()), Client)
    assert not is_served("offline")
    with pytest.raises(UsageError, match="--llm"):
        create_model(" ", ModelOptions())


def test_extra_fields_change_the_settings_without_showing_them() -> None:
    assert ModelOptions().settings == {}
    one, other = (ModelOptions(extra_body={"token": text}).settings for text in ("SECRET", "x"))
    assert one != other
    assert "SECRET" not in str(one)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A folder with the package of `tests/packages/echo_model`, installed."""
    return installed(root / "tests" / "packages" / "echo_model", tmp_path_factory.mktemp("site"))


def test_a_package_registers_a_model(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_served("echo")
    monkeypatch.syspath_prepend(str(site))
    assert not is_served("echo")
    books = Books(allowed=2)
    model = create_model("echo", ModelOptions(extra_body={"shout": True}), books)
    ask = ChatRequest([{"role": "user", "content": "hello"}], role="critic", item="7")
    assert asyncio.run(model.complete(ask)).text == "HELLO"
    (attempt,) = books.attempts
    assert books.announced == 1
    assert (attempt.model, attempt.role, attempt.item, attempt.outcome) == ("echo", "critic", "7", "answered")
    asyncio.run(model.complete(ask))
    with pytest.raises(ModelError, match="budget"):
        asyncio.run(model.complete(ask))
    assert len(books.attempts) == 2
    with pytest.raises(UsageError, match="cannot be loaded"):
        create_model("broken-echo", ModelOptions())


def test_a_failing_call_of_a_registered_model_is_in_the_books() -> None:
    class Failing:
        name = "failing"

        async def complete(self, request: ChatRequest) -> ChatResponse:
            raise RuntimeError if request.item else ModelError("full", kind="HTTP 500", status=500)

        async def close(self) -> None: ...

    books = Books()
    model = Client("failing", ModelOptions(), books, transport=Registered(Failing()), limiter=Limiter())
    for item, error in (("", ModelError), ("7", RuntimeError)):
        with pytest.raises(error):
            asyncio.run(model.complete(ChatRequest([], item=item)))
    assert [(a.outcome, a.status) for a in books.attempts] == [("HTTP 500", 500), ("failed", None)]


def test_the_offline_model_is_in_the_books_too() -> None:
    books = Books()
    model = create_model("offline", ModelOptions(), books)
    answer = asyncio.run(model.complete(ChatRequest([], task=ReformatTask("text"), role="reformatter")))
    assert answer.text == "text"
    assert [(a.model, a.role, a.outcome) for a in books.attempts] == [("offline", "reformatter", "answered")]


@pytest.mark.parametrize(
    ("base", "url", "login", "query"),
    [
        ("https://host:8000/v1/?a=1&b=2#top", "https://host:8000/v1", "", "a=1&b=2"),
        ("http://me:a/b@host:1/v1?x=1", "http://host:1/v1", "me:a/b", "x=1"),
        ("http://[::1]/v1/@cf", "http://[::1]/v1/@cf", "", ""),
        ("https://host/v1?mail=me@home", "https://host/v1", "", "mail=me@home"),
        ("me:pass@host/v1", "host/v1", "me:pass", ""),
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
        ("https://host/openai/deployments/acme-4o/chat", "https://host/openai/deployments/***/chat"),
        ("https://host/sk%2D123;x=1//v1", "https://host/***//v1"),
        ("https://token@host/v1?a=b", "https://***@host/v1?a=***"),
        ("http://[::1]:8000/x/v1", "http://[::1]:8000/***/v1"),
        ("localhost:80/v1", "localhost:80/v1"),
        ("sk-KEY:443/v1", "***/v1"),
        ("http://127.0.0.1:sk-KEY/v1", "***/v1"),
        ("http://[::sk-KEY/v1", "***/v1"),
        (r"https://host\sk-KEY/v1", "***/v1"),
        ("sk-KEY://host/v1", "***/v1"),
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


@pytest.mark.parametrize(
    ("base", "forms"),
    [
        (
            "http://host/v1?sig=ab%2FcKEY42longlonglong%2Bdlonglong%3D%3D",
            ("ab/cKEY42longlonglong%2Bdlonglong%3D%3D", "ab/cKEY42longlonglong%2bdlonglong=="),
        ),
        ("http://host/k/ab%7EcKEY42longlong%3D%3d/v1", ("ab~cKEY42longlong%3D%3D", "ab~cKEY42longlong==")),
        ("http://host/v1?q=%4BKEY42%20x", ("KKEY42%20x", "KKEY42+x", "KKEY42 x")),
        ("http://host/v1?q=KEY42+%C3%a9x", ("KEY42+%C3%A9x", "KEY42 \u00e9x", "KEY42%20%c3%a9x")),
        ("http://host/v1?q=KEY42%252F", ("KEY42%252F", "KEY42%2F", "KEY42%2f")),
    ],
)
def test_a_credential_is_hidden_however_it_is_quoted(base: str, forms: tuple[str, ...]) -> None:
    options = ModelOptions(api_base=base)
    sent = URL(options.address.to("/chat/completions"))
    for form in (*forms, sent.raw_path_qs, str(sent), *sent.query.values()):
        assert "KEY42" not in without(options.secrets, f"no route to {form} here"), form


def test_what_is_no_host_or_port_is_a_credential() -> None:
    assert "sk-KEY" in ModelOptions(api_base="http://127.0.0.1:sk-KEY/v1").credentials
    assert "sk-KEY" in ModelOptions(api_base="sk-KEY://host/v1").credentials
    assert ModelOptions(api_base="http://localhost:8000/v1", api_key="k").credentials == ("Bearer k", "k")


def test_a_key_after_its_scheme_and_a_login_are_hidden_however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    assert ModelOptions(api_base="http://host", api_key="k1").pairs == ("Bearer k1",)
    assert set(ModelOptions(api_base="http://u:p@host").pairs) == {"u:p", "Basic dTpw"}
    headers = {"authorization": "Token t", "X-On": "true it is"}
    assert ModelOptions(api_base="http://host", extra_headers=headers).pairs == ("Token t",)
    assert ModelOptions(api_base="http://token@host").pairs == ()


def test_a_login_becomes_a_header() -> None:
    assert Address.of("http://Aladdin:open%20sesame@host").authorization == (
        "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="
    )
    assert Address.of("http://host").authorization is None


def test_credentials_and_secrets_of_the_options(monkeypatch: pytest.MonkeyPatch) -> None:
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
