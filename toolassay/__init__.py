"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools.

The stages of the pipeline are functions of this package; each is imported when it is first used. In a
notebook they show progress and warnings; `screen=SCREEN` shows all that the command shows, `screen=SILENT`
nothing. `ModelSettings`, `Limits` and `RunChoices` hold what several stages take; their fields can be given
as plain keywords too.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolassay.version import __version__

if TYPE_CHECKING:
    from toolassay.benchmarks.benchmark import Benchmark
    from toolassay.benchmarks.classic.importing import import_classic
    from toolassay.benchmarks.taskbench.importing import import_taskbench
    from toolassay.cli.screen import SCREEN
    from toolassay.graph.edits import Edit
    from toolassay.link_review import ReviewOptions
    from toolassay.runs.budget import Budget
    from toolassay.runs.settings import Limits, ModelSettings, RunChoices
    from toolassay.screen import SILENT
    from toolassay.stages.check import check
    from toolassay.stages.compare import compare
    from toolassay.stages.evaluate import evaluate
    from toolassay.stages.execute import execute
    from toolassay.stages.export import export
    from toolassay.stages.format import format_data
    from toolassay.stages.generate import generate
    from toolassay.stages.graph import build_graph
    from toolassay.stages.infer import infer
    from toolassay.stages.leaderboard import leaderboard
    from toolassay.stages.pipeline import pipeline
    from toolassay.stages.report import write_report
    from toolassay.stages.review import (
        apply_review,
        export_reviews,
        import_reviews,
        review_summary,
        start_review,
    )
    from toolassay.stages.sample import sample
    from toolassay.stages.schema_links import LinkOptions
    from toolassay.stages.serve import serve
    from toolassay.stages.split import split
    from toolassay.stages.variety import measure_variety
    from toolassay.stages.verify import verify
    from toolassay.stages.visualize import visualize

_HOMES = {
    "Benchmark": "benchmarks.benchmark",
    "Budget": "runs.budget",
    "Edit": "graph.edits",
    "Limits": "runs.settings",
    "LinkOptions": "stages.schema_links",
    "ModelSettings": "runs.settings",
    "ReviewOptions": "link_review",
    "RunChoices": "runs.settings",
    "SCREEN": "cli.screen",
    "SILENT": "screen",
    "apply_review": "stages.review",
    "build_graph": "stages.graph",
    "check": "stages.check",
    "compare": "stages.compare",
    "evaluate": "stages.evaluate",
    "execute": "stages.execute",
    "export": "stages.export",
    "export_reviews": "stages.review",
    "format_data": "stages.format",
    "generate": "stages.generate",
    "import_classic": "benchmarks.classic.importing",
    "import_reviews": "stages.review",
    "import_taskbench": "benchmarks.taskbench.importing",
    "infer": "stages.infer",
    "leaderboard": "stages.leaderboard",
    "measure_variety": "stages.variety",
    "pipeline": "stages.pipeline",
    "review_summary": "stages.review",
    "sample": "stages.sample",
    "serve": "stages.serve",
    "split": "stages.split",
    "start_review": "stages.review",
    "verify": "stages.verify",
    "visualize": "stages.visualize",
    "write_report": "stages.report",
}

__all__ = [
    "SCREEN",
    "SILENT",
    "Benchmark",
    "Budget",
    "Edit",
    "Limits",
    "LinkOptions",
    "ModelSettings",
    "ReviewOptions",
    "RunChoices",
    "__version__",
    "apply_review",
    "build_graph",
    "check",
    "compare",
    "evaluate",
    "execute",
    "export",
    "export_reviews",
    "format_data",
    "generate",
    "import_classic",
    "import_reviews",
    "import_taskbench",
    "infer",
    "leaderboard",
    "measure_variety",
    "pipeline",
    "review_summary",
    "sample",
    "serve",
    "split",
    "start_review",
    "verify",
    "visualize",
    "write_report",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"toolassay.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
