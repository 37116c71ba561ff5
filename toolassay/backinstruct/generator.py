"""`Generator`: has a model write a record of `data_raw.json` for each sample, through one journal."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolassay.backinstruct.prompt import BackInstructPrompt, read_instruction
from toolassay.backinstruct.records import numbered_id, raw_record, sample_id
from toolassay.dataset import Sample
from toolassay.errors import UsageError
from toolassay.files import read_json_lines, write_json_lines
from toolassay.graph import ToolGraph
from toolassay.models import ChatModel, ChatRequest, ModelError
from toolassay.offline.model_tasks import BackInstructTask
from toolassay.prompt_templates import size_of
from toolassay.runs import Journal, Loop, RunSummary, run_unsettled
from toolassay.runs.budget import Estimate
from toolassay.sampling import Sampler

PARAMETERS: Mapping[str, Any] = {"frequency_penalty": 0, "presence_penalty": 0, "max_tokens": 2500}
"""Request parameters of the published script."""

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
        shape: Additional request parameters of a sample, e.g. the schema of its answer.
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
        shape: Callable[[Sample], Mapping[str, Any]] = lambda _: {},
    ) -> None:
        self._shape = shape
        self._graph = graph
        self._sampler = sampler
        self._prompt = prompt
        self._model = model
        self.parameters: Mapping[str, Any] = {**PARAMETERS, **parameters}
        self._check = check

    def run(
        self,
        output: Path,
        journal: Journal,
        count: int,
        loop: Loop,
        *,
        each: Callable[[Sample], None] = lambda _: None,
    ) -> Generation:
        """Generate the missing ones of `count` samples, and write `output` in order of the samples.

        Records in `output` are kept. Samples with a malformed answer are requested again, those that the
        model refused are not. Without any record, no file is written.

        Args:
            output: The file, `data_raw.json`.
            journal: Journal of the run.
            count: Total number of samples.
            loop: Concurrency and callbacks.
            each: Called with each sample before its request.

        Raises:
            UsageError: `output` has records of another seed.
            ToolassayError: The run cannot continue.
            KeyboardInterrupt: At Ctrl-C, when the answers in flight have arrived and are written.
        """
        kept = read_kept(output, self._sampler.seed)
        refused = 0

        def settled(sample: Sample) -> bool:
            nonlocal refused
            key = sample_id(sample)
            if key in kept or _record(journal, key) is not None:
                return True
            declined = bool(journal.get(key).get("outcome") == "refused")
            refused += declined
            return declined

        async def ask(sample: Sample) -> str:
            each(sample)
            key = sample_id(sample)
            task = BackInstructTask(sample, self._graph.library, self._graph.dependency_type, self._check)
            parameters = {**self.parameters, **self._shape(sample)}
            messages = self._prompt.messages(sample)
            request = ChatRequest(messages, parameters, None, task, "generator", key)
            try:
                assert self._model is not None  # None where nothing is sent
                response = await self._model.complete(request)
            except ModelError as error:
                if error.settles:
                    journal.append(key, {"outcome": error.outcome, "problem": str(error)})
                raise
            result, answer = read_instruction(
                response.text, self._graph.dependency_type, response.finish_reason
            )
            outcome = "malformed" if result is None else "answered"
            if response.refused:
                outcome, result = "refused", None
            journal.append(
                key,
                {
                    "outcome": outcome,
                    "record": None if result is None else raw_record(sample, self._graph.library, result),
                    "response": response.text,
                    "finish_reason": response.finish_reason,
                    "problem": answer.problem,
                    "prompt_tokens": response.prompt_tokens,
                    "completion_tokens": response.completion_tokens,
                    **({"reasoning": response.reasoning} if response.reasoning else {}),
                },
            )
            return outcome

        def stopped(sample: Sample, error: ModelError) -> None:
            journal.append(sample_id(sample), {"outcome": error.outcome, "problem": str(error)})

        try:
            settled_before = run_unsettled(
                map(self._sampler.sample, range(count)),
                ask,
                settled=settled,
                models=[] if self._model is None else [self._model],
                loop=loop,
                stopped=stopped,
            )
        finally:
            keys = _in_order(kept, journal)
            if keys:
                write_json_lines(output, (kept[k] if k in kept else _record(journal, k) for k in keys))
        return Generation(len(keys), settled_before - refused, loop.summary, refused)

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
            if key in kept or _record(journal, key) is not None or entry.get("outcome") == "refused":
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


def _record(journal: Journal, key: str) -> dict[str, Any] | None:
    """The record of a sample in the journal; None without a usable answer."""
    entry = journal.get(key)
    record = entry.get("record") if entry.get("outcome") == "answered" else None
    return record if isinstance(record, dict) else None


def _in_order(kept: Mapping[str, Any], journal: Journal) -> list[str]:
    """The ids of all records, kept or new, by sample number."""
    answered = (key for key in journal if _record(journal, key) is not None)
    return sorted({*kept, *answered}, key=_by_number)


def _by_number(key: str) -> tuple[int, str]:
    number = key.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, key)
