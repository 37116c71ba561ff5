"""Persons and occasions that fit a library: its writer proposes them, once, in a small run of its own."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Annotated, Any

import msgspec

from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError
from toolassay.files.data_files import write_json_lines
from toolassay.models import ChatRequest
from toolassay.models.json_answers import read_answer
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.templates import package_template
from toolassay.runs.items import Ask, ItemWork
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.run import Run
from toolassay.runs.settings import RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, Work, WorkFacts, Written
from toolassay.tools.library import ToolLibrary
from toolassay.writing.shown import shown_service

FOLDER = "situations"
"""Folder of the run, below the data folder."""
NUMBER = 12
"""Of the persons, and of the occasions."""
_FEWEST = 6  # with fewer, requests would be more alike than with the packaged ones
_MOST_NAMES = 200  # of tools in the prompt
_PARAMETERS: Mapping[str, Any] = {"temperature": 0.7, "max_tokens": 2500}

_Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Phrases = Annotated[tuple[_Phrase, ...], msgspec.Meta(min_length=_FEWEST, max_length=2 * NUMBER)]


class Situations(msgspec.Struct, frozen=True):
    """Who uses a service, and on which occasions."""

    persons: _Phrases
    occasions: _Phrases


class _Proposed(ItemEntry):
    situations: Situations | None = None
    prompt: str = ""


class _Proposing(ItemWork[str]):
    """The one request; its item is the prompt."""

    record = _Proposed

    def key_of(self, item: str) -> str:
        return FOLDER

    def identity(self, item: str) -> dict[str, str]:
        """The prompt: of a changed library, it is asked again."""
        return {"prompt": hashlib.sha256(item.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: str, ask: Ask) -> _Proposed:
        phrases = {"type": "array", "items": {"type": "string"}}
        form = json_schema(FOLDER, object_schema({"persons": phrases, "occasions": phrases}))
        message = {"role": "user", "content": item}
        response = await ask(ChatRequest([message], {**_PARAMETERS, **form}, role="situations"))
        read = read_answer(
            response.text, keys=Situations.__struct_fields__, finish_reason=response.finish_reason
        )
        try:
            return _Proposed(outcome="answered", situations=msgspec.convert(read.value, Situations))
        except msgspec.ValidationError:
            return _Proposed(outcome="malformed")


class _ProposingWork(Work):
    def __init__(self, library: ToolLibrary) -> None:
        self._prompt = Template(package_template("writing", FOLDER)).substitute(
            service=shown_service(library), tools=", ".join(library.ids[:_MOST_NAMES]), number=NUMBER
        )

    @cached_property
    def facts(self) -> WorkFacts:
        return WorkFacts("proposal", {"role": FOLDER, **_PARAMETERS}, _PARAMETERS, 1, 1, stage=FOLDER)

    @property
    def chosen(self) -> tuple[str, ...]:
        return (self._prompt,)

    @property
    def items(self) -> _Proposing:
        return _Proposing()

    def write(self, output: Path, journal: Journal) -> Written:
        situations = self.items.entry_of(journal, self._prompt).situations
        return Written(write_json_lines(output, [msgspec.to_builtins(situations)] if situations else []))

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        if inference.summary.outcomes and not inference.written:
            screen.say(
                "no persons and occasions could be read from the writer's answer: the built-in ones are drawn"
            )


def library_situations(folder: Path, library: ToolLibrary, run: RunSettings) -> Situations | None:
    """The persons and occasions of a library; None if the writer's answer has none, or before a dry run.

    Args:
        folder: Data folder, in whose `situations/` they are kept.
        library: The tools.
        run: The writer and its limits.

    Raises:
        ToolassayError: The writer gave no answer.
    """
    trial = Trial(folder / FOLDER, run.model.llm)
    choices = RunChoices(force=run.choices.force, dry_run=run.choices.dry_run)
    ended = Run(_ProposingWork(library), trial, replace(run, choices=choices)).carry_out()
    if not (choices.dry_run or ended.summary.complete):
        raise ToolassayError(
            f"no persons and occasions were proposed: {'; '.join(ended.summary.failures) or 'no answer'}",
            fix="run the same command again",
        )
    if not trial.output.exists():
        return None
    lines = msgspec.json.Decoder(Situations).decode_lines(trial.output.read_bytes())
    return lines[0] if lines else None
