"""What an item is given to ask a scripted model with, and a journal for its answers."""

from __future__ import annotations

import tempfile
from pathlib import Path

from toolassay.models import ChatModel, ChatRequest, ChatResponse
from toolassay.runs import Journal
from toolassay.runs.items import Ask


def ask_of(model: ChatModel, folder: Path | None = None, key: str = "item") -> Ask:
    """Gives the recorded answers of a folder, and then those of a model; without one nothing is recorded."""
    place = Path(tempfile.mkdtemp()) if folder is None else folder
    return Ask(key, Journal(place / "journal.jsonl"), lambda request, by: _answer(model, request))


async def _answer(model: ChatModel, request: ChatRequest) -> ChatResponse:
    return await model.complete(request)
