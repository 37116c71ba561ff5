from __future__ import annotations

import csv
import json
from datetime import datetime
from pathlib import Path

import pytest

from toolassay.benchmarks.workbench.sandbox import TABLES, Sandbox
from toolassay.errors import UsageError


def build_folder(path: Path) -> Path:
    """The published layout with one row a table."""
    (path / "processed").mkdir()
    (path / "raw").mkdir()
    (path / "raw" / "email_addresses.csv").write_text("ann@acme.example\nbo@acme.example\n")
    for table in TABLES:
        if table.file is not None:
            with (path / "processed" / table.file).open("w", newline="") as stream:
                csv.writer(stream).writerows([table.columns, [f"{name} é, 1" for name in table.columns]])
    return path


def test_every_table_is_read_as_text(folder: Path) -> None:
    sandbox = Sandbox.load(folder)
    assert sandbox.rows("tasks") == [
        tuple(f"{name} é, 1" for name in next(t for t in TABLES if t.name == "tasks").columns)
    ]
    assert sandbox.rows("directory") == [("ann@acme.example",), ("bo@acme.example",)]
    assert (sandbox.now, sandbox.user) == (datetime(2023, 11, 30), "Sam")


def test_an_empty_cell_is_missing_and_so_is_what_pandas_takes_for_missing(folder: Path) -> None:
    path = folder / "processed" / "customer_relationship_manager_data.csv"
    header = path.read_text().splitlines()[0]
    path.write_text(f"{header}\n0,a,Nan,b,,NaN,None,null,none,NA \n")
    assert Sandbox.load(folder).rows("customers") == [
        ("0", "a", "Nan", "b", None, None, None, None, "none", "NA ")
    ]


def test_the_moment_and_the_user_may_be_named(folder: Path) -> None:
    (folder / "benchmark.json").write_text(json.dumps({"now": "2025-01-02 03:04:05", "user": "Kim"}))
    sandbox = Sandbox.load(folder)
    assert (sandbox.now, sandbox.user) == (datetime(2025, 1, 2, 3, 4, 5), "Kim")


@pytest.mark.parametrize(
    ("stated", "complaint"),
    [
        (
            {"now": "2024-03-01 09:00:00"},
            "'now' is '2024-03-01 09:00:00', but sandbox.sqlite, .* '2023-11-30",
        ),
        ({"now": "soon"}, "'now' is 'soon'"),
        ({"user": "Kim"}, "'user' is 'Kim', but sandbox.sqlite, .* 'Sam'. Fix: write \"user\": \"Sam\""),
    ],
)
def test_a_moment_or_user_that_the_tasks_were_not_made_for_is_refused(
    folder: Path, stated: dict[str, str], complaint: str
) -> None:
    Sandbox.load(folder).save(folder / "sandbox.sqlite")
    (folder / "benchmark.json").write_text(json.dumps(stated))
    with pytest.raises(UsageError, match=complaint):
        Sandbox.load(folder)


def test_other_columns_are_refused_with_the_right_ones(folder: Path) -> None:
    (folder / "processed" / "emails.csv").write_text("id,text\n1,2\n")
    with pytest.raises(UsageError, match=r"emails.csv: has the columns id, text. Fix: name them email_id"):
        Sandbox.load(folder)
