"""`PromptReader`: recovers the task behind a built-in prompt by matching its template.

Over the network a model receives only the prompt, while the offline model needs the task. What a prompt does
not show is taken from a known library that has the tools of the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from string import Template
from typing import Any, get_args

from toolassay.backinstruct import prompt as back_instruct
from toolassay.benchmarks.taskbench import prompt as taskbench
from toolassay.dataset import Sample, shape_of
from toolassay.errors import ToolassayError
from toolassay.gates import critic
from toolassay.graph import DependencyType, Link, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask, PlanTask, ReformatTask
from toolassay.prompt_templates import Wording, read_tool_sentence, turns_of
from toolassay.tools import ToolLibrary

PromptTask = BackInstructTask | CritiqueTask | PlanTask | ReformatTask

_NODE = re.compile(r"Node \d+: ")  # matches "Node 1: {" up to the brace, and nothing of "- Crop: Cuts."
_KEPT = 16  # graphs that are cached


class PromptReader:
    """Parses built-in prompts; users' own templates are not recognised.

    An inference prompt shows the tools without their links, and of temporal tools only the names of the
    parameters; a Back-Instruct prompt shows only the tools of the sample. For tools that are not known, the
    links are those that the types imply.

    Args:
        known: Known graphs.
    """

    def __init__(self, known: Sequence[ToolGraph] = ()) -> None:
        self._known = known
        self._graph = lru_cache(_KEPT)(self._graph_of)

    def task(self, prompt: str) -> PromptTask | None:
        """The task behind a prompt; None if it is not a built-in prompt."""
        asked = fields_of(critic.template(), prompt)
        if asked is not None:
            try:
                return _critique(asked)
            except (ValueError, KeyError, TypeError, ToolassayError):
                return None
        for kind in get_args(DependencyType):
            names = [taskbench.template_name(kind, wording) for wording in get_args(Wording)]
            for template, read in (
                *((_last(taskbench.built_in(name)), self._plan) for name in names),
                *((_last(back_instruct.built_in(name)), self._back_instruct) for name in names),
                (taskbench.built_in(f"reformat_{kind}"), _reformat),
            ):
                fields = fields_of(template, prompt)
                if fields is not None:
                    try:
                        return read(fields, kind)
                    except (ValueError, KeyError, ToolassayError):
                        return None  # similar to a built-in prompt, but not one
        return None

    def _plan(self, fields: Mapping[str, str], kind: DependencyType) -> PromptTask:
        return PlanTask(fields["request"], self._graph(fields["tools"], kind, False))

    def _back_instruct(self, fields: Mapping[str, str], kind: DependencyType) -> PromptTask:
        nodes = [
            line[found.end() :] if (found := _NODE.match(line)) else line
            for line in fields["nodes"].split("\n")
        ]
        graph = self._graph("\n".join(nodes), kind, True)
        names = [_tool(node)["id"] for node in nodes]
        links = _links(fields["links"], names, graph)
        seed, _, index = fields["seed"].rpartition("-")
        pairs = [(link.source, link.target) for link in links]
        sample = Sample(int(index), int(seed), shape_of(len(names), pairs), tuple(names), tuple(links))
        return BackInstructTask(sample, graph.library, kind, check=bool(fields["check"]))

    def _graph_of(self, tools: str, kind: DependencyType, part: bool) -> ToolGraph:
        """The graph of the shown tools: a known one, or the one that the tools imply.

        Args:
            tools: The tools, one per line.
            kind: Dependency type.
            part: Whether a known graph may have more tools than are shown.

        Raises:
            ValueError: A line is neither JSON nor a tool sentence.
            ToolassayError: An object is not a tool.
        """
        # Not `splitlines`: descriptions may contain line separators that JSON does not escape.
        shown = ToolLibrary.from_json([_tool(line) for line in tools.split("\n")], normalise_types=False)
        for graph in self._known:
            fits = (
                all(name in graph.library for name in shown.ids) if part else graph.library.ids == shown.ids
            )
            if fits and graph.dependency_type == kind:
                return graph if part else _as_shown(graph, shown)
        return ToolGraph.build(shown, kind)


def _tool(line: str) -> Any:
    """The tool on a line, as an object of `tool_desc.json`.

    Raises:
        ValueError: The line is neither JSON nor a tool sentence.
    """
    return read_tool_sentence(line) if line.startswith("- ") else json.loads(line)


def _as_shown(graph: ToolGraph, shown: ToolLibrary) -> ToolGraph:
    """A known graph with the descriptions of the prompt."""
    tools = [
        tool
        if tool.description == (text := shown[tool.id].description)
        else replace(tool, description=text, source={**tool.source, "desc": text})
        for tool in graph.library
    ]
    return graph if tools == list(graph.library) else replace(graph, library=ToolLibrary(tools))


def _critique(fields: Mapping[str, str]) -> PromptTask:
    """The critique task of a prompt, which shows the tools of the plan.

    Raises:
        ValueError: A part is not JSON.
        ToolassayError: An object is not a tool.
    """
    shown = [json.loads(line) for line in fields["tools"].split("\n")]
    tools = [tool for tool in shown if not tool.get("unknown")]
    library = ToolLibrary.from_json(tools, normalise_types=False)
    plan = json.loads(fields["plan"])
    kind: DependencyType = "resource" if library.has_types else "temporal"
    return critic.critique_of(json.loads(fields["request"]), plan, library, kind)


def _reformat(fields: Mapping[str, str], kind: DependencyType) -> PromptTask:
    return ReformatTask(fields["answer"])


def _links(text: str, names: Sequence[str], graph: ToolGraph) -> list[Link]:
    """The shown links, each with a type: the first shared one whose input slot is still free.

    Raises:
        ValueError: A link is between other tools.
    """
    between = {f"Link: {one} -> {two}": (one, two) for one in names for two in names}
    links: list[Link] = []
    fed: dict[str, list[str]] = {name: list(graph.library[name].inputs) for name in names}
    for line in text.split("\n") if text != "(none)" else []:
        if line not in between:
            raise ValueError(f"not a link: {line}")
        source, target = between[line]
        types = graph.link_types(source, target)
        kind = next((kind for kind in types if kind in fed[target]), types[0] if types else "")
        if kind in fed[target]:
            fed[target].remove(kind)
        links.append(Link(source, target, kind))
    return links


def _last(template: str) -> str:
    """The last message of a template, without the worked example before it."""
    return turns_of(template)[-1]["content"]


def fields_of(template: str, prompt: str) -> dict[str, str] | None:
    """The values of a template's fields in a prompt; None if the prompt was not made from the template.

    >>> fields_of("Say $word to $name, $word!", "Say hello to Ann, hello!")
    {'word': 'hello', 'name': 'Ann'}
    """
    match = _pattern(template).fullmatch(prompt)
    return match.groupdict() if match else None


@lru_cache
def _pattern(template: str) -> re.Pattern[str]:
    """A pattern for prompts made from a template, with a group per field; repeated fields must be equal.

    For "Say $word, $word!" it matches "Say hi, hi!", not "Say hi, ho!".
    """
    parts: list[str] = []
    end = 0
    for field in Template.pattern.finditer(template):
        name = field["named"]
        again = f"(?P<{name}>" in "".join(parts)
        parts += [re.escape(template[end : field.start()]), f"(?P={name})" if again else f"(?P<{name}>.*?)"]
        end = field.end()
    parts.append(re.escape(template[end:].rstrip()))
    return re.compile("".join(parts) + r"\s*", re.DOTALL)
