"""Toolgraph: from a tool list to a benchmark, and to the model to trust with the tools.

The stages of the pipeline are functions of this package; each is imported when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolgraph.version import __version__

if TYPE_CHECKING:
    from toolgraph.stages.check import check
    from toolgraph.stages.compare import compare
    from toolgraph.stages.evaluate import evaluate
    from toolgraph.stages.export import export
    from toolgraph.stages.format import format_data
    from toolgraph.stages.generate import generate
    from toolgraph.stages.graph import build_graph
    from toolgraph.stages.import_classic import import_classic
    from toolgraph.stages.import_taskbench import import_taskbench
    from toolgraph.stages.infer import infer
    from toolgraph.stages.leaderboard import leaderboard
    from toolgraph.stages.pipeline import pipeline
    from toolgraph.stages.review import apply_review, export_reviews, import_reviews, review_summary
    from toolgraph.stages.sample import sample
    from toolgraph.stages.split import split
    from toolgraph.stages.verify import verify
    from toolgraph.stages.visualize import visualize

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

__all__ = [
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
        return getattr(import_module(f"toolgraph.stages.{_STAGES[name]}"), name)
    raise AttributeError(f"module 'toolgraph' has no attribute '{name}'")
