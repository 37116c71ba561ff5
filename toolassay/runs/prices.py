"""What hosted models cost: a dated table that a user can replace."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.files import read_text

COLUMNS = ("model", "prompt_usd_per_million", "completion_usd_per_million", "as_of")
_FIX = f"the first line must be {','.join(COLUMNS)}, then e.g. my-model,0.15,0.60,2026-01-31"


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, read in the prompt and written by the model, on a date."""

    prompt: float
    completion: float
    as_of: str

    def of(self, prompt_tokens: float, completion_tokens: float) -> float:
        """The price of a call, in dollars.

        >>> Price(2.5, 10, "2025-06-01").of(1000, 100)
        0.0035
        """
        return (prompt_tokens * self.prompt + completion_tokens * self.completion) / 1_000_000


def read_prices(path: Path | None = None) -> Mapping[str, Price]:
    """Prices by the exact name of the model: those of a file, else of the table that comes along.

    The table that comes along is dated and goes stale; what is not in it has no known price.

    Raises:
        UsageError: the file is missing or malformed (names the line).
    """
    if path is None:
        text = files("toolassay.runs").joinpath("prices.csv").read_text(encoding="utf-8")
        return dict(_rows(text, Path("prices.csv")))
    return dict(_rows(read_text(path, fix="check --prices"), path))


def _rows(text: str, path: Path) -> Iterator[tuple[str, Price]]:
    lines = csv.reader(io.StringIO(text))
    if tuple(name.strip() for name in next(lines, [])) != COLUMNS:
        raise UsageError("is not a table of prices", file=path, line=1, fix=_FIX)
    for row in lines:
        if not row:
            continue
        try:
            model, prompt, completion, as_of = (cell.strip() for cell in row)
            price = Price(float(prompt), float(completion), as_of)
            if not (model and 0 <= price.prompt < 1e9 and 0 <= price.completion < 1e9):
                raise ValueError
        except ValueError:
            raise UsageError("is not a price", file=path, line=lines.line_num, fix=_FIX) from None
        yield model, price
