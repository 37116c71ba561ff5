"""The published layout of a workplace: `processed/` and `raw/` with CSV files."""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TypedDict

from toolassay.benchmarks.workbench.sandbox.schema import DIRECTORY, TABLES, VISITS, Layout
from toolassay.errors import UsageError
from toolassay.files import read_json
from toolassay.locks import open_regular

NOW = datetime(2023, 11, 30)
USER = "Sam"
ADDRESSES = Path("raw", "email_addresses.csv")

# The published program reads these cells as missing: the default `na_values` of pandas.read_csv.
_MISSING = frozenset(
    {"", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>"}
    | {"N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"}
)


class PublishedTables(TypedDict):
    """The arguments of `Sandbox.of`."""

    tables: dict[str, list[list[str | int | None]]]
    now: datetime
    user: str


def read_published(folder: Path) -> PublishedTables:
    """Read the tables of a folder in the published layout.

    Without `now` and `user` in its `benchmark.json`, the published ones apply: 2023-11-30 and Sam.

    Raises:
        UsageError: a file is missing or has other columns.
    """
    tables: dict[str, list[list[str | int | None]]] = {}
    for table in TABLES:
        if table.file is not None:
            tables[table.name] = _read_table(folder / "processed" / table.file, table)
    tables[DIRECTORY.name] = [[name] for name in _read_addresses(folder / ADDRESSES)]
    engaged = VISITS.columns.index("user_engaged")
    for visit in tables[VISITS.name]:
        visit[engaged] = int(visit[engaged] == "True")
    now, user = _stated(folder)
    return {"tables": tables, "now": now or NOW, "user": USER if user is None else user}


def check_stated(folder: Path, now: datetime, user: str) -> None:
    """Refuse a `benchmark.json` that states another time or user than the `sandbox.sqlite` beside it.

    The time cannot be changed there: requests ("tomorrow") and ground truth were made for the sandbox's time
    and would no longer agree.

    Raises:
        UsageError: the time or the user differs.
    """
    stated_now, stated_user = _stated(folder)
    pairs = (("now", stated_now and str(stated_now), str(now)), ("user", stated_user, user))
    for key, stated, held in pairs:
        if stated not in (None, held):
            raise UsageError(
                f"'{key}' is {stated!r}, but sandbox.sqlite, which the tasks were made for, has {held!r}",
                file=folder / "benchmark.json",
                fix=f'write "{key}": "{held}"',
            )


def _stated(folder: Path) -> tuple[datetime | None, str | None]:
    """The time and the user in the folder's `benchmark.json`; None for each one that is not there."""
    about = folder / "benchmark.json"
    settings = read_json(about) if about.exists() else {}
    if not isinstance(settings, dict):
        raise UsageError("is not a JSON object", file=about, fix='write {"benchmark": "workbench"}')
    try:
        now = datetime.fromisoformat(settings["now"]) if "now" in settings else None
    except (TypeError, ValueError):
        raise UsageError(
            f"'now' is {settings['now']!r}", file=about, fix="write YYYY-MM-DD HH:MM:SS"
        ) from None
    return now, str(settings["user"]) if "user" in settings else None


def read_csv(path: Path) -> Iterator[dict[str, str | None]]:
    """The rows of a CSV file with a header, by column. A cell that pandas reads as missing is None.

    Raises:
        UsageError: the file does not exist, is not UTF-8 CSV, or has a row with more cells than the header.
    """
    csv.field_size_limit(sys.maxsize)  # recorded conversations exceed the default of 131,072 characters
    try:
        with open_regular(path, "r", encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=False)
            for row in reader:
                if None in row:
                    raise UsageError(
                        "more cells than columns", file=path, line=reader.line_num, fix="quote its commas"
                    )
                yield {name: None if cell in _MISSING else cell for name, cell in row.items()}
    except FileNotFoundError:
        raise UsageError(
            "no such file", file=path, fix="give --data_dir a published folder or one with sandbox.sqlite"
        ) from None
    except (UnicodeDecodeError, csv.Error) as error:
        raise UsageError(f"not a CSV file: {error}", file=path, fix="save it as UTF-8 CSV") from None


def _read_table(path: Path, table: Layout) -> list[list[str | int | None]]:
    rows: list[list[str | int | None]] = []
    for row in read_csv(path):
        if tuple(row) != table.columns:
            raise UsageError(
                f"has the columns {', '.join(row)}", file=path, fix=f"name them {', '.join(table.columns)}"
            )
        rows.append(list(row.values()))
    return rows


def _read_addresses(path: Path) -> list[str]:
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(
            f"cannot be read: {error}", file=path, fix="write one e-mail address per line"
        ) from None
    return [line.strip() for line in lines if line.strip()]
