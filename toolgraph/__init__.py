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
    from toolgraph.stages.format import format_data
    from toolgraph.stages.generate import generate
    from toolgraph.stages.graph import build_graph
    from toolgraph.stages.import_classic import import_classic
    from toolgraph.stages.import_taskbench import import_taskbench
    from toolgraph.stages.infer import infer
    from toolgraph.stages.leaderboard import leaderboard
    from toolgraph.stages.pipeline import pipeline
    from toolgraph.stages.sample import sample
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
    "compare": "compare",
    "leaderboard": "leaderboard",
    "verify": "verify",
    "import_classic": "import_classic",
    "import_taskbench": "import_taskbench",
    "pipeline": "pipeline",
    "visualize": "visualize",
}

__all__ = [
    "__version__",
    "build_graph",
    "check",
    "compare",
    "evaluate",
    "format_data",
    "generate",
    "import_classic",
    "import_taskbench",
    "infer",
    "leaderboard",
    "pipeline",
    "sample",
    "verify",
    "visualize",
]


def __getattr__(name: str) -> Any:
    if name in _STAGES:
        return getattr(import_module(f"toolgraph.stages.{_STAGES[name]}"), name)
    raise AttributeError(f"module 'toolgraph' has no attribute '{name}'")
