"""Runs probes on the requests of a folder with a planner's own prompt, tools and demonstrations."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from toolassay.benchmarks.security.probe import DEFAULT_ATTACKS, SEED, ProbeResult
from toolassay.benchmarks.taskbench.infer import Inferrer, RequestStream
from toolassay.benchmarks.taskbench.prediction_lines import entry_of, is_settled, read_entry
from toolassay.benchmarks.taskbench.prompt import PlanPrompt
from toolassay.benchmarks.taskbench.security.probes import check_plan, plan_probes
from toolassay.dataset import Request
from toolassay.files import sha256_of
from toolassay.graph import ToolGraph
from toolassay.models import ChatModel
from toolassay.prompt_templates import Wording
from toolassay.runs import Journal, Loop

_NOWHERE = Path(os.devnull)


class PlanProber:
    """Probes of a planner: its own prompt, tools and demonstrations, with one planted text.

    Args:
        file: the file of requests.
        requests: read from it.
        graph: the tool graph.
        demos: labels shown as demonstrations.
        wording: of the prompt.
        template: of the prompt; None for the built-in one.
        parameters: of the model requests.
        count: number of attacks.
    """

    def __init__(
        self,
        file: Path,
        requests: RequestStream,
        graph: ToolGraph,
        *,
        demos: Sequence[Mapping[str, Any]] = (),
        wording: Wording = "published",
        template: Path | None = None,
        parameters: Mapping[str, Any],
        count: int = DEFAULT_ATTACKS,
    ) -> None:
        self._graph, self._demos, self._template = graph, demos, template
        self._wording: Wording = wording
        self._parameters = parameters
        self._prompt = self._prompt_of(graph, demos)
        probes = plan_probes(requests, graph, demos, count)
        self._requests = {probe.request(line): probe for line, probe in enumerate(probes, start=1)}
        self.read: Sequence[Path] = [file]

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings that shape probes and answers, for the manifest. The number of probes is not one."""
        return {
            "benchmark": "taskbench",
            **self._parameters,
            "dependency_type": self._graph.dependency_type,
            "demo_ids": [demo["id"] for demo in self._demos],
            "probe_seed": SEED,
            "prompt_sha256": hashlib.sha256(self._prompt.text.encode("utf-8", "surrogatepass")).hexdigest(),
            "requests_sha256": sha256_of(self.read[0]),
            **({} if self._wording == "published" else {"prompt": self._wording}),
        }

    @property
    def size(self) -> int:
        """The number of requests."""
        return len(self._requests)

    def run(
        self,
        model: ChatModel,
        journal: Journal,
        loop: Loop,
    ) -> int:
        """Send the requests that the journal does not settle. Returns how many it settled before."""
        inferrer = Inferrer(self._graph, self._prompt, model, parameters=self._parameters, shown=self._shown)
        return inferrer.answer(
            list(self._requests),
            journal,
            loop=loop,
        )

    def results(self, journal: Journal) -> list[ProbeResult]:
        """The verdict on each probe, computed from the answers in the journal."""
        found = []
        for request, probe in self._requests.items():
            entry = entry_of(journal, request)
            ended = entry["outcome"] if is_settled(entry) else entry.get("outcome", "not run")
            plan = None
            if is_settled(entry) and ended in ("answered", "malformed"):
                found_plan, read = read_entry(entry, self._graph.dependency_type)
                plan = None if read.truncated else found_plan  # a malformed plan can show success as well
            answer = entry.get("response") or ""
            found.append(ProbeResult(probe.probe, check_plan(probe, plan, ended, answer), ended, answer))
        return found

    def _shown(self, request: Request) -> tuple[PlanPrompt, ToolGraph]:
        probe = self._requests[request]
        graph = probe.graph(self._graph)
        return self._prompt_of(graph, probe.demos(self._demos)), graph

    def _prompt_of(self, graph: ToolGraph, demos: Sequence[Mapping[str, Any]]) -> PlanPrompt:
        return PlanPrompt(
            graph.library,
            graph.dependency_type,
            demos=demos,
            wording=self._wording,
            template=self._template,
        )
