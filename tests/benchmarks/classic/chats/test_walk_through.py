"""The commands of docs/classic.md, as they stand there."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from toolassay.benchmarks.classic.chats.workbook import COLUMNS, NONE
from toolassay.benchmarks.classic.data import read_data
from toolassay.cli.main import cli, run

for package in ("ftfy", "bs4", "presidio_analyzer", "pyarrow"):
    pytest.importorskip(package, reason="pip install '.[chats,hub]'")
openpyxl = pytest.importorskip("openpyxl", reason="pip install '.[chats]'")


def test_the_walk_through(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (root / "docs/classic.md").read_text(encoding="utf-8")
    before, after = re.findall(r"^```bash\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    (tmp_path / "examples").symlink_to(root / "examples")
    monkeypatch.chdir(tmp_path)
    for line in before.splitlines():
        assert run(cli, shlex.split(line)[1:], "toolassay") == 0, line
    assert "| sampled | 0 | 0 | 0 | 14 | 18 |" in capfd.readouterr().out
    for name, printer in (("ann", "Printer Trouble"), ("ben", "Order Equipment"), ("cem", "Printer Trouble")):
        fill(tmp_path / f"demo/books/{name}.xlsx", {"hr": "Leave", "it": printer})
    for line in after.splitlines():
        assert run(cli, shlex.split(line)[1:], "toolassay") == 0, line
    labels = {example.id: example.labels for example in read_data(tmp_path / "demo/set").examples}
    assert len(labels) == 18
    assert (
        labels["c01--0"] == ("hr-leave",) and labels["c14--0"] == ("it-printer",) and labels["c10--0"] == ()
    )
    assert (tmp_path / "demo/hub/messages.parquet").is_file()


def fill(path: Path, choices: dict[str, str]) -> None:
    """Everybody chooses alike but for the chat about the canteen, of which none fits."""
    book = openpyxl.load_workbook(path)
    column = COLUMNS.index("Workflow 1") + 1
    for domain, choice in choices.items():
        for row in range(2, book[domain].max_row + 1):
            none = book[domain].cell(row, 1).value == "c10"
            book[domain].cell(row, column).value = NONE if none else choice
    book.save(path)


def test_merging_with_open_conflicts_ends_incomplete(
    root: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    def build(*words: object) -> int:
        return run(cli, ["classic", "build", *map(str, words)], "toolassay")

    sample, books = tmp_path / "sample", tmp_path / "books"
    assert build("sample", "--raw", root / "examples/chats", "--out", sample, "--mask", "off") == 0
    assert build("workbook", "--data_dir", sample, "--annotators", "ann,ben", "--out", books) == 0
    fill(books / "ann.xlsx", {"hr": "Leave", "it": "Printer Trouble"})
    fill(books / "ben.xlsx", {"hr": "Leave", "it": "Order Equipment"})
    files = ["--workbooks", books / "ann.xlsx", books / "ben.xlsx"]
    assert build("merge", "--data_dir", sample, *files, "--out", tmp_path / "set") == 3
    assert build("merge", "--data_dir", sample, *files, "--out", tmp_path / "two", "--ties", "drop") == 0
    capfd.readouterr()
    given = ("sample", "--raw", root / "examples/chats", "--out", tmp_path / "x", "--filter")
    for text, told in (("null", "--filter 'null' has no '='"), ("null=no", "unknown action 'no'")):
        assert build(*given, text) == 2
        assert told in capfd.readouterr().err
