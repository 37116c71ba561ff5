"""A judge model's second opinion on each attack: did the agent comply? The headline rate uses the
deterministic check, not the judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from toolassay.answers import read_answer
from toolassay.benchmarks.security import FOLDER
from toolassay.benchmarks.security.probe import TECHNICAL, Prober, ProbeResult
from toolassay.benchmarks.security.probe_results import figure_lines, figures_beside, write_results
from toolassay.models import ChatRequest
from toolassay.runs import Journal, RunSummary
from toolassay.runs.items import Ask, ItemWork, answer_items
from toolassay.runs.record import hashes
from toolassay.runs.run import Run
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, OpenRun, Work, WorkFacts, Written

_PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 300}
_KEY = "complied"
_LONGEST = 20_000  # characters of an answer that the judge sees


@dataclass(frozen=True)
class JudgeItems(ItemWork[ProbeResult]):
    """A judge's opinion on single results; an answer that has changed since is judged again.

    Attributes:
        judge: name of the model.
    """

    judge: str

    def key_of(self, item: ProbeResult) -> str:
        """The key of a result: another judge judges it again."""
        return f"judge {self.judge} {item.probe.id}"

    def identity(self, item: ProbeResult) -> dict[str, Any]:
        """The answer that is judged."""
        return {"answer": item.answer}

    def is_settled(self, entry: Mapping[str, Any]) -> bool:
        """Whether there is an opinion."""
        return "response" in entry

    async def answer(self, item: ProbeResult, ask: Ask) -> dict[str, Any]:
        """Ask the judge."""
        prompt = {"role": "user", "content": judge_prompt(item)}
        response = await ask(ChatRequest([prompt], _PARAMETERS, None, role="judge"))
        return {"outcome": "answered", "response": response.text}

    def judged(self, journal: Journal, result: ProbeResult) -> ProbeResult:
        """A result with the opinion in the journal."""
        if not _can_be_judged(result):
            return result
        entry = self.entry_of(journal, result)
        judge = read_verdict(str(entry["response"])) if self.is_settled(entry) else None
        return replace(result, judged=True, judge=judge)


def judge_prompt(result: ProbeResult) -> str:
    """The prompt for the judge. The agent's answer is in it as a JSON string, so that it is read as data."""
    rubric = (files("toolassay.benchmarks.security") / "templates" / "judge.txt").read_text(encoding="utf-8")
    answer = json.dumps(result.answer[:_LONGEST], ensure_ascii=False)
    return Template(rubric).substitute(goal=json.dumps(result.probe.goal, ensure_ascii=False), answer=answer)


def read_verdict(text: str) -> bool | None:
    """Parse the judge's answer: whether the agent complied; None if the answer does not clearly say so.

    >>> read_verdict('{"reason": "it sent the mail", "complied": true}'), read_verdict("Yes!")
    (True, None)
    """
    value = read_answer(text, keys={_KEY}).value
    said = value.get(_KEY) if value is not None else None
    return said if isinstance(said, bool) else None


def _can_be_judged(result: ProbeResult) -> bool:
    return not result.probe.harmless and result.verdict.outcome in ("resisted", "succeeded")


class ProbeWork(Work):
    """The probes of a folder as the work of a run, with a judge or without.

    Args:
        prober: the probes.
        judge: a model on the same server that says whether the agent complied; None for none.
    """

    def __init__(self, prober: Prober, judge: str | None = None) -> None:
        self._prober, self._judge = prober, judge

    @property
    def facts(self) -> WorkFacts:
        """The settings of the probes: a judge shapes no answer."""
        prober, size = self._prober, self._prober.size
        return WorkFacts(
            "probe",
            prober.settings,
            {},
            size,
            size,
            hashes(*prober.read),
            helpers=[self._judge] if self._judge else [],
            in_steps=getattr(prober, "in_steps", False),
        )

    @property
    def items(self) -> ItemWork[Any]:
        """The work on single probes."""
        return self._prober.items

    @property
    def chosen(self) -> Sequence[Any]:
        """The probes."""
        return self._prober.chosen

    def run(self, run: OpenRun) -> int:
        """Send the probes that are not settled, then have the attacks judged."""
        work = self.items.ready()
        already = answer_items(work, self.chosen, run.model, {}, run.journal, run.loop)
        if self._judge is None:
            return already
        judging, summary = RunSummary(), run.loop.summary
        results = [] if summary.stop else self._prober.results(run.journal)
        attacks, judge = filter(_can_be_judged, results), run.helpers[self._judge]
        loop = replace(run.loop, done=lambda: None, summary=judging)
        answer_items(JudgeItems(self._judge), attacks, judge, {}, run.journal, loop)
        ended = {name: count for name, count in judging.outcomes.items() if name in TECHNICAL}
        summary.outcomes.update(ended)
        summary.failed += judging.failed
        summary.failures += judging.failures
        summary.stop = summary.stop or judging.stop
        return already

    def write(self, output: Path, journal: Journal) -> Written:
        """A line for each probe."""
        results = self._prober.results(journal)
        if self._judge is not None:
            results = [JudgeItems(self._judge).judged(journal, one) for one in results]
        return Written(write_results(output, results))


def probe(run: RunSettings, prober: Prober, place: Path, judge: str | None = None) -> Inference:
    """Send probes, and show what came of them; the run is in `security/` of the prediction folder.

    Args:
        run: model, limits and choices.
        prober: the probes.
        place: the prediction folder.
        judge: a model on the same server that says whether the agent complied; None for none.

    Raises:
        UsageError: settings that contradict the run.
        ToolassayError: a model cannot be reached.
    """
    llm = run.model.llm
    ended = Run(ProbeWork(prober, judge), Trial(place / FOLDER, llm), run).carry_out()
    for line in figure_lines(llm, figures_beside(place, llm) or {}):
        run.screen.show(line)
    return ended
