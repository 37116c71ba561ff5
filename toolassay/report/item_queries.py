"""Files of items that are too large for a page: DuckDB counts over them, and a page shows a random part."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.dataset import SHAPES
from toolassay.errors import UsageError
from toolassay.evaluation.items import FIX, ScoredItem, scored_item, with_outcomes
from toolassay.extras import needed
from toolassay.files import parse_json
from toolassay.runs.outcomes import EXCLUDED

MOST_ITEMS = 20_000
"""Items that a page shows in detail: a browser holds about 1 KB of each."""
_DIGITS = 10_000  # scores are rounded to four digits
_MEMORY = "1GB"  # beyond it DuckDB writes to its temporary folder
_COLUMNS = (
    "{id: 'VARCHAR', type: 'VARCHAR', n_tools: 'INTEGER', outcome: 'VARCHAR', scores: 'MAP(VARCHAR, DOUBLE)'}"
)
_SCORED = f"outcome NOT IN ({', '.join(repr(name) for name in sorted(EXCLUDED))})"


class ItemQueries:
    """Questions to the files of items of several models. No file is held in memory.

    Args:
        files: the file of each model.

    Raises:
        UsageError: duckdb is not installed.
    """

    def __init__(self, files: Mapping[str, Path]) -> None:
        duckdb = needed("duckdb", f"a report of more than {MOST_ITEMS:,} items", "scale")
        self._files = files
        self._error: type[Exception] = duckdb.Error
        self._connection = duckdb.connect(config={"memory_limit": _MEMORY})

    def sample(self, size: int, *, seed: int = 0) -> frozenset[str]:
        """Ids drawn at random from those of all models; the same ones whatever the order of the files.

        Raises:
            UsageError: a file is malformed.
        """
        every = " UNION ".join("SELECT id FROM " + _source() for _ in self._files)
        found = self._rows(
            f"SELECT id FROM ({every}) ORDER BY md5(id || ?), id LIMIT ?",
            [*map(_escaped, self._files.values()), f"-{seed}", size],
        )
        return frozenset(key for (key,) in found)

    def items(self, model: str, ids: Collection[str]) -> dict[str, ScoredItem]:
        """Some of the items of a model, by id.

        Raises:
            UsageError: its file is malformed.
        """
        path = self._files[model]
        found = self._rows(
            "SELECT json FROM read_ndjson_objects(?, hive_partitioning = false)"
            " WHERE json->>'id' IN (SELECT unnest(?::VARCHAR[]))",
            [_escaped(path), sorted(ids)],
        )
        items = with_outcomes((scored_item(parse_json(text), path) for (text,) in found), path)
        return {item.id: item for item in items}

    def outcomes(self, model: str) -> Counter[str]:
        """The number of items of a model by outcome.

        Raises:
            UsageError: its file is malformed.
        """
        query = f"SELECT outcome, count(*) FROM {_source()} GROUP BY outcome ORDER BY outcome"
        return Counter(dict(self._rows(query, [_escaped(self._files[model])])))

    def breakdowns(self, models: Sequence[str], score: str) -> Iterator[dict[str, Any]]:
        """The mean score by size and by shape or group, as on the page, over all items.

        Raises:
            UsageError: a file is malformed.
        """
        columns = {"Number of tools": "n_tools", "": "type"}
        for title, column in columns.items():
            # By model and group: the number of items, the sum of their scores, and how many have one. Sums of
            # whole numbers, because threads add up in any order.
            query = (
                f"SELECT {column}, count(*), sum(CAST(round(own * {_DIGITS}) AS BIGINT)), count(own) FROM ("
                f"SELECT {column}, round(CASE WHEN {_SCORED} THEN scores[?] END, 4) AS own FROM {_source()})"
                f" GROUP BY {column}"
            )
            counts = [
                {group: found for group, *found in self._rows(query, [score, _escaped(self._files[name])])}
                for name in models
            ]
            groups = sorted({group for found in counts for group in found})
            if len(groups) > 1:
                yield {
                    "title": title or ("Shape" if set(groups) <= set(SHAPES) else "Group"),
                    "rows": [
                        {
                            "group": str(group),
                            "n": max(found[group][0] for found in counts if group in found),
                            "values": [
                                int(found[group][1]) / _DIGITS / found[group][2]
                                if group in found and found[group][2]
                                else None
                                for found in counts
                            ],
                        }
                        for group in groups
                    ],
                }

    def _rows(self, query: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
        try:
            rows: list[tuple[Any, ...]] = self._connection.execute(query, parameters).fetchall()
        except self._error as error:
            message = str(error).splitlines()[0]
            where = next((path for path in self._files.values() if str(path) in str(error)), None)
            is_half = "surrogate" in message
            fix = (
                "give that label an id without half a surrogate pair, and evaluate again" if is_half else FIX
            )
            raise UsageError(f"cannot be queried: {message}", file=where, fix=fix) from None
        return rows


def _source() -> str:
    # Hive partitioning would read a column from a folder that is named "type=chain".
    return f"read_json(?, format = 'newline_delimited', columns = {_COLUMNS}, hive_partitioning = false)"


def _escaped(path: Path) -> str:
    """A path that DuckDB does not take for a pattern: "run[1]" is a folder, not "run1"."""
    return re.sub(r"([*?\[])", r"[\1]", str(path))
