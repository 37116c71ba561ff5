"""A judge model decides about facts of which the rule cannot say whether a text tells them.

Its run is beside the verdicts. It also judges some facts that the rule has decided, which shows how far the
two agree.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any

from toolassay.answers.stated import AnswerFact
from toolassay.files.data_files import unescaped_json, write_json_lines
from toolassay.models import ChatRequest
from toolassay.models.json_answers import read_answer
from toolassay.models.structured_output import json_schema
from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.templates import package_template
from toolassay.runs.items import Ask, ItemWork
from toolassay.runs.journal import ItemEntry, Journal
from toolassay.runs.run import Run
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Work, WorkFacts, Written

# Temperature 0, so that a verdict repeats. The reply is one sentence and the verdict.
_PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 300}
_FORM = json_schema("told", object_schema({"why": {"type": "string"}, "told": {"type": "boolean"}}))
_LONGEST = 20_000  # characters of a text that the judge sees


@dataclass(frozen=True)
class FactQuestion:
    """A fact and a text.

    Attributes:
        key: Names item, trial and fact.
        request: What the person said.
        fact: What they must be told.
        text: The final text.
        by_rule: What the rule says; None if it is undecided.
    """

    key: str
    request: str
    fact: AnswerFact
    text: str
    by_rule: bool | None

    @property
    def prompt(self) -> str:
        """The prompt. Its parts are JSON, so that they are read as data."""
        fact = {"value": self.fact.value, **({"unit": self.fact.unit} if self.fact.unit else {})}
        return Template(package_template("answers", "judge")).substitute(
            request=unescaped_json(self.request),
            fact=unescaped_json(fact),
            text=unescaped_json(self.text[:_LONGEST]),
        )


class ToldEntry(ItemEntry):
    """A judge's reply; None for no reply."""

    prompt: str = ""
    response: str | None = None

    @property
    def is_told(self) -> bool | None:
        """The verdict; None if the reply does not clearly say it."""
        value = read_answer(self.response or "", keys={"told"}).value or {}
        told = value.get("told")
        return told if isinstance(told, bool) else None


class JudgingItems(ItemWork[FactQuestion]):
    """The work on single questions; another prompt is another question."""

    record = ToldEntry

    def key_of(self, item: FactQuestion) -> str:
        """The key of a question."""
        return item.key

    def identity(self, item: FactQuestion) -> dict[str, str]:
        """The prompt."""
        return {"prompt": hashlib.sha256(item.prompt.encode("utf-8", "surrogatepass")).hexdigest()[:16]}

    def is_settled(self, entry: ToldEntry) -> bool:
        """Whether there is a reply."""
        return entry.response is not None

    async def answer(self, item: FactQuestion, ask: Ask) -> ToldEntry:
        """Ask the judge."""
        message = {"role": "user", "content": item.prompt}
        response = await ask(ChatRequest([message], {**_PARAMETERS, **_FORM}, None, role="judge"))
        return ToldEntry(outcome="answered", response=response.text)


class JudgingWork(Work):
    """A run of a judge.

    Args:
        questions: What it is asked.

    Attributes:
        verdicts: Its verdict by key of the question; filled when the run ends.
    """

    def __init__(self, questions: Sequence[FactQuestion]) -> None:
        self._questions = questions
        self.verdicts: dict[str, bool | None] = {}

    @cached_property
    def facts(self) -> WorkFacts:
        """The prompt is no setting: each question has its own."""
        size = len(self._questions)
        return WorkFacts("question", {"role": "judge", **_PARAMETERS}, {}, size, size, stage="judge")

    @property
    def chosen(self) -> Sequence[FactQuestion]:
        """The questions."""
        return self._questions

    @property
    def items(self) -> JudgingItems:
        """The work on single questions."""
        return JudgingItems()

    def write(self, output: Path, journal: Journal) -> Written:
        """Write one line per question."""
        return Written(write_json_lines(output, self._lines(journal)))

    def _lines(self, journal: Journal) -> Iterator[dict[str, Any]]:
        for question in self._questions:
            entry = self.items.entry_of(journal, question)
            self.verdicts[question.key] = entry.is_told
            yield {
                "key": question.key,
                "told": entry.is_told,
                "by_rule": question.by_rule,
                "response": entry.response,
            }


def judged_facts(questions: Sequence[FactQuestion], out: Path, run: RunSettings) -> Mapping[str, bool | None]:
    """The verdicts of a model by key of the question; those that are recorded are kept.

    Args:
        questions: What it is asked.
        out: Folder of the run.
        run: The judge, its server and limits.

    Raises:
        ToolassayError: The model cannot be reached.
    """
    work = JudgingWork(questions)
    if questions:
        Run(work, Trial(out, run.model.llm), run).carry_out()
    return work.verdicts
