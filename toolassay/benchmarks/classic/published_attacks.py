"""The published security test: the first turn of each prompt, sent to the bare model, graded by a judge."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

import msgspec

from toolassay.benchmarks.classic.benchmark import ChatOptions
from toolassay.benchmarks.classic.data import PROMPTS
from toolassay.benchmarks.classic.scoring.compat import SecurityScore, security_score
from toolassay.benchmarks.classic.security import HARMLESS, TURNS
from toolassay.benchmarks.csv_tables import read_table
from toolassay.benchmarks.security.probe import refuse_beside_security
from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import read_json_lines, record_of, write_json_lines
from toolassay.models import ChatRequest, ModelError
from toolassay.models.json_answers import read_answer
from toolassay.prompts.templates import package_template
from toolassay.records.data_folder import DataFolder
from toolassay.runs.items import ENDED, FINAL, OVERFLOW, Ask, ItemWork, Recorded
from toolassay.runs.journal import AnswerLine, ItemEntry, Journal, LineAddress
from toolassay.runs.ledger import FREE
from toolassay.runs.record import hashes
from toolassay.runs.run import Run
from toolassay.runs.settings import PREDICTIONS, RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, Work, WorkFacts, Written

# The highest grade that the judge's prompt offers. A reply with another one has no grades.
_HIGHEST = 5
_LONGEST = 20_000  # characters of an answer that the judge sees


class Grades(NamedTuple):
    """The two grades of an answer, 0 to 5 each."""

    harmfulness: int
    quality: int


def grading_prompt(request: str, answer: str) -> str:
    """The judge's prompt. The request and the answer are JSON strings in it, so that they are read as
    data.
    """
    return Template(package_template("benchmarks/classic", "judge")).substitute(
        request=json.dumps(request, ensure_ascii=False),
        answer=json.dumps(answer[:_LONGEST], ensure_ascii=False),
    )


def read_grades(text: str) -> Grades | None:
    """Parse the judge's reply; None unless it has both grades as whole numbers from 0 to 5.

    >>> read_grades('{"harmfulness": 4, "quality": 3}')
    Grades(harmfulness=4, quality=3)
    >>> read_grades("4 and 3"), read_grades('{"harmfulness": 9, "quality": 3}')
    (None, None)
    """
    value = read_answer(text, keys=set(Grades._fields)).value or {}
    grades = [value.get(name) for name in Grades._fields]
    valid = [grade for grade in grades if type(grade) is int and 0 <= grade <= _HIGHEST]
    return Grades(*valid) if len(valid) == len(grades) else None


FOLDER = "security_published"
"""Subfolder of the prediction folder."""
NOT_JUDGED = "not judged"


class AttackLine(msgspec.Struct, frozen=True, kw_only=True):
    """The result of one prompt: a line of the file.

    Attributes:
        id: of the prompt.
        outcome: `answered` or `refused` if it was graded; `not judged` without readable grades; else the
            reason why there is no answer (`provider error`, `context overflow`, `budget stop`, `not run`).
        harmfulness: the first grade; None if there is none, and the attempt is then left out of the score.
        quality: the second grade, likewise.
        succeeded: whether the attack achieved its goal; None without grades.
        judge: the judge model.
    """

    id: str
    outcome: str = ""
    harmfulness: int | None
    quality: int | None
    succeeded: bool | None = None
    judge: str = ""

    @property
    def grades(self) -> Grades | None:
        """Both grades; None without them."""
        if self.harmfulness is None or self.quality is None:
            return None
        return Grades(self.harmfulness, self.quality)


def published_score(path: Path) -> SecurityScore:
    """The score of a file of graded prompts.

    Raises:
        UsageError: the file does not exist, or a line is malformed.
    """
    attack_lines: dict[str, AttackLine] = {}
    fix = f"write it with {as_called('infer', security='published', judge='MODEL')}"
    for number, value in read_json_lines(path, fix=fix):
        line = record_of(value, AttackLine, file=path, line=number, fix=fix)
        if line.id in attack_lines:
            raise UsageError(f"duplicate prompt {line.id!r}", file=path, line=number, fix=fix)
        attack_lines[line.id] = line
    return security_score(line.grades for line in attack_lines.values())


@dataclass(frozen=True)
class Attack:
    """One prompt.

    Attributes:
        id: its `prompt_id`, or its row number if the table has no such column.
        text: the first turn, unchanged.
    """

    id: str
    text: str


def read_attacks(path: Path) -> list[Attack]:
    """Read the attacks of a table, in its order; harmless twins are left out.

    All three columns of turns are required, as in the published table, but only the first turn is used. Other
    columns are optional.

    Raises:
        UsageError: the table does not exist, lacks a column or has no attack; or a first turn is empty, or an
            id is a duplicate.
    """
    attacks: dict[str, Attack] = {}
    fix = "add a table of prompts (see docs/security.md), or omit --security"
    for number, row in enumerate(read_table(path, TURNS, fix=fix), start=1):
        if row.get("kind") == HARMLESS:
            continue
        attack = Attack(row.get("prompt_id") or str(number), row[TURNS[0]])
        is_empty = not attack.text.strip()
        row.refuse_if(is_empty, f"{TURNS[0]} is empty", "write the message, or remove the row")
        row.refuse_if(attack.id in attacks, f"duplicate prompt_id {attack.id!r}", "write a unique id")
        attacks[attack.id] = attack
    if not attacks:
        raise UsageError("no attacks", file=path, fix="write one row per prompt, or omit --security")
    return list(attacks.values())


PARAMETERS: Mapping[str, Any] = {"temperature": 0.7}
"""Parameters of the requests to the model under test, as published."""
# Temperature 0, so that an answer gets the same grades again. The reply is two grades in JSON.
_JUDGING: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 200}
# Replies of the judge to one answer; without grades in any of them the answer is not judged.
_MAX_ATTEMPTS = 3


class AttackEntry(ItemEntry):
    """The answer to an attack, and a judge's verdict on it."""

    error: str | None = None
    response: str | None = None
    judge: str = ""
    replies: list[str] = msgspec.field(default_factory=list, name="said")
    prompt: str = ""


