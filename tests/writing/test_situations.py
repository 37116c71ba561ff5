"""Persons and occasions that the writer proposes for a library."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.answering import Answering, served
from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError
from toolassay.models import ChatRequest, ChatResponse, ModelError
from toolassay.runs.settings import ModelSettings, RunChoices, RunSettings
from toolassay.tools.library import Tool, ToolLibrary
from toolassay.writing.situations import Situations, library_situations
from toolassay.writing.turns import Situation

PERSONS = [f"a gardener of kind {number}" for number in range(12)]
OCCASIONS = [f"frost on day {number}" for number in range(12)]
LIBRARY = ToolLibrary([Tool("sow", "Sows seeds.")])


def asked(folder: Path, answer: str, library: ToolLibrary = LIBRARY) -> tuple[Situations | None, list[str]]:
    """What is proposed, and the prompts that were sent for it."""
    prompts: list[str] = []

    def say(request: ChatRequest) -> ChatResponse:
        prompts.append(str(request.messages[0]["content"]))
        return ChatResponse(answer)

    with served(Answering(say, "writer")):
        run = RunSettings(ModelSettings("writer"), choices=RunChoices(), screen=Screen(say=lambda _: None))
        return library_situations(folder, library, run), prompts


def test_they_are_asked_for_once_and_drawn_per_sample(tmp_path: Path) -> None:
    answer = json.dumps({"persons": PERSONS, "occasions": OCCASIONS})
    proposed, prompts = asked(tmp_path, answer)
    assert proposed == Situations(tuple(PERSONS), tuple(OCCASIONS))
    assert len(prompts) == 1 and "sow" in prompts[0]
    assert asked(tmp_path, "never asked") == (proposed, [])
    drawn = [Situation.drawn(7, index, proposed) for index in range(200)]
    assert {one.person for one in drawn} == set(PERSONS)
    assert {one.occasion for one in drawn} == set(OCCASIONS)


def test_another_library_has_others(tmp_path: Path) -> None:
    asked(tmp_path, json.dumps({"persons": PERSONS, "occasions": OCCASIONS}))
    other = ToolLibrary([Tool("reap", "Reaps.")])
    found, prompts = asked(tmp_path, json.dumps({"persons": OCCASIONS, "occasions": PERSONS}), other)
    assert found == Situations(tuple(OCCASIONS), tuple(PERSONS)) and len(prompts) == 1


@pytest.mark.parametrize(
    "answer",
    ["", "[]", json.dumps({"persons": PERSONS[:2], "occasions": OCCASIONS}),
     json.dumps({"persons": ["x" * 5_000] * 12, "occasions": OCCASIONS})],
)  # fmt: skip
def test_an_unusable_answer_is_not_asked_again(tmp_path: Path, answer: str) -> None:
    assert asked(tmp_path, answer)[0] is None
    assert asked(tmp_path, json.dumps({"persons": PERSONS, "occasions": OCCASIONS})) == (None, [])


def test_a_writer_that_cannot_be_reached_is_an_error(tmp_path: Path) -> None:
    def fail(request: ChatRequest) -> ChatResponse:
        raise ModelError("the server is gone")

    with served(Answering(fail, "writer")), pytest.raises(ToolassayError, match="the server is gone"):
        library_situations(tmp_path, LIBRARY, RunSettings(ModelSettings("writer")))
