from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from toolassay.benchmarks.taskbench.scoring.leaderboard import recorded_choices
from toolassay.errors import UsageError
from toolassay.evaluation.groups import groups_of
from toolassay.evaluation.metrics_file import read_groups
from toolassay.files import write_json

SIGNATURE = (
    "toolassay:1|mode:strict|metrics:f1+ed|alignment:node|keep:first|bootstrap:7@3|data:ab|group:x|n:1"
)


def groups(keys: list[str], signature: str = SIGNATURE) -> dict[str, dict[str, Any]]:
    return {key: {"strict": {"signature": signature}} for key in keys}


@pytest.mark.parametrize(
    ("splits", "sizes", "mode"),
    [
        (["overall"], ["overall"], "add"),
        (["all"], ["all"], "add"),
        (["chain", "dag"], ["2", "3"], "mul"),
    ],
)
def test_the_groups_of_a_file_are_asked_for_again(splits: list[str], sizes: list[str], mode: str) -> None:
    keys = [group.key for group in groups_of(splits, sizes, mode)]
    choices = recorded_choices(groups(keys), Path("m.json"))
    found = [group.key for group in groups_of(choices.splits, map(str, choices.n_tools), choices.mode)]
    assert sorted(found) == sorted(keys)


def test_choices_come_from_the_signature() -> None:
    choices = recorded_choices(groups(["overall_overall"]), Path("m.json"))
    assert choices.metrics == ("f1", "ed")
    assert (choices.alignment, choices.keep, choices.resamples, choices.seed) == ("node", "first", 7, 3)
    assert not choices.rouge_median
    assert choices.rouge_backend == "builtin"


def test_the_backend_of_rouge_comes_from_the_signature() -> None:
    signature = SIGNATURE.replace("|data:", "|rouge:rouge-score-0.1.2|data:")
    choices = recorded_choices(groups(["overall_overall"], signature), Path("m.json"))
    assert choices.rouge_backend == "rouge-score"


@pytest.mark.parametrize("signature", ["", "metrics:f1", SIGNATURE.replace("7@3", "many")])
def test_a_signature_that_says_too_little_is_an_error(signature: str) -> None:
    with pytest.raises(UsageError, match=r"m\.json: has no signature"):
        recorded_choices(groups(["overall_overall"], signature), Path("m.json"))


@pytest.mark.parametrize("value", [[], {}, {"a": 3}, {"a": {"strict": 3}}])
def test_what_is_no_metrics_file_is_named(tmp_path: Path, value: Any) -> None:
    write_json(tmp_path / "m.json", value)
    with pytest.raises(UsageError, match=r"m\.json: is not a metrics file"):
        read_groups(tmp_path / "m.json")
