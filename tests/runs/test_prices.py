from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.runs.prices import Price, read_prices


def test_the_table_that_comes_along_is_dated_and_sane() -> None:
    prices = read_prices()
    assert len(prices) >= 12
    for price in prices.values():
        date.fromisoformat(price.as_of)
        assert 0 < price.prompt <= price.completion
    assert prices["gpt-4o"].of(1_000_000, 100_000) == 3.5
    assert "gpt-4o-2024-05-13" not in prices  # another price: names are taken exactly


def test_a_table_of_ones_own_replaces_it(tmp_path: Path) -> None:
    path = tmp_path / "prices.csv"
    path.write_text("model, prompt_usd_per_million,completion_usd_per_million,as_of\n\nmine,0,0,2026-01-01\n")
    assert read_prices(path) == {"mine": Price(0, 0, "2026-01-01")}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", 1),
        ("model,price\n", 1),
        ("HEAD\nmine,cheap,1,2026-01-01\n", 2),
        ("HEAD\nmine,1,1,2026-01-01\nmine,1,-1,2026-01-01\n", 3),
        ("HEAD\nmine,1,nan,2026-01-01\n", 2),
        ("HEAD\nmine,1\n", 2),
        ("HEAD\n,1,1,2026-01-01\n", 2),
    ],
)
def test_what_is_no_price_is_named(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "p.csv"
    path.write_text(text.replace("HEAD", "model,prompt_usd_per_million,completion_usd_per_million,as_of"))
    with pytest.raises(UsageError, match=rf"p\.csv:{line}: .*my-model"):
        read_prices(path)


def test_a_missing_table_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="check --prices"):
        read_prices(tmp_path / "none.csv")