@dataclass(frozen=True)
class AttackItems(ItemWork[Attack]):
    """Sends the first turn of single attacks as the only message, and has a judge grade the answers.

    Another judge grades the same answers.

    Attributes:
        judge: name of the model.
    """

    judge: str

    record = AttackEntry

    def key_of(self, item: Attack) -> str:
        """The key of an attack."""
        return f"attack {item.id}"

    def identity(self, item: Attack) -> Mapping[str, str]:
        """The wording."""
        return {"prompt": text_fingerprint(item.text)}

    def entry_of(self, journal: Journal, item: Attack) -> AttackEntry:
        """The entry with this judge's verdict."""
        entry: AttackEntry = super().entry_of(journal, item)
        return entry if entry.judge == self.judge else msgspec.structs.replace(entry, replies=[])

    def has_ended(self, entry: AttackEntry) -> bool:
        """An answer is never requested again."""
        return False

    def is_settled(self, entry: AttackEntry) -> bool:
        """Whether there are grades, or the judge used up its attempts. A context overflow is final."""
        return entry.outcome == OVERFLOW or _is_judged(entry.replies)

    def recorded(self, entry: AttackEntry) -> Recorded:
        """The answer and the replies of an entry."""
        answers = [] if entry.response is None else [AnswerLine(entry.response)]
        return {"agent": answers, "judge": [AnswerLine(text) for text in entry.replies]}

    async def answer(self, item: Attack, ask: Ask) -> AttackEntry:
        """Send an attack, then ask the judge until its reply has grades."""
        try:
            response = await ask(
                ChatRequest([{"role": "user", "content": item.text}], PARAMETERS, role="agent")
            )
        except ModelError as error:
            if error.outcome != OVERFLOW:
                raise
            return AttackEntry(outcome=OVERFLOW, error=str(error))
        message = {"role": "user", "content": grading_prompt(item.text, response.text)}
        replies = list[str]()
        while not _is_judged(replies):
            replies.append((await ask(ChatRequest([message], _JUDGING, role="judge"), self.judge)).text)
        outcome = "refused" if response.refused else "answered"
        return AttackEntry(outcome=outcome, response=response.text, judge=self.judge, replies=replies)

    def lines(self, attacks: Iterable[Attack], journal: Journal) -> Iterator[AttackLine]:
        """Every attack with its grades, in order, computed from the journal."""
        for attack in attacks:
            entry = self.entry_of(journal, attack)
            grades = None
            outcome = entry.outcome or "not run"
            if outcome not in FINAL and journal.answer(LineAddress(self.key_of(attack), "agent")):
                outcome = "answered"
            if outcome in ENDED:
                grades = _grades(entry.replies)
                outcome = NOT_JUDGED if grades is None else outcome
            harmfulness, quality = grades or (None, None)
            yield AttackLine(
                id=attack.id,
                outcome=outcome,
                harmfulness=harmfulness,
                quality=quality,
                succeeded=None if grades is None else bool(security_score([grades]).successes),
                judge=self.judge,
            )


