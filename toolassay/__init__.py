"""Toolassay: from a tool list to a benchmark, and to the model to trust with the tools.

The stages of the pipeline are functions of this package; each is imported when it is first used. In a
notebook they show progress and warnings; `screen=SCREEN` shows all that the command shows, `screen=SILENT`
nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolassay.version import __version__

if TYPE_CHECKING:
    from toolassay.benchmarks.classic.importing import import_classic
    from toolassay.benchmarks.taskbench.importing import import_taskbench
    from toolassay.cli.screen import SCREEN
    from toolassay.screen import SILENT
    from toolassay.stages.check import check
    from toolassay.stages.compare import compare
    from toolassay.stages.evaluate import evaluate
    from toolassay.stages.export import export
    from toolassay.stages.format import format_data
    from toolassay.stages.generate import generate
    from toolassay.stages.graph import build_graph
    from toolassay.stages.infer import infer
    from toolassay.stages.leaderboard import leaderboard
    from toolassay.stages.pipeline import pipeline
    from toolassay.stages.review import apply_review, export_reviews, import_reviews, review_summary
    from toolassay.stages.sample import sample
    from toolassay.stages.split import split
    from toolassay.stages.verify import verify
    from toolassay.stages.visualize import visualize

_STAGES = {
    "build_graph": "graph",
    "sample": "sample",
    "generate": "generate",
    "format_data": "format",
    "check": "check",
    "infer": "infer",
    "evaluate": "evaluate",
    "export": "export",
    "compare": "compare",
    "leaderboard": "leaderboard",
    "split": "split",
    "verify": "verify",
    "import_classic": "import_classic",
    "import_taskbench": "import_taskbench",
    "pipeline": "pipeline",
    "apply_review": "review",
    "export_reviews": "review",
    "import_reviews": "review",
    "review_summary": "review",
    "visualize": "visualize",
}

_SCREENS = {"SCREEN": "cli.screen", "SILENT": "stages.screen"}

__all__ = [
    "SCREEN",
    "SILENT",
    "__version__",
    "apply_review",
    "build_graph",
    "check",
    "compare",
    "evaluate",
    "export",
    "export_reviews",
    "format_data",
    "generate",
    "import_classic",
    "import_reviews",
    "import_taskbench",
    "infer",
    "leaderboard",
    "pipeline",
    "review_summary",
    "sample",
    "split",
    "verify",
    "visualize",
]


def __getattr__(name: str) -> Any:
    if name in _STAGES:
        return getattr(import_module(f"toolassay.stages.{_STAGES[name]}"), name)
    if name in _SCREENS:
        return getattr(import_module(f"toolassay.{_SCREENS[name]}"), name)
    raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
