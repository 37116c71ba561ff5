"""A scripted model, what an item is given to ask one with, and a journal for its answers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from toolassay.models import ChatModel, ChatRequest, ChatResponse, ModelError
from toolassay.runs import Journal
from toolassay.runs.items import Ask


def ask_of(model: ChatModel, folder: Path | None = None, key: str = "item") -> Ask:
    """Gives the recorded answers of a folder, and then those of a model; without one nothing is recorded."""
    place = Path(tempfile.mkdtemp()) if folder is None else folder
    return Ask(key, Journal(place / "journal.jsonl"), lambda request, by: _answer(model, request))


async def _answer(model: ChatModel, request: ChatRequest) -> ChatResponse:
    return await model.complete(request)


class Scripted:
    """Says one thing after the other, then that it is done; remembers what it was asked."""

    name = "scripted"

    def __init__(self, *says: ChatResponse | ModelError) -> None:
        self.says = list(says)
        self.asked: list[ChatRequest] = []

    async def complete(self, request: ChatRequest) -> ChatResponse:
        self.asked.append(request)
        said = self.says.pop(0) if self.says else ChatResponse("Done.")
        if isinstance(said, ModelError):
            raise said
        return said

    async def close(self) -> None: ...
