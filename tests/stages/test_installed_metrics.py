"""A metric that another package installs, from its wheel to the comparison of two models."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.builders import plan, scored_folder
from tests.support.evaluating import metrics_of
from tests.support.running import inside
from tests.support.wheels import installed
from toolassay import compare, evaluate
from toolassay.errors import ToolassayError
from toolassay.evaluation.items import items_path, read_items
from toolassay.metrics.installed import installed_metrics

PACKAGE = Path("tests") / "packages" / "length_metric"


def build_folder(path: Path) -> Path:
    """Eight labels of two tools and one of a single tool; `long` always plans three."""
    gold = {str(n): plan("a", "b") for n in range(8)} | {"8": plan("a")}
    return scored_folder(path, gold, {"good": gold, "long": dict.fromkeys(gold, plan("a", "b", "c"))})


@pytest.fixture(scope="module")
def working(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / PACKAGE, tmp_path_factory.mktemp("working"))


@pytest.fixture(scope="module")
def broken(tmp_path_factory: pytest.TempPathFactory, root: Path) -> Path:
    return installed(root / "tests" / "packages" / "broken_metrics", tmp_path_factory.mktemp("broken"))


def test_a_metric_of_another_package_is_everywhere(
    folder: Path, working: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert installed_metrics() == ()
    monkeypatch.syspath_prepend(str(working))
    screen = inside("evaluate", "--data_dir", folder, "--llm", "good", "--llm", "long").out.splitlines()
    strict = [line.split()[-1] for line in screen if " strict " in line]
    compat = [line.split()[-1] for line in screen if " compat " in line]
    assert next(line for line in screen if "n-F1" in line).split()[-1] == "same_length"
    assert (strict, compat) == (["100.00", "0.00"], ["–", "–"])

    numbers = metrics_of(folder, "long")
    assert numbers["strict"]["same_length"] == {"value": 0.0, "low": 0.0, "high": 0.3244}
    assert "same_length" in numbers["strict"]["signature"]
    items = {
        item.id: item.scores["same_length"] for item in read_items(items_path(folder / "metrics/good.json"))
    }
    assert items == {**dict.fromkeys("01234567", 1.0), "8": None}

    (model,) = compare("good", "long", data_dir=folder).models
    assert model["same_length"].n == 8
    assert model["same_length"].difference == (-1.0, -1.0, -1.0)
    assert model["same_length"].verdict == "worse"
    done = inside("compare", "good", "long", "--data_dir", folder)
    assert any(line.startswith(" same_length ") for line in done.out.splitlines())


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("raises", "'raises' failed on item '0'"),
        ("seven", "'seven' failed on item '0': 7 is not 0 to 1"),
        ("node_f1", "'node_f1' (broken_metrics:Seven) cannot have that name"),
    ],
)
def test_a_broken_metric_is_one_line_and_loses_nothing(
    folder: Path, broken: Path, name: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    evaluate(folder, llm="good")
    before = (folder / "metrics" / "good.json").read_bytes()
    monkeypatch.syspath_prepend(str(broken))
    done = inside("evaluate", "--data_dir", folder, "--llm", "good", "-m", name)
    assert done.code in (1, 2) and words in done.error and "Fix: " in done.error
    assert len(done.err.strip().splitlines()) == 1
    assert (folder / "metrics" / "good.json").read_bytes() == before
    with pytest.raises(ToolassayError):
        evaluate(folder, llm="good", metrics=[name])


def test_the_documentation_shows_this_very_metric(root: Path) -> None:
    page = (root / "docs" / "reference-metrics.md").read_text(encoding="utf-8")
    source = root / PACKAGE / "length_metric.py"
    assert page.split("```python\n")[1].split("```")[0] == source.read_text(encoding="utf-8")
