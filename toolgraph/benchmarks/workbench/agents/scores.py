"""The scores of agents: the published metrics in both modes, and a line an item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from toolgraph.benchmarks.workbench.agents.predictions import NOT_RUN
from toolgraph.benchmarks.workbench.judge.evaluation import MODES, Evaluator
from toolgraph.benchmarks.workbench.judge.metrics import metrics_of
from toolgraph.benchmarks.workbench.judge.results import Result, ResultFile
from toolgraph.benchmarks.workbench.judge.strict_metrics import strict_metrics
from toolgraph.benchmarks.workbench.judge.verdict import Verdict
from toolgraph.benchmarks.workbench.sandbox import Sandbox
from toolgraph.benchmarks.workbench.tasks import Task

OVERALL = "overall_overall"
"""The one group of the metrics file, by the name that `toolgraph compare` knows."""


@dataclass(frozen=True)
class AgentScores:
    """What the runs of one model are worth.

    Attributes:
        n: tasks of the folder.
        outcomes: how they ended; one without a line was not run, and is wrong.
        compat: the published metrics, by the published verdict.
        strict: the same by the strict verdict, with intervals.
        items: a line a task, as `toolgraph compare` reads it.
    """

    n: int
    outcomes: Mapping[str, int]
    compat: Mapping[str, Any]
    strict: Mapping[str, Any]
    items: Sequence[Mapping[str, Any]]

    @property
    def coverage(self) -> float:
        """The share of the tasks that an agent ended by itself or at its limits."""
        return self.outcomes.get("answered", 0) / self.n if self.n else 1.0


def score_agents(
    sandbox: Sandbox,
    tasks: Iterable[Task],
    found: Mapping[str, tuple[str, Result]],
    *,
    llm: str,
    toolkit: str | None = None,
) -> AgentScores:
    """Judge what agents called.

    Args:
        sandbox: as every run found it.
        tasks: all of the folder.
        found: the outcome and the result of each task, by its id; one that is not there is wrong.
        llm: the model.
        toolkit: the setting of its tools, if known.
    """
    tasks = list(tasks)
    verdicts: dict[str, list[Verdict]] = {}
    runs = [found.get(task.id, (NOT_RUN, Result(task.query, (), NOT_RUN))) for task in tasks]
    for mode in MODES:
        evaluator = Evaluator(sandbox, tasks, mode)
        verdicts[mode] = [
            _earned(outcome, evaluator.verdict(llm, row, task, result))
            for row, (task, (outcome, result)) in enumerate(zip(tasks, runs, strict=True))
        ]
    file = ResultFile(Path(llm), llm)
    metrics = {
        mode: {
            **metrics_of(file, judged),
            "model": llm,
            "tool_selection": toolkit,
            "by_group": _groups(judged),
        }
        for mode, judged in verdicts.items()
    }
    metrics["strict"] |= strict_metrics(verdicts["strict"])
    outcomes = [outcome for outcome, _ in runs]
    items = [_item(*row) for row in zip(outcomes, verdicts["strict"], verdicts["compat"], strict=True)]
    return AgentScores(len(tasks), dict(Counter(outcomes)), metrics["compat"], metrics["strict"], items)


def _earned(outcome: str, verdict: Verdict) -> Verdict:
    """The verdict, in which a task that was not run matches nothing, not even where no call is wanted."""
    if outcome != NOT_RUN:
        return verdict
    return replace(verdict, classes=replace(verdict.classes, exact_match=False))


def _groups(verdicts: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for verdict in verdicts:
        counts = found.setdefault(verdict.task.group, Counter(n=0, correct=0, side_effects=0))
        counts.update(n=1, correct=int(verdict.correct), side_effects=int(verdict.side_effects))
    return {name: dict(counts) for name, counts in found.items()}


def _item(outcome: str, strict: Verdict, compat: Verdict) -> dict[str, Any]:
    """A line of the file of items. A task that was not run has earned nothing."""
    judged, ran = strict.strict, float(outcome != NOT_RUN)
    return {
        "id": strict.task.id,
        "cluster": strict.task.base_template,
        "outcome": outcome,
        "scores": {
            "correct": float(strict.correct),
            "no_side_effects": ran * (not strict.side_effects),
            "exact_match": ran * strict.classes.exact_match,
            "wanted_changes_made": judged.wanted_made if judged else None,
            "made_changes_wanted": judged.made_wanted if judged else None,
            "compat_correct": float(compat.correct),
        },
        "type": strict.task.group,
        "n_tools": len(strict.task.answer),
        "counts": dict.fromkeys(("nodes", "edges", "argument_names", "argument_values")),
    }
