"""Configuration files found and merged, and single values set."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.benchmarks.classic.run import Configuration, read_configuration
from toolassay.errors import UsageError

ALL = {"data": "v1", "agent": "cot", "eval": "no_security"}


def of(*overrides: str, **names: str) -> Configuration:
    return read_configuration({**ALL, **names}, overrides)


def test_bundled_configurations_are_merged() -> None:
    found = of()
    assert found.dataset.path_or_name == "data_classic"
    assert (found.agent.name, found.agent.temperature) == ("cot", 0.7)
    assert "security" not in found.eval.limit_to_metrics
    for agent in ("reasoning", "tools", "retrieval", "recorded"):
        assert of(agent=agent).agent.name == agent
    assert "security" in of(eval="default").eval.limit_to_metrics


def test_the_last_value_counts_and_an_empty_one_is_the_default() -> None:
    found = of("agent.order=1", "agent.base_model=a=b", "agent.temperature=2e-1", "agent.order=2")
    assert (found.agent.base_model, found.agent.temperature, found.agent.order) == ("a=b", 0.2, 2)
    assert of("eval.limit=3", "eval.limit=").eval.limit is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agent.temprature=1", "unknown field `temprature` - at `$.agent`"),
        ("agent.temperature", "write KEY=VALUE"),
        ("agent.order=2026-02-30", "is not valid YAML"),
        ("eval.limit_to_metrics=[speed]", "limit_to_metrics"),
        ("eval.n_trials=0", "n_trials"),
    ],
)
def test_an_invalid_value_is_refused_in_one_line(text: str, told: str) -> None:
    with pytest.raises(UsageError) as error:
        of(text)
    assert told in str(error.value) and "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("agent: [", "mine.yaml:1: is not valid YAML"),
        ("agent: cot", "mine.yaml: is not a mapping"),
        ("agent: {nam: cot}", "mine.yaml: .*unknown field `nam`"),
        ("agent: {name: !!python/object:os.system x}", "is not valid YAML"),
        ("agent: &a {name: *a}", r"mine.yaml: .*agent.name"),
    ],
)
def test_a_malformed_file_is_named(tmp_path: Path, text: str, told: str) -> None:
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UsageError, match=told):
        of(agent=str(tmp_path / "mine.yaml"))
    with pytest.raises(UsageError, match=r"give a path, or one of .*cot, .*reasoning"):
        of(agent="mine")


@pytest.mark.parametrize("name", ["api_key", "API-KEY", "token", "extra_headers"])
def test_a_secret_is_refused_and_never_repeated(tmp_path: Path, name: str) -> None:
    (tmp_path / "mine.yaml").write_text(f"agent: {{{name}: sk-secret}}")
    for attempt in ({"agent": str(tmp_path / "mine.yaml")}, {}):
        with pytest.raises(UsageError, match="OPENAI_API_KEY") as error:
            of(*([] if attempt else [f"--agent.{name}=sk-secret"]), **attempt)
        assert "sk-secret" not in str(error.value)
