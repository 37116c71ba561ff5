"""The functions of the package `toolassay`: stages that take the fields of their options objects as keywords.

    infer("mine", llm="acme/one", temperature=0)

`toolassay/__init__.pyi`, which `python -m measurements.interface` writes from the declarations, has their
types.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from importlib import import_module
from typing import Any

from toolassay.declarations import arguments_of, declared_in, members

_NAMES = {
    "benchmarks.benchmark": "Benchmark",
    "benchmarks.classic.importing": "import_classic",
    "benchmarks.taskbench.importing": "import_taskbench",
    "cli.screen": "SCREEN",
    "errors": "IncompleteError ToolassayError UnknownNameError UsageError",
    "graph": "ToolGraph",
    "graph.edits": "Edit",
    "link_proposals.options": "LinkOptions ProposeOptions",
    "models.options": "ModelOptions",
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
    "stages.import_cases": "import_cases",
    "stages.import_tools": "import_tools",
    "stages.leaderboard": "leaderboard",
    "stages.noise": "noise",
    "stages.pipeline": "pipeline",
    "stages.release": "format_data",
    "stages.report": "write_report",
    "stages.review": "apply_review export_reviews import_reviews review_summary start_review",
    "stages.split": "split",
    "stages.surface": "surface",
    "stages.variety": "measure_variety",
    "stages.world": "world",
    "tools.library": "Tool ToolLibrary",
}
HOMES = {name: f"toolassay.{module}" for module, names in _NAMES.items() for name in names.split()}
"""The module of each public name."""
HOMES["report"] = HOMES["write_report"]


@functools.cache
def public(name: str) -> Any:
    """A public name of the package; a stage takes flat keywords.

    Raises:
        AttributeError: There is none.
    """
    if name not in HOMES:
        raise AttributeError(f"module 'toolassay' has no attribute '{name}'")
    if name == "report":
        return public("write_report")
    member = getattr(import_module(HOMES[name]), name)
    return flat(member) if ".stages." in HOMES[name] else member


def flat(stage: Callable[..., Any]) -> Callable[..., Any]:
    """A stage that also takes the fields of its options objects as keywords."""
    if not any(member.option is None for member in members(stage)):
        return stage
    signature = inspect.signature(stage)

    @functools.wraps(stage)
    def call(*arguments: Any, **keywords: Any) -> Any:
        given = dict(signature.bind_partial(*arguments).arguments)
        for name in given.keys() & keywords.keys():
            raise TypeError(f"{stage.__name__}() got multiple values for argument '{name}'")
        if callable(keywords.get("agent")):  # an agent as a function; a text names a built-in agent
            keywords["agent_command"] = keywords.pop("agent")
        made = arguments_of(stage, given | keywords)
        positional: list[Any] = []
        for name, parameter in signature.parameters.items():
            if parameter.kind is parameter.VAR_POSITIONAL:
                positional.extend(made.pop(name, ()))
        return stage(*positional, **made)

    names = ", ".join(dict.fromkeys(declared.name for declared in declared_in(stage)))
    call.__doc__ = f"{inspect.getdoc(stage)}\n\nKeywords for the fields of the options objects: {names}."
    return call
