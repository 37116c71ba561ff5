"""`Generator`: has a model write a record of `data_raw.json` for each sample, through one journal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any, NamedTuple

from toolassay.backinstruct.prompt import BackInstructPrompt, built_in, read_instruction
from toolassay.backinstruct.records import numbered_id, raw_record
from toolassay.dataset import Sample
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, write_json_lines
from toolassay.graph import ToolGraph
from toolassay.models import ChatModel, ChatRequest, ModelError
from toolassay.models.protocol import sent_back
from toolassay.offline.model_tasks import BackInstructTask
from toolassay.prompt_templates import size_of
from toolassay.runs import Journal, Loop, RunSummary, run_unsettled
from toolassay.runs.budget import Estimate
from toolassay.sampling import Sampler

PARAMETERS: Mapping[str, Any] = {"frequency_penalty": 0, "presence_penalty": 0, "max_tokens": 2500}
"""Request parameters of the published script."""

REWRITING = "rewriting"
"""Outcome of a sample in the journal whose answers so far were found faulty, and that is not given up."""


class Problem(NamedTuple):
    """What a check of an answer found: who found it, and what is wrong, for the model to read."""

    found_by: str
    text: str


Review = Callable[[Sample, Mapping[str, Any]], Awaitable[list[Problem]]]
"""Finds the problems of a record of `data_raw.json`; none if the sample passes."""

MEASURED = 500
"""Number of prompts that are rendered to estimate the length of all."""


@dataclass(frozen=True)
class Generation:
    """The result of a generation.

    Attributes:
        written: Records in the file.
        already: Samples that had a record before this start.
        summary: Outcomes of the samples of this start.
        refused: Samples that the model refused in earlier starts; they are not requested again.
    """

    written: int
    already: int
    summary: RunSummary
    refused: int = 0

    @property
    def usable(self) -> int:
        """Number of requested samples with a record, from this or an earlier start."""
        return self.already + self.summary.outcomes["answered"]


class Generator:
    """Writes `data_raw.json` for samples 0 to count-1 of a sampler; continues an interrupted run.

    Args:
        graph: The tool graph.
        sampler: Draws the samples.
        prompt: Renders the prompt of a sample.
        model: The model.
        parameters: Request parameters (temperature, top_p, …), which override the published ones.
        check: Whether to request the teacher's review too.
        rewrites: How often an answer with problems goes back to the model, with the problems.
        review: Finds the problems; without it only answers that cannot be read go back.
        critics: Models that `review` asks; closed with the model.
        shape: Additional request parameters of a sample, e.g. the schema of its answer.
        values: Values of arguments that exist on a server, for the offline writer.
        each: Called with each sample before its request.
    """

    def __init__(
        self,
        graph: ToolGraph,
        sampler: Sampler,
        prompt: BackInstructPrompt,
        model: ChatModel | None,
        *,
        parameters: Mapping[str, Any],
        check: bool,
        rewrites: int = 0,
        review: Review | None = None,
        critics: Sequence[ChatModel] = (),
        shape: Callable[[Sample], Mapping[str, Any]] | None = None,
        values: Mapping[str, Mapping[str, Sequence[Any]]] | None = None,
        each: Callable[[Sample], None] | None = None,
    ) -> None:
        self._shape, self._values, self._each = shape, values, each
        self._graph = graph
        self._sampler = sampler
        self._prompt = prompt
        self._model = model
        self.parameters: Mapping[str, Any] = {**PARAMETERS, **parameters}
        self._check = check
        self._rewrites, self._review, self._critics = rewrites, review, critics

    def run(self, output: Path, journal: Journal, count: int, loop: Loop) -> Generation:
        """Generate the missing ones of `count` samples, and write `output` in order of the samples.

        Records in `output` are kept. Samples with a malformed answer are requested again, those that the
        model refused are not. Without any record, no file is written.

        Args:
            output: The file, `data_raw.json`.
            journal: Journal of the run.
            count: Total number of samples.
            loop: Concurrency and callbacks.

        Raises:
            UsageError: `output` has records of another seed.
            ToolassayError: The run cannot continue.
            KeyboardInterrupt: At Ctrl-C, when the answers in flight have arrived and are written.
        """
        kept = read_kept(output, self._sampler.seed)
        refused = 0

        def settled(number: int) -> bool:
            nonlocal refused
            key = self.key_of(number)
            if key in kept:
                return True
            entry = journal.get(key)
            declined = entry.get("outcome") == "refused"
            refused += declined
            return declined or _record(entry) is not None

        try:
            settled_before = self._run_unsettled(range(count), journal, loop, settled)
        finally:
            keys = _in_order(kept, journal)
            if keys:
                lines = (kept[key] if key in kept else _record(journal.get(key)) for key in keys)
                write_json_lines(output, lines)
        return Generation(len(keys), settled_before - refused, loop.summary, refused)

    def answer(self, numbers: Iterable[int], journal: Journal, loop: Loop) -> None:
        """Generate the samples of these numbers.

        Raises:
            ToolassayError: The run cannot continue.
        """
        self._run_unsettled(numbers, journal, loop, lambda number: False)

    def key_of(self, number: int) -> str:
        """The key of a sample in the journal."""
        return numbered_id(self._sampler.seed, number)

    def _run_unsettled(
        self, numbers: Iterable[int], journal: Journal, loop: Loop, settled: Callable[[int], bool]
    ) -> int:
        async def ask(number: int) -> str:
            sample, key = self._sampler.sample(number), self.key_of(number)
            if self._each is not None:
                self._each(sample)
            try:
                return await self._ask(sample, key, journal)
            except ModelError as error:
                entry = journal.get(key)
                if entry.get("outcome") == REWRITING:  # its answers are paid for
                    if not error.settles or entry["record"] is None:
                        raise
                    journal.append(key, {**entry, "outcome": "answered", "problem": str(error)})
                    return "answered"
                if error.settles:
                    journal.append(key, {"outcome": error.outcome, "problem": str(error)})
                raise

        def stopped(number: int, error: ModelError) -> None:
            key = self.key_of(number)
            if journal.get(key).get("outcome") != REWRITING:
                journal.append(key, {"outcome": error.outcome, "problem": str(error)})

        return run_unsettled(
            numbers,
            ask,
            settled=settled,
            models=[] if self._model is None else [self._model, *self._critics],
            loop=loop,
            stopped=stopped,
        )

    async def _ask(self, sample: Sample, key: str, journal: Journal) -> str:
        """Request one sample until an answer passes, and add it to the journal; returns the outcome.

        Each faulty answer is in the journal before the next request, so that none is paid for twice.
        """
        earlier = journal.get(key)
        attempts = list(earlier.get("attempts", ())) if earlier.get("outcome") == REWRITING else []
        record = earlier.get("record") if attempts else None
        while True:
            entry = await self._attempt(sample, key, attempts)
            problems = [Problem(*one) for one in entry.pop("problems")]
            record = entry["record"] or record
            attempts.append({**_kept(entry), "problems": [list(one) for one in problems]})
            is_last = len(attempts) > self._rewrites or entry["outcome"] == "refused"
            entry |= {"record": record, **({"attempts": attempts} if self._rewrites else {})}
            if not problems or is_last:
                if entry["outcome"] == "malformed" and record is not None:
                    entry["outcome"] = "answered"  # an earlier answer could be read
                journal.append(key, entry)
                return str(entry["outcome"])
            journal.append(key, {**entry, "outcome": REWRITING})

    async def _attempt(self, sample: Sample, key: str, attempts: list[dict[str, Any]]) -> dict[str, Any]:
        """One request: the journal's entry, with the problems of the answer."""
        kind = self._graph.dependency_type
        task = BackInstructTask(sample, self._graph.library, kind, self._check, len(attempts), self._values)
        messages = self._prompt.messages(sample)
        for one in attempts:
            found = "\n".join(f"- {text}" for _, text in one["problems"])
            messages += [
                sent_back({"role": "assistant", "content": one["response"], "extra": one.get("extra", {})}),
                {"role": "user", "content": Template(built_in("rewrite")).substitute(problems=found)},
            ]
        parameters = {**self.parameters, **(self._shape(sample) if self._shape else {})}
        assert self._model is not None  # None where nothing is sent
        response = await self._model.complete(ChatRequest(messages, parameters, None, task, "generator", key))
        result, answer = read_instruction(response.text, kind, response.finish_reason)
        outcome = "malformed" if result is None else "answered"
        if response.refused:
            outcome, result = "refused", None
        record = None if result is None else raw_record(sample, self._graph.library, result)
        problems: list[Problem] = []
        if outcome == "malformed":
            problems = [Problem("format", answer.problem or "the answer is not the requested JSON object")]
        elif record is not None and self._review is not None:
            problems = await self._review(sample, record)
        return {
            "outcome": outcome,
            "record": record,
            "response": response.text,
            "finish_reason": response.finish_reason,
            "problem": answer.problem,
            "prompt_tokens": response.prompt_tokens,
            "completion_tokens": response.completion_tokens,
            **({"reasoning": response.reasoning} if response.reasoning else {}),
            **({"extra": response.extra} if response.extra and self._rewrites else {}),
            "problems": [list(one) for one in problems],
        }

    def preview(self, output: Path, journal: Journal, count: int, estimate: Estimate) -> int:
        """Add the missing ones of `count` samples to `estimate`; sends and writes nothing.

        Args:
            output: The file, `data_raw.json`.
            journal: Journal of the run; may be read-only.
            count: Total number of samples.
            estimate: The estimate to add to.

        Returns:
            Number of samples that need no request.

        Raises:
            UsageError: `output` has records of another seed.
        """
        kept = read_kept(output, self._sampler.seed)
        already = measured = learnt = 0
        for index in range(count):
            key = numbered_id(self._sampler.seed, index)
            entry = journal.get(key)
            if "prompt_tokens" in entry and learnt < MEASURED:
                learnt += 1
                size = self._size(index)
                estimate.answered(size, entry["prompt_tokens"], entry["completion_tokens"])
            if key in kept or _record(entry) is not None or entry.get("outcome") == "refused":
                already += 1
            elif measured < MEASURED:
                measured += 1
                estimate.add(self._size(index))
            else:
                estimate.add()
        return already

    def _size(self, index: int) -> int:
        return size_of(self._prompt.messages(self._sampler.sample(index)))


