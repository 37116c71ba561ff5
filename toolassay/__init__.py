"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools.

The stages of the pipeline are functions of this package; each is imported when it is first used. In a
notebook they show progress and warnings; `screen=SCREEN` shows all that the command shows, `screen=SILENT`
nothing. `ModelSettings`, `Limits` and `RunChoices` hold what several stages take; their fields can be given
as plain keywords too.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from toolassay.version import __version__

if TYPE_CHECKING:
    from toolassay.benchmarks.benchmark import Benchmark as Benchmark
    from toolassay.benchmarks.classic.importing import import_classic as import_classic
    from toolassay.benchmarks.taskbench.importing import import_taskbench as import_taskbench
    from toolassay.cli.screen import SCREEN as SCREEN
    from toolassay.graph.edits import Edit as Edit
    from toolassay.link_proposals import ProposeOptions as ProposeOptions
    from toolassay.link_proposals.schema_links import LinkOptions as LinkOptions
    from toolassay.runs.budget import Budget as Budget
    from toolassay.runs.settings import Limits as Limits
    from toolassay.runs.settings import ModelSettings as ModelSettings
    from toolassay.runs.settings import RunChoices as RunChoices
    from toolassay.screen import SILENT as SILENT
    from toolassay.stages.calibrate import calibrate as calibrate
    from toolassay.stages.check import check as check
    from toolassay.stages.evaluate import compare as compare
    from toolassay.stages.evaluate import evaluate as evaluate
    from toolassay.stages.evaluate import verify as verify
    from toolassay.stages.execute import execute as execute
    from toolassay.stages.export import export as export
    from toolassay.stages.generate import generate as generate
    from toolassay.stages.generate import sample as sample
    from toolassay.stages.graph import build_graph as build_graph
    from toolassay.stages.graph import visualize as visualize
    from toolassay.stages.infer import infer as infer
    from toolassay.stages.infer import serve as serve
    from toolassay.stages.leaderboard import leaderboard as leaderboard
    from toolassay.stages.pipeline import pipeline as pipeline
    from toolassay.stages.release import format_data as format_data
    from toolassay.stages.report import write_report as write_report
    from toolassay.stages.review import apply_review as apply_review
    from toolassay.stages.review import export_reviews as export_reviews
    from toolassay.stages.review import import_reviews as import_reviews
    from toolassay.stages.review import review_summary as review_summary
    from toolassay.stages.review import start_review as start_review
    from toolassay.stages.split import split as split
    from toolassay.stages.variety import measure_variety as measure_variety

    report = write_report

_HOMES = {
    "Benchmark": "benchmarks.benchmark",
    "Budget": "runs.budget",
    "Edit": "graph.edits",
    "Limits": "runs.settings",
    "LinkOptions": "link_proposals.schema_links",
    "ModelSettings": "runs.settings",
    "ProposeOptions": "link_proposals",
    "RunChoices": "runs.settings",
    "SCREEN": "cli.screen",
    "SILENT": "screen",
    "apply_review": "stages.review",
    "build_graph": "stages.graph",
    "calibrate": "stages.calibrate",
    "check": "stages.check",
    "compare": "stages.evaluate",
    "evaluate": "stages.evaluate",
    "execute": "stages.execute",
    "export": "stages.export",
    "export_reviews": "stages.review",
    "format_data": "stages.release",
    "generate": "stages.generate",
    "import_classic": "benchmarks.classic.importing",
    "import_reviews": "stages.review",
    "import_taskbench": "benchmarks.taskbench.importing",
    "infer": "stages.infer",
    "leaderboard": "stages.leaderboard",
    "measure_variety": "stages.variety",
    "pipeline": "stages.pipeline",
    "report": "stages.report:write_report",
    "review_summary": "stages.review",
    "sample": "stages.generate",
    "serve": "stages.infer",
    "split": "stages.split",
    "start_review": "stages.review",
    "verify": "stages.evaluate",
    "visualize": "stages.graph",
    "write_report": "stages.report",
}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
    module, _, attribute = _HOMES[name].partition(":")
    found = getattr(import_module(f"toolassay.{module}"), attribute or name)
    if module.startswith("stages."):
        from toolassay.extras import show_keywords

        show_keywords(found)
    return found


def __dir__() -> list[str]:
    return sorted(__all__)


class _Package(ModuleType):
    """The package `toolassay`: an import of `toolassay.report` does not hide the function `report`."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _HOMES and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
