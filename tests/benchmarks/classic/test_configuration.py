"""Configuration files found and merged, and single values set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.classic.run import read_configuration
from toolassay.errors import UsageError

ALL = {"data": "v1", "agent": "cot", "eval": "no_security"}


def of(*overrides: str, **names: str) -> dict[str, Any]:
    return dict(read_configuration({**ALL, **names}, overrides).values)


def test_what_comes_along_is_merged() -> None:
    found = of()
    assert found["dataset.path_or_name"] == "data_classic"
    assert (found["agent.name"], found["agent.temperature"]) == ("cot", 0.7)
    assert "security" not in found["eval.limit_to_metrics"]
    for agent in ("reasoning", "tools", "retrieval", "recorded"):
        assert of(agent=agent)["agent.name"] == agent
    assert "eval.limit_to_metrics" not in of(eval="default")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("agent.temperature=0.2", "agent.temperature", 0.2),
        ("agent.base_model=a=b", "agent.base_model", "a=b"),
        ("agent.base_model=7", "agent.base_model", "7"),
        ("eval.limit=", "eval.limit", None),
    ],
)
def test_a_value_is_set(text: str, key: str, value: Any) -> None:
    found = of("agent.order=1", text, "agent.order=2")
    assert (found[key], found["agent.order"]) == (value, "2")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "agent.temprature=1",
            "unknown key 'agent.temprature'. Fix: did you mean agent.temperature",
        ),
        ("agent.temperature", "cannot read 'agent.temperature'. Fix: write KEY=VALUE"),
        ("agent.order=2026-02-30", "cannot be parsed as YAML"),
        ("eval.limit_to_metrics=[speed]", "is not a list with some of cost"),
    ],
)
def test_what_does_not_fit_is_one_line(text: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as error:
        of(text)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agent: [", "mine.yaml:1: is not valid YAML"),
        ("agent: {nam: cot}", "mine.yaml: unknown key 'agent.nam'.*agent.name"),
        ("agent: {name: !!python/object:os.system x}", "is not valid YAML"),
        ("agent: &a {name: *a}", "mine.yaml: is nested too deeply or refers"),
    ],
)
def test_so_is_a_malformed_file(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UsageError, match=told):
        of(agent=str(tmp_path / "mine.yaml"))
    with pytest.raises(UsageError, match=r"give a path, or one of .*cot, .*reasoning"):
        of(agent="mine")


@pytest.mark.parametrize("name", ["api_key", "API-KEY", "token", "extra_headers"])
def test_a_secret_is_refused_and_never_repeated(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"agent: {{{name}: sk-secret}}")
    for attempt in ({"agent": str(tmp_path / "mine.yaml")}, {}):
        with pytest.raises(UsageError, match="set OPENAI_API_KEY") as error:
            of(*([] if attempt else [f"--agent.{name}=sk-secret"]), **attempt)
        assert "sk-secret" not in str(error.value)