def read_kept(output: Path, seed: int) -> dict[str, Any]:
    """The records of `data_raw.json` by id; {} if the file is missing.

    Raises:
        UsageError: The file is malformed or has records of another seed (names line and seed).
    """
    if not output.exists():
        return {}
    kept = {}
    for number, record in read_json_lines(output):
        if not isinstance(record, dict) or not isinstance(record.get("id"), str | int):
            raise UsageError("not a sample with an id", file=output, line=number, fix="remove that line")
        if record.get("seed") != seed:
            raise UsageError(
                f"has a sample of seed {record.get('seed')}, not {seed}",
                file=output,
                line=number,
                fix="use that seed, another --data_dir, or --force true (keeps a dated copy)",
            )
        kept[str(record["id"])] = record
    return kept


def _kept(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What the journal keeps of each attempt."""
    kept = ("response", "finish_reason", "prompt_tokens", "completion_tokens", "extra")
    return {name: entry[name] for name in kept if name in entry}


def rewriting_facts(journal: Journal) -> dict[str, Any]:
    """What rewriting gained and cost, for `statistics.json`; empty if no sample has attempts.

    `passed_at` counts the samples by the number of rewrites after which an answer passed; `never` those whose
    last answer has problems; `by_gate` the samples in whose first answer a gate found something, and those in
    whose last answer it no longer does.
    """
    passed_at, found, fixed = Counter[str](), Counter[str](), Counter[str]()
    never = requests = prompt = completion = 0
    for _, entry in journal.entries():
        attempts = entry.get("attempts")
        if not isinstance(attempts, list) or not attempts or entry.get("outcome") == REWRITING:
            continue
        first, last = ({name for name, _ in attempts[end]["problems"]} for end in (0, -1))
        if last or entry.get("outcome") != "answered":
            never += 1
        else:
            passed_at[str(len(attempts) - 1)] += 1
        found.update(first)
        fixed.update(first - last)
        requests += len(attempts) - 1
        prompt += sum(one["prompt_tokens"] or 0 for one in attempts[1:])
        completion += sum(one["completion_tokens"] or 0 for one in attempts[1:])
    if not passed_at and not never:
        return {}
    return {
        "passed_at": dict(sorted(passed_at.items())),
        "never": never,
        "requests": requests,
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "by_gate": {gate: {"found": count, "fixed": fixed[gate]} for gate, count in found.most_common()},
    }


def _record(entry: Mapping[str, Any]) -> dict[str, Any] | None:
    """The record of a sample in its journal entry; None without a usable answer."""
    record = entry.get("record") if entry.get("outcome") == "answered" else None
    return record if isinstance(record, dict) else None


def _in_order(kept: Mapping[str, Any], journal: Journal) -> list[str]:
    """The ids of all records, kept or new, by sample number."""
    answered = (key for key, entry in journal.entries() if _record(entry) is not None)
    return sorted({*kept, *answered}, key=_by_number)


def _by_number(key: str) -> tuple[int, str]:
    number = key.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, key)
