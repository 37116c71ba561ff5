"""The generator: samples in, raw records out, through one model and one journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from toolgraph.backinstruct.parse import read_instruction
from toolgraph.backinstruct.prompt import BackInstructPrompt
from toolgraph.backinstruct.records import raw_record, sample_id
from toolgraph.dataset import Sample
from toolgraph.errors import UsageError
from toolgraph.files import read_json_lines, write_json_lines
from toolgraph.graph import ToolGraph
from toolgraph.models import ChatModel, ChatRequest
from toolgraph.offline.tasks import BackInstructTask
from toolgraph.runs import Journal, RunSummary, run_items
from toolgraph.sampling import Sampler

TIMEOUT = 120.0
PARAMETERS: Mapping[str, Any] = {"frequency_penalty": 0, "presence_penalty": 0, "max_tokens": 2500}


@dataclass(frozen=True)
class Generation:
    """How a generation ended: records written, how many were there before, and what happened to the rest."""

    written: int
    already: int
    summary: RunSummary


class Generator:
    """Writes `data_raw.json` for samples 0 to count-1 of a sampler, continuing where it left off.

    Args:
        graph: the tool graph.
        sampler: where samples come from.
        prompt: how the model is asked.
        model: who is asked.
        parameters: of the request (temperature, top_p, …).
        check: ask for the teacher's review too.
    """

    def __init__(
        self,
        graph: ToolGraph,
        sampler: Sampler,
        prompt: BackInstructPrompt,
        model: ChatModel,
        *,
        parameters: Mapping[str, Any],
        check: bool,
    ) -> None:
        self._graph = graph
        self._sampler = sampler
        self._prompt = prompt
        self._model = model
        self._parameters = {**PARAMETERS, **parameters}
        self._check = check

    def run(
        self,
        output: Path,
        journal: Journal,
        count: int,
        *,
        concurrency: int = 1,
        done: Callable[[], None] = lambda: None,
        each: Callable[[Sample], None] = lambda _: None,
    ) -> Generation:
        """Generate what is missing of `count` samples and write `output`, in the order of the samples.

        Records that `output` holds already are kept. Answers that could not be read are asked again.

        Raises:
            UsageError: `output` holds records of another seed.
            ToolgraphError: the run cannot go on.
        """
        kept = self._kept(output)
        already = 0

        def missing() -> Iterator[Sample]:
            nonlocal already
            for index in range(count):
                sample = self._sampler.sample(index)
                key = sample_id(sample)
                if key in kept or (key in journal and journal[key]["outcome"] == "answered"):
                    already += 1
                    done()
                    continue
                each(sample)
                yield sample

        async def ask(sample: Sample) -> str:
            task = BackInstructTask(sample, self._graph.library, self._graph.dependency_type, self._check)
            message = {"role": "user", "content": self._prompt.render(sample)}
            response = await self._model.complete(ChatRequest([message], self._parameters, TIMEOUT, task))
            result, answer = read_instruction(response.text, response.finish_reason)
            outcome = "malformed" if result is None else "answered"
            journal.append(
                sample_id(sample),
                {
                    "outcome": outcome,
                    "record": None if result is None else raw_record(sample, self._graph.library, result),
                    "response": response.text,
                    "finish_reason": response.finish_reason,
                    "problem": answer.problem,
                    "prompt_tokens": response.prompt_tokens,
                    "completion_tokens": response.completion_tokens,
                },
            )
            return outcome

        async def ask_all() -> RunSummary:
            try:
                return await run_items(missing(), ask, concurrency=concurrency, done=done)
            finally:
                await self._model.close()

        try:
            summary = asyncio.run(ask_all())
        finally:
            written = write_json_lines(output, self._records(kept, journal))
        return Generation(written, already, summary)

    def _records(self, kept: dict[str, Any], journal: Journal) -> Iterator[Any]:
        """Every record there is, whether kept or new, by sample number."""
        answered = (key for key in journal if journal[key]["outcome"] == "answered")
        for key in sorted({*kept, *answered}, key=_by_number):
            yield kept[key] if key in kept else journal[key]["record"]

    def _kept(self, output: Path) -> dict[str, Any]:
        if not output.exists():
            return {}
        kept = {}
        for number, record in read_json_lines(output):
            if not isinstance(record, dict) or "id" not in record:
                raise UsageError(
                    "is not a sample with an id", file=output, line=number, fix="remove that line"
                )
            if record.get("seed") != self._sampler.seed:
                raise UsageError(
                    f"holds samples of seed {record.get('seed')}, not {self._sampler.seed}",
                    file=output,
                    line=number,
                    fix=f"use --seed {record.get('seed')}, or --force (keeps a dated copy)",
                )
            kept[str(record["id"])] = record
        return kept


def _by_number(key: str) -> tuple[int, str]:
    number = key.rpartition("-")[2]
    return (int(number) if number.isdecimal() else 0, key)
