"""Recovers the plan, or the rewriting, that one of our prompts asks for: for a served offline model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from toolassay.benchmarks.taskbench.prompt import built_in
from toolassay.errors import ToolassayError
from toolassay.graph import DependencyType
from toolassay.models.wire_format import text_of
from toolassay.offline.model_tasks import PlanTask, ReformatTask
from toolassay.offline.shown_graphs import ShownGraphs
from toolassay.prompt_templates import Wording, fields_of, last_turn, template_name


def prompted_plan(body: Mapping[str, Any], shown: ShownGraphs) -> PlanTask | ReformatTask | None:
    """The task behind a request; None for another prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        shown: graphs of the tools that prompts may show.
    """
    last = body["messages"][-1]
    if body.get("tools") or not isinstance(last, Mapping):
        return None
    prompt = text_of(last.get("content")) or ""
    for kind in get_args(DependencyType):
        for wording in get_args(Wording):
            fields = fields_of(last_turn(built_in(template_name(kind, wording))), prompt)
            if fields is not None:
                try:
                    return PlanTask(fields["request"], shown.graph(fields["tools"], kind, False))
                except (ValueError, KeyError, ToolassayError):
                    return None  # looks like ours and is not
        fields = fields_of(built_in(f"reformat_{kind}"), prompt)
        if fields is not None:
            return ReformatTask(fields["answer"])
    return None
