"""The critic's prompt, and the same content as a task for the offline critic, which reads no prompts."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from string import Template
from typing import Any

from toolassay.dataset import reference_index
from toolassay.gold import Gold
from toolassay.graph import DependencyType
from toolassay.offline.model_tasks import CritiqueTask
from toolassay.signatures import shown_tool
from toolassay.tools import ToolLibrary


@cache
def template() -> str:
    """The text of `templates/critic.txt`; its placeholders: $tools, $request, $steps, $plan and $doubts."""
    return (files("toolassay.gates.critic") / "templates" / "critic.txt").read_text(encoding="utf-8")


_DOUBTS = """
# DOUBTS #
A program did not find these values of the plan in the request or in an earlier output:
{doubts}
Accept one that follows from the request, so that every careful reader would give the same value.
If one does not, the plan is not correct.
"""


def critic_prompt(gold: Gold, library: ToolLibrary, doubts: Sequence[str] = ()) -> str:
    """The prompt for one sample. Its parts are JSON, so that no request or plan can end its section.

    Args:
        gold: The sample.
        library: The tools.
        doubts: What the gate "grounding" does not find in the request.
    """
    shown = dict.fromkeys(node.tool for node in gold.nodes)
    tools = (
        shown_tool(library[name]) if name in library else {"id": name, "unknown": True} for name in shown
    )
    return Template(template()).substitute(
        tools="\n".join(_json(tool) for tool in tools),
        request=_json(gold.request),
        steps=_json(gold.steps),
        plan=_json(plan_of(gold)),
        doubts=_DOUBTS.format(doubts="\n".join(map(_json, doubts))) if doubts else "",
    )


def plan_of(gold: Gold) -> dict[str, Any]:
    """The plan of a label in the form that the prompt shows: nodes with arguments if any, and links."""
    nodes = (
        {"task": node.tool} if node.arguments is None else {"task": node.tool, "arguments": node.arguments}
        for node in gold.nodes
    )
    return {
        "task_nodes": list(nodes),
        "task_links": [{"source": source, "target": target} for source, target in gold.links],
    }


def critique_of(
    request: str, plan: Mapping[str, Any], library: ToolLibrary, kind: DependencyType
) -> CritiqueTask:
    """The task of the offline critic: references become names of tools, as back-instruct writes them.

    Args:
        request: the user's words.
        plan: the plan as `plan_of` returns it.
        library: the tools, at least those of the plan that exist.
        kind: the dependency type.
    """
    names = [node["task"] for node in plan["task_nodes"]]
    key = "input" if kind == "resource" else "arguments"
    nodes = [
        {"id": node["task"]} | ({key: list(_named(node["arguments"], names))} if "arguments" in node else {})
        for node in plan["task_nodes"]
    ]
    graph = {"nodes": nodes, "links": plan["task_links"]}
    return CritiqueTask(None, request, {"invoking_graph": graph}, library, kind)


def _named(arguments: Iterable[Any], names: list[str]) -> Iterable[Any]:
    for argument in arguments:
        if isinstance(argument, Mapping) and "value" in argument:
            yield {**argument, "value": _name(argument["value"], names)}
        else:
            yield _name(argument, names)


def _name(value: Any, names: list[str]) -> Any:
    place = reference_index(value)
    return value if place is None or place >= len(names) else names[place]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
