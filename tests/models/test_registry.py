from __future__ import annotations

import pytest

from toolgraph.errors import UsageError
from toolgraph.models import ModelOptions, create_model
from toolgraph.models.client import Client
from toolgraph.models.registry import is_served
from toolgraph.offline.model import OfflineModel


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
