from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from wheels import installed

from toolassay.errors import UsageError
from toolassay.models import Attempt, ChatRequest, ChatResponse, ModelError, ModelOptions, create_model
from toolassay.models.client import Client, Registered
from toolassay.models.concurrency import Limiter
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
        (ModelOptions(api_addr="host"), "http://host:4000/v1"),
        (ModelOptions(api_addr="http://host/", api_port=1), "http://host:1/v1"),
        (ModelOptions(api_addr="https://host", api_port=1), "https://host:1/v1"),
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


def test_the_key_is_in_no_representation() -> None:
    assert "SECRET" not in repr(ModelOptions(api_key="SECRET"))


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


class Books:
    """A meter that remembers."""

    def __init__(self) -> None:
        self.announced: list[str] = []
        self.attempts: list[Attempt] = []

    def before(self, model: str, request: ChatRequest) -> None:
        if len(self.announced) == 2:
            raise ModelError("the budget is spent", outcome="budget stop", stops_run=True)
        self.announced.append(f"{model} {request.item}")

    def after(self, attempt: Attempt) -> None:
        self.attempts.append(attempt)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    """A folder into which pip installed the package of `tests/packages/echo_model`."""
    return installed(root / "tests" / "packages" / "echo_model", tmp_path_factory.mktemp("site"))


def test_a_package_registers_a_model(site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_served("echo")
    monkeypatch.syspath_prepend(str(site))
    assert not is_served("echo")
    books = Books()
    model = create_model("echo", ModelOptions(extra_body={"shout": True}), books)
    ask = ChatRequest([{"role": "user", "content": "hello"}], role="critic", item="7")
    assert asyncio.run(model.complete(ask)).text == "HELLO"
    (attempt,) = books.attempts
    assert books.announced == ["echo 7"]
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


async def test_a_registered_model_is_tried_again_where_it_says_that_may_help() -> None:
    class Shaky:
        name = "shaky"
        asked = 0

        async def complete(self, request: ChatRequest) -> ChatResponse:
            self.asked += 1
            if self.asked == 1:
                raise ModelError("later", transient=True, kind="HTTP 503", status=503)
            return ChatResponse("yes")

        async def close(self) -> None: ...

    async def at_once(seconds: float) -> None: ...

    books = Books()
    model = Client("shaky", ModelOptions(), books, transport=Registered(Shaky()), sleep=at_once)
    assert (await model.complete(ChatRequest([]))).attempts == 2
    assert [(a.outcome, a.number) for a in books.attempts] == [("HTTP 503", 1), ("answered", 2)]


def test_the_offline_model_is_in_the_books_too() -> None:
    books = Books()
    model = create_model("offline", ModelOptions(), books)
    answer = asyncio.run(model.complete(ChatRequest([], task=ReformatTask("text"), role="reformatter")))
    assert answer.text == "text"
    assert [(a.model, a.role, a.outcome) for a in books.attempts] == [("offline", "reformatter", "answered")]
