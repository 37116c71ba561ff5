"""`PromptReader`: recovers the task behind a built-in prompt by matching its template.

Over the network a model receives only the prompt, while the offline model needs the task. What a prompt does
not show is taken from a known library that has the tools of the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from toolassay.backinstruct import prompt as back_instruct
from toolassay.dataset import Sample, shape_of
from toolassay.errors import ToolassayError
from toolassay.gates import critic
from toolassay.graph import DependencyType, Link, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask
from toolassay.offline.shown_graphs import ShownGraphs, tool_of_line
from toolassay.prompt_templates import Wording, fields_of, last_turn, template_name
from toolassay.serving.conversations import conversation_task
from toolassay.signatures import read_shown
from toolassay.tools import ToolLibrary

_NODE = re.compile(r"Node \d+: ")  # matches "Node 1: {" up to the brace, and nothing of "- Crop: Cuts."


class PromptReader:
    """Parses built-in prompts; users' own templates are not recognised.

    Args:
        known: graphs of the tools that prompts may show.
    """

    def __init__(self, known: Sequence[ToolGraph] = ()) -> None:
        self.graphs = ShownGraphs(known)

    def task(self, prompt: str) -> Any:
        """The task behind a prompt; None for another prompt."""
        fields = fields_of(critic.template(), prompt)
        if fields is not None:
            try:
                return _critique(fields)
            except (ValueError, KeyError, TypeError, ToolassayError):
                return None
        for kind in get_args(DependencyType):
            for wording in get_args(Wording):
                template = last_turn(back_instruct.built_in(template_name(kind, wording)))
                fields = fields_of(template, prompt)
                if fields is not None:
                    try:
                        return self._back_instruct(fields, kind)
                    except (ValueError, KeyError, ToolassayError):
                        return None  # looks like ours and is not
        return conversation_task({"messages": [{"role": "user", "content": prompt}]}, self.graphs)

    def _back_instruct(self, fields: Mapping[str, str], kind: DependencyType) -> BackInstructTask:
        nodes = [
            line[found.end() :] if (found := _NODE.match(line)) else line
            for line in fields["nodes"].split("\n")
        ]
        graph = self.graphs.graph("\n".join(nodes), kind, True)
        names = [tool_of_line(node)["id"] for node in nodes]
        links = _links(fields["links"], names, graph)
        seed, _, index = fields["seed"].rpartition("-")
        pairs = [(link.source, link.target) for link in links]
        sample = Sample(int(index), int(seed), shape_of(len(names), pairs), tuple(names), tuple(links))
        return BackInstructTask(sample, graph.library, kind, check=bool(fields["check"]))


def _critique(fields: Mapping[str, str]) -> BackInstructTask | CritiqueTask:
    """The review of a sample; the tools of its plan are shown, and its arguments tell the kind.

    Raises:
        ValueError: A part is not JSON.
        ToolassayError: An object is not a tool.
    """
    shown = [read_shown(json.loads(line)) for line in fields["tools"].split("\n")]
    tools = [tool for tool in shown if not tool.get("unknown")]
    library = ToolLibrary.from_json(tools, normalise_types=False)
    plan = json.loads(fields["plan"])
    kind: DependencyType = "resource" if library.has_types else "temporal"
    return critic.critique_of(json.loads(fields["request"]), plan, library, kind)


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
