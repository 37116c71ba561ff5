"""The library in a real Jupyter kernel."""

from __future__ import annotations

import re
import threading
from pathlib import Path

import nbformat
import pytest
from nbclient.exceptions import CellExecutionError
from nbformat import NotebookNode

from tests.support.builders import data_folder
from tests.support.notebooks import executed, interrupt, kernel, notebook, printed, shown
from tests.support.running import ROOT, lines_of
from toolassay.testkit import FakeServer

QUICK_START = ROOT / "examples/quickstart.ipynb"


def test_a_cell_infers_and_shows_progress_and_warnings(tmp_path: Path, fake_server: FakeServer) -> None:
    folder = data_folder(tmp_path / "data", 12)
    fake_server.behaviour = lambda prompt, number: "400" if "Request 3:" in prompt else "whole"
    quiet, silent, plain, loud = executed(
        notebook(
            "import toolassay\n"
            "from toolassay.models import ModelOptions\n"
            f"options = ModelOptions(api_base={fake_server.base!r})",
            "ended = toolassay.infer('data', llm='a', options=options, screen=toolassay.SILENT, limit=2)",
            "ended = toolassay.infer('data', llm='b', options=options)\nprint(ended.written)",
            "ended = toolassay.infer('data', llm='offline', screen=toolassay.SCREEN)",
        ),
        tmp_path,
    ).cells
    assert quiet.outputs == silent.outputs == []
    (bar,) = shown(plain)
    assert bar.startswith("infer ━━━━━━━━━━━━━━━━━━━━━━━━ 12/12, 1 failed, ")
    assert printed(plain) == "11\n"
    assert printed(plain, "stderr").startswith("warning: 1 requests have no answer")
    assert "infer ━" in shown(loud)[0]
    assert printed(loud) == "data/predictions/offline.json: 12 lines (12 answered; 0 answered before)\n"
    assert "used by this run so far: 12 requests" in printed(loud, "stderr")
    assert len(lines_of(folder / "predictions/a.json")) == 2


@pytest.mark.slow  # about ten seconds, most of them pictures
def test_the_quick_start_notebook_runs_offline(tmp_path: Path) -> None:
    cells = [cell for cell in executed(quick_start(), tmp_path).cells if cell.cell_type == "code"]
    assert "answered" in shown(cells[-4])[-1]
    assert [kinds(cell)[-1] for cell in (cells[2], *cells[-3:])] == [
        *("image/png", "text/html", "text/html", "image/png")
    ]
    assert not any(printed(cell, "stderr") for cell in cells)
    assert [path.name for path in tmp_path.iterdir()] == ["quickstart"]


def test_the_quick_start_notebook_shows_its_outputs_and_nothing_of_the_machine() -> None:
    cells = [cell for cell in quick_start().cells if cell.cell_type == "code"]
    assert [cell.execution_count for cell in cells] == [*range(1, len(cells) + 1)]
    outputs = [output for cell in cells for output in cell.outputs]
    assert {output.output_type for output in outputs} == {"display_data", "execute_result", "stream"}
    assert "stderr" not in {output.get("name") for output in outputs}
    text = QUICK_START.read_text(encoding="utf-8")
    assert not re.findall(r"[^<\w:/.](/(?:tmp|root|home|usr|var|Users|opt)/\S*)|127\.0\.0\.1", text)
    assert QUICK_START.stat().st_size < 500_000


def quick_start() -> NotebookNode:
    book: NotebookNode = nbformat.read(QUICK_START, as_version=4)  # type: ignore[no-untyped-call]
    return book


def kinds(cell: NotebookNode) -> list[str]:
    """The richest form of each thing a cell displayed and returned."""
    forms = ("image/png", "text/html", "text/plain")
    return [
        next(form for form in forms if form in output.data) for output in cell.outputs if "data" in output
    ]


def test_interrupting_a_cell_finishes_what_is_in_flight(tmp_path: Path, fake_server: FakeServer) -> None:
    data_folder(tmp_path / "data", 9)
    book = notebook(
        "import toolassay\n"
        "from toolassay.models import ModelOptions\n"
        f"options = ModelOptions(api_base={fake_server.base!r})\n"
        "infer = lambda: toolassay.infer('data', llm='m', options=options, multiworker=3)",
        "infer()",
        "infer().already",
    )
    fake_server.behaviour = lambda prompt, number: "hold" if number >= 3 else "whole"

    def release(printed: str) -> None:
        if "finishing the 3 requests in flight" in printed:
            fake_server.release()

    with kernel(book, tmp_path, release) as client:
        client.execute_cell(book.cells[0], 0)

        def stop() -> None:
            fake_server.wait_for(6)
            interrupt(client)

        interrupter = threading.Thread(target=stop)
        interrupter.start()

        with pytest.raises(CellExecutionError, match="KeyboardInterrupt"):
            client.execute_cell(book.cells[1], 1)
        interrupter.join()
        assert len(lines_of(tmp_path / "data/predictions/m.json")) == 6
        client.execute_cell(book.cells[2], 2)
    assert shown(book.cells[2])[-1] == "6"
    assert len(fake_server.received) == 9
