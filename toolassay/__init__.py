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
    from toolassay.console.screen import SILENT as SILENT
    from toolassay.errors import IncompleteError as IncompleteError
    from toolassay.errors import ToolassayError as ToolassayError
    from toolassay.errors import UnknownNameError as UnknownNameError
    from toolassay.errors import UsageError as UsageError
    from toolassay.graph import ToolGraph as ToolGraph
    from toolassay.graph.edits import Edit as Edit
    from toolassay.link_proposals.proposal_run import ProposeOptions as ProposeOptions
    from toolassay.link_proposals.schema_links import LinkOptions as LinkOptions
    from toolassay.records.dataset import Sample as Sample
    from toolassay.runs.budget import Budget as Budget
    from toolassay.runs.settings import Limits as Limits
    from toolassay.runs.settings import ModelSettings as ModelSettings
    from toolassay.runs.settings import RunChoices as RunChoices
    from toolassay.stages.calibrate import calibrate as calibrate
    from toolassay.stages.check import check as check
    from toolassay.stages.compare import compare as compare
    from toolassay.stages.evaluate import evaluate as evaluate
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
    from toolassay.stages.verify import verify as verify
    from toolassay.tools.library import Tool as Tool
    from toolassay.tools.library import ToolLibrary as ToolLibrary

    report = write_report

_NAMES = {
    "benchmarks.benchmark": "Benchmark",
    "benchmarks.classic.importing": "import_classic",
    "benchmarks.taskbench.importing": "import_taskbench",
    "cli.screen": "SCREEN",
    "errors": "IncompleteError ToolassayError UnknownNameError UsageError",
    "graph": "ToolGraph",
    "graph.edits": "Edit",
    "link_proposals.proposal_run": "ProposeOptions",
    "link_proposals.schema_links": "LinkOptions",
    "records.dataset": "Sample",
    "runs.budget": "Budget",
    "runs.settings": "Limits ModelSettings RunChoices",
    "console.screen": "SILENT",
    "stages.calibrate": "calibrate",
    "stages.check": "check",
    "stages.compare": "compare",
    "stages.evaluate": "evaluate",
    "stages.verify": "verify",
    "stages.execute": "execute",
    "stages.export": "export",
    "stages.generate": "generate sample",
    "stages.graph": "build_graph visualize",
    "stages.infer": "infer serve",
    "stages.leaderboard": "leaderboard",
    "stages.pipeline": "pipeline",
    "stages.release": "format_data",
    "stages.report": "report write_report",
    "stages.review": "apply_review export_reviews import_reviews review_summary start_review",
    "stages.split": "split",
    "stages.variety": "measure_variety",
    "tools.library": "Tool ToolLibrary",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [*_HOMES, "__version__"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
    module = _HOMES[name]
    found = getattr(import_module(f"toolassay.{module}"), "write_report" if name == "report" else name)
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
