"""Running cells in a real Jupyter kernel."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

from tests.support.running import environment


def notebook(*sources: str) -> NotebookNode:
    """A notebook of code cells."""
    book: NotebookNode = new_notebook(cells=[new_code_cell(source) for source in sources])  # type: ignore[no-untyped-call]
    return book


class _Client(NotebookClient):
    """Reports what cells print while they run."""

    def __init__(self, book: NotebookNode, folder: Path, printed: Callable[[str], None]) -> None:
        super().__init__(book, timeout=60, resources={"metadata": {"path": str(folder)}})
        self._printed = printed

    def process_message(self, msg: dict[str, Any], cell: NotebookNode, cell_index: int) -> Any:
        if msg["msg_type"] == "stream":
            self._printed(msg["content"]["text"])
        return super().process_message(msg, cell, cell_index)


@contextmanager
def kernel(
    book: NotebookNode, folder: Path, printed: Callable[[str], None] = lambda text: None
) -> Iterator[NotebookClient]:
    """A client of this notebook with its kernel running in a folder, as a user's kernel does."""
    client = _Client(book, folder, printed)
    with client.setup_kernel(env=environment()):
        yield client


def interrupt(client: NotebookClient) -> None:
    """What the stop button of a notebook does."""
    manager: Any = client.km  # an AsyncKernelManager, which nbclient does not say
    asyncio.run(manager.interrupt_kernel())


def executed(book: NotebookNode, folder: Path) -> NotebookNode:
    """The notebook with its outputs.

    Raises:
        nbclient.exceptions.CellExecutionError: a cell failed.
    """
    with kernel(book, folder) as client:
        for number, cell in enumerate(book.cells):
            client.execute_cell(cell, number)
    return book


def printed(cell: NotebookNode, stream: str = "stdout") -> str:
    """What a cell wrote to a stream."""
    return "".join(
        output.text for output in cell.outputs if output.output_type == "stream" and output.name == stream
    )


def shown(cell: NotebookNode) -> list[str]:
    """The plain text of what a cell displayed and returned."""
    kinds = ("display_data", "execute_result")
    return [output.data.get("text/plain", "") for output in cell.outputs if output.output_type in kinds]