def text_fingerprint(text: str) -> str:
    """A hash of a text that was sent; a changed text is sent again."""
    return hashlib.sha256(json.dumps(text).encode()).hexdigest()[:16]


def _is_judged(replies: Sequence[str]) -> bool:
    return len(replies) >= _MAX_ATTEMPTS or _grades(replies) is not None


def _grades(replies: Sequence[str]) -> Grades | None:
    return read_grades(replies[-1]) if replies else None


PUBLISHED = "published"
"""The mode of `--security` that is this test."""


class PublishedWork(Work):
    """The attacks of the published test, each answered by the bare model and graded by a judge.

    Args:
        table: the file of attacks.
        attacks: read from it.
        judge: the model that grades.
    """

    def __init__(self, table: Path, attacks: Sequence[Attack], judge: str) -> None:
        self._table = table
        self._attacks = attacks
        self._judge = judge

    @cached_property
    def facts(self) -> WorkFacts:
        """One item is a prompt."""
        size = len(self._attacks)
        return WorkFacts(
            "prompt",
            {"benchmark": "classic", "security": PUBLISHED, **PARAMETERS},
            {},
            size,
            size,
            hashes(self._table),
            helpers=[self._judge],
            extra={"judge": self._judge},
        )

    @property
    def items(self) -> AttackItems:
        """The work on single attacks."""
        return AttackItems(self._judge)

    @property
    def chosen(self) -> Sequence[Attack]:
        """The attacks."""
        return self._attacks

    def write(self, output: Path, journal: Journal) -> Written:
        """A line for each prompt."""
        lines = self.items.lines(self._attacks, journal)
        return Written(write_json_lines(output, map(msgspec.to_builtins, lines)))


def probe_as_published(
    folder: DataFolder, run: RunSettings, own: ChatOptions, judge: str | None
) -> Inference:
    """Send the first turn of each attack to a model with nothing around it, and have the answers graded.

    The run is in `security_published/` of the prediction folder, with a line for each prompt.

    Args:
        folder: of the data.
        run: model, limits and choices.
        own: options of an agent, which the test does not take.
        judge: the model that grades, on the same server.

    Raises:
        UsageError: no judge, files missing or malformed, settings that contradict the run.
        ToolassayError: a model cannot be reached.
    """
    model = {name: getattr(run.model, name) for name in ("max_tokens", "structured")}
    refuse_beside_security(PUBLISHED, **asdict(own), **model)
    llm = run.model.llm
    if not judge:
        raise UsageError(
            "--security published needs a judge, who grades the answers", fix="name a model: --judge MODEL"
        )
    for flag, name in {"llm": llm, "judge": judge}.items():
        if name in FREE:
            raise UsageError(f"--{flag} {name} reads no prompts", fix=f"name a served model with --{flag}")
    trial = Trial(folder.path / (run.choices.prediction_dir or PREDICTIONS) / FOLDER, llm)
    table = folder.path / PROMPTS
    ended = Run(PublishedWork(table, read_attacks(table), judge), trial, run).carry_out()
    score = published_score(trial.output)
    text = f"{score.successes} of {score.attempts} attacks succeeded; {score.excluded} without grades"
    shown = "–" if score.value is None else f"{score.value:.3f}"
    run.screen.show(f"published security of {llm}, judged by {judge}: {shown} ({text})")
    return ended
