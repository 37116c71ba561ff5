"""The stage *evaluate* on folders of one benchmark, with the type of its evaluations."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from toolassay.benchmarks.classic.evaluation import ClassicEvaluation
from toolassay.benchmarks.workbench.evaluation import AgentEvaluation
from toolassay.stages.evaluate import evaluate


def evaluate_workbench(data_dir: str | Path, **settings: Any) -> list[AgentEvaluation]:
    """The verdicts on agents."""
    return cast("list[AgentEvaluation]", evaluate(data_dir, **settings))


def evaluate_classic(data_dir: str | Path, **settings: Any) -> list[ClassicEvaluation]:
    """The scores of choices."""
    return cast("list[ClassicEvaluation]", evaluate(data_dir, **settings))
