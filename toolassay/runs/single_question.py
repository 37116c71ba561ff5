"""A run of one question: a model proposes something about a library once, and what it said is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from toolassay.console.screen import Screen
from toolassay.errors import ToolassayError
from toolassay.files.data_files import write_json_lines
from toolassay.models import ChatRequest
from toolassay.models.json_answers import read_answer
from toolassay.models.structured_output import json_schema
from toolassay.runs.items import Ask, ItemWork
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.run import Run
from toolassay.runs.settings import RunChoices, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, Work, WorkFacts, Written

Form = TypeVar("Form", bound=msgspec.Struct)


@dataclass(frozen=True)
class SingleQuestion(Generic[Form]):
    """A question to a model.

    Attributes:
        name: What the answer is about; names the run and the role of the request.
        prompt: What is asked.
        form: What the answer is.
        schema: Schema of the answer, for servers that constrain it.
        parameters: Of the request.
        otherwise: What happens without a usable answer, said to the user.
    """

    name: str
    prompt: str
    form: type[Form]
    schema: Mapping[str, Any]
    parameters: Mapping[str, Any]
    otherwise: str


class _Entry(ItemEntry):
    prompt: str = ""
    answer: dict[str, Any] | None = None


class _Asking(ItemWork[SingleQuestion[Any]]):
    record = _Entry

    def key_of(self, item: SingleQuestion[Any]) -> str:
        return item.name

    def identity(self, item: SingleQuestion[Any]) -> dict[str, str]:
        """The prompt: about a changed library, it is asked again."""
        return {"prompt": hashlib.sha256(item.prompt.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: SingleQuestion[Any], ask: Ask) -> _Entry:
        parameters = {**item.parameters, **json_schema(item.name, dict(item.schema))}
        message = {"role": "user", "content": item.prompt}
        response = await ask(ChatRequest([message], parameters, role=item.name))
        keys = item.form.__struct_fields__
        value = read_answer(response.text, keys=keys, finish_reason=response.finish_reason).value
        try:
            msgspec.convert(value, item.form)
        except msgspec.ValidationError:
            return _Entry(outcome="malformed")
        return _Entry(outcome="answered", answer=value)


class _QuestionWork(Work):
    def __init__(self, question: SingleQuestion[Any]) -> None:
        self._question = question

    @cached_property
    def facts(self) -> WorkFacts:
        name, parameters = self._question.name, self._question.parameters
        return WorkFacts("question", {"role": name, **parameters}, parameters, 1, 1, stage=name)

    @property
    def chosen(self) -> tuple[SingleQuestion[Any], ...]:
        return (self._question,)

    @property
    def items(self) -> _Asking:
        return _Asking()

    def write(self, output: Path, journal: Journal) -> Written:
        answer = self.items.entry_of(journal, self._question).answer
        return Written(write_json_lines(output, [] if answer is None else [answer]))

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        if inference.summary.outcomes and not inference.written:
            screen.say(f"the answer about {self._question.name} cannot be used: {self._question.otherwise}")


def asked_once(question: SingleQuestion[Form], folder: Path, run: RunSettings) -> Form | None:
    """The answer to a question, which is asked if the folder does not have it; None if it cannot be used.

    Args:
        question: The question.
        folder: Data folder; the run is in its subfolder with the name of the question.
        run: The model and its limits; a dry run asks nothing.

    Raises:
        ToolassayError: The model gave no answer.
    """
    trial = Trial(folder / question.name, run.model.llm)
    choices = RunChoices(force=run.choices.force, dry_run=run.choices.dry_run)
    ended = Run(_QuestionWork(question), trial, replace(run, choices=choices)).carry_out()
    if not (choices.dry_run or ended.summary.complete):
        raise ToolassayError(
            f"no answer about {question.name}: {'; '.join(ended.summary.failures) or 'budget used up'}",
            fix="run the same command again",
        )
    if not trial.output.exists():
        return None
    lines = msgspec.json.Decoder(question.form).decode_lines(trial.output.read_bytes())
    return lines[0] if lines else None
