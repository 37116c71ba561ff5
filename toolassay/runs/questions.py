"""A run of a few questions: a model proposes something about a library once, and what it said is kept."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
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
class ModelQuestion(Generic[Form]):
    """A question to a model.

    Attributes:
        name: What the answer is about; names the run and the role of the request.
        prompt: What is asked.
        form: What the answer is.
        schema: Schema of the answer, for servers that constrain it; empty where names are free.
        parameters: Of the request.
        otherwise: What happens without a usable answer, said to the user.
        part: Tells the questions of one run apart.
    """

    name: str
    prompt: str
    form: type[Form]
    schema: Mapping[str, Any]
    parameters: Mapping[str, Any]
    otherwise: str
    part: str = ""


class _Entry(ItemEntry):
    prompt: str = ""
    answer: dict[str, Any] | None = None


class _Answer(msgspec.Struct):
    part: str
    answer: dict[str, Any]


class _Asking(ItemWork[ModelQuestion[Any]]):
    record = _Entry

    def key_of(self, item: ModelQuestion[Any]) -> str:
        return f"{item.name} {item.part}".rstrip()

    def identity(self, item: ModelQuestion[Any]) -> dict[str, str]:
        """The prompt: about a changed library, it is asked again."""
        return {"prompt": hashlib.sha256(item.prompt.encode(errors="replace")).hexdigest()[:24]}

    async def answer(self, item: ModelQuestion[Any], ask: Ask) -> _Entry:
        constraint = json_schema(item.name, dict(item.schema)) if item.schema else {}
        message = {"role": "user", "content": item.prompt}
        response = await ask(ChatRequest([message], {**item.parameters, **constraint}, role=item.name))
        keys = item.form.__struct_fields__
        value = read_answer(response.text, keys=keys, finish_reason=response.finish_reason).value
        try:
            msgspec.convert(value, item.form)
        except msgspec.ValidationError:
            return _Entry(outcome="malformed")
        return _Entry(outcome="answered", answer=value)


class _QuestionWork(Work):
    def __init__(self, questions: Sequence[ModelQuestion[Any]]) -> None:
        self._questions = questions

    @cached_property
    def facts(self) -> WorkFacts:
        first = self._questions[0]
        size = len(self._questions)
        settings = {"role": first.name, **first.parameters}
        return WorkFacts("question", settings, first.parameters, size, size, stage=first.name)

    @property
    def chosen(self) -> Sequence[ModelQuestion[Any]]:
        return self._questions

    @property
    def items(self) -> _Asking:
        return _Asking()

    def write(self, output: Path, journal: Journal) -> Written:
        answers = {one.part: self.items.entry_of(journal, one).answer for one in self._questions}
        lines = [{"part": part, "answer": answer} for part, answer in answers.items() if answer is not None]
        return Written(write_json_lines(output, lines))

    def report(self, inference: Inference, output: Path, journal_file: Path, screen: Screen) -> None:
        if inference.summary.outcomes and inference.written < len(self._questions):
            first = self._questions[0]
            screen.say(f"an answer about {first.name} cannot be used: {first.otherwise}")


def asked(questions: Sequence[ModelQuestion[Form]], folder: Path, run: RunSettings) -> dict[str, Form]:
    """The usable answers to questions by their part; those that the folder does not have are asked.

    Args:
        questions: The questions, of one name, form and parameters; at least one.
        folder: Data folder; the run is in its subfolder with the name of the questions.
        run: The model and its limits; a dry run asks nothing.

    Raises:
        ToolassayError: The model gave no answer to a question.
    """
    name, form = questions[0].name, questions[0].form
    trial = Trial(folder / name, run.model.llm)
    choices = RunChoices(force=run.choices.force, dry_run=run.choices.dry_run)
    ended = Run(_QuestionWork(questions), trial, replace(run, choices=choices)).carry_out()
    if not (choices.dry_run or ended.summary.complete):
        raise ToolassayError(
            f"no answer about {name}: {'; '.join(ended.summary.failures) or 'budget used up'}",
            fix="run the same command again",
        )
    if not trial.output.exists():
        return {}
    lines = msgspec.json.Decoder(_Answer).decode_lines(trial.output.read_bytes())
    return {line.part: msgspec.convert(line.answer, form) for line in lines}


def asked_once(question: ModelQuestion[Form], folder: Path, run: RunSettings) -> Form | None:
    """The answer to one question, as `asked`; None if it cannot be used."""
    return asked([question], folder, run).get(question.part)
