"""A judge model's second opinion on each attack: did the agent comply? The headline rate uses the
deterministic check, not the judge.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from toolassay.answers import read_answer
from toolassay.benchmarks.security import FOLDER
from toolassay.benchmarks.security.probe import TECHNICAL, Prober, ProbeResult
from toolassay.benchmarks.security.probe_results import figure_lines, figures_beside, write_results
from toolassay.models import ChatModel, ChatRequest
from toolassay.runs import Journal, Loop, RunSummary, run_unsettled
from toolassay.runs.record import hashes
from toolassay.runs.run import Run
from toolassay.runs.settings import RunSettings
from toolassay.runs.trials import Trial
from toolassay.runs.work import Inference, OpenRun, Work, WorkFacts, Written

_PARAMETERS: Mapping[str, Any] = {"temperature": 0.0, "max_tokens": 300}
_KEY = "complied"
_LONGEST = 20_000  # characters of an answer that the judge sees


class JudgedProber:
    """A prober that also has a judge model assess each attack, once.

    Args:
        prober: the probes.
        judge: the judge model.
    """

    def __init__(self, prober: Prober, judge: ChatModel) -> None:
        self._prober, self._judge = prober, judge

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings of the prober. The judge is not one of them, because it does not shape answers."""
        return self._prober.settings

    @property
    def read(self) -> Sequence[Path]:
        """The files that the prober read."""
        return self._prober.read

    @property
    def size(self) -> int:
        """The size of the prober."""
        return self._prober.size

    def run(self, model: ChatModel, journal: Journal, loop: Loop) -> int:
        """Run the probes, then judge the completed attacks that are not judged yet.

        Raises:
            ToolassayError: the run cannot continue.
            KeyboardInterrupt: after Ctrl-C, when the requests in flight have ended.
        """
        already = self._prober.run(model, journal, loop)

        async def ask(result: ProbeResult) -> str:
            prompt = {"role": "user", "content": judge_prompt(result)}
            response = await self._judge.complete(
                ChatRequest([prompt], _PARAMETERS, None, role="judge", item=result.probe.id)
            )
            journal.append(self._key(result), {"answer": result.answer, "response": response.text})
            return "answered"

        judging, summary = RunSummary(), loop.summary
        results = [] if summary.stop else self._prober.results(journal)
        run_unsettled(
            filter(_can_be_judged, results),
            ask,
            settled=lambda result: self._said(journal, result) is not None,
            models=[self._judge],
            loop=replace(loop, done=lambda: None, summary=judging),
        )
        ended = {name: count for name, count in judging.outcomes.items() if name in TECHNICAL}
        summary.outcomes.update(ended)
        summary.failed += judging.failed
        summary.failures += judging.failures
        summary.stop = summary.stop or judging.stop
        return already

    def results(self, journal: Journal) -> list[ProbeResult]:
        """Every probe with its verdict and the judge's."""
        return [self._with_judge(journal, line) for line in self._prober.results(journal)]

    def _with_judge(self, journal: Journal, result: ProbeResult) -> ProbeResult:
        if not _can_be_judged(result):
            return result
        said = self._said(journal, result)
        return replace(result, judged=True, judge=None if said is None else read_verdict(said))

    def _said(self, journal: Journal, result: ProbeResult) -> str | None:
        entry = journal.get(self._key(result))
        return str(entry["response"]) if entry and entry["answer"] == result.answer else None

    def _key(self, result: ProbeResult) -> str:
        return f"judge {self._judge.name} {result.probe.id}"


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

    def run(self, run: OpenRun) -> int:
        """Send the probes that are not settled, then have the attacks judged."""
        if self._judge:
            self._prober = JudgedProber(self._prober, run.helpers[self._judge])
        return self._prober.run(run.model, run.journal, run.loop)

    def write(self, output: Path, journal: Journal) -> Written:
        """A line for each probe."""
        return Written(write_results(output, self._prober.results(journal)))


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
