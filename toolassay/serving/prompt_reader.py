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
from toolassay.benchmarks.benchmark import load
from toolassay.benchmarks.registry import benchmarks
from toolassay.dataset import Sample, shape_of
from toolassay.errors import ToolassayError
from toolassay.gates import critic
from toolassay.graph import DependencyType, FieldPair, Link, ToolGraph
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask
from toolassay.offline.shown_graphs import ShownGraphs, tool_of_line
from toolassay.prompt_templates import Wording, fields_of, last_turn, template_name
from toolassay.signatures import read_shown
from toolassay.tools import ToolLibrary

# Matches "  results[].id -> movie_id", the field below a link, not "Link: a -> b".
_PAIR = re.compile(r"  (?P<source>.+?) -> (?P<target>.+)")
_SAME = re.compile(r"  (?P<source>.+?) = (?P<target>.+)")  # matches "  tv_id = tv_id"
_NODE = re.compile(r"Node \d+: ")  # matches "Node 1: {" up to the brace, and nothing of "- Crop: Cuts."


def conversation_task(body: Mapping[str, Any], graphs: ShownGraphs | None = None) -> Any:
    """The task behind a request; None where no benchmark sends such a prompt.

    Args:
        body: of a chat-completions request, with at least one message.
        graphs: of the tools that prompts may show.
    """
    shown = graphs or ShownGraphs()
    readers = (one.entries.prompt_reader for one in benchmarks())
    found = (load(reader)(body, shown) for reader in readers if reader)
    return next((task for task in found if task is not None), None)


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
        links, flowing, shared = _links(fields["links"], names, graph)
        seed, _, index = fields["seed"].rpartition("-")
        pairs = [(link.source, link.target) for link in links]
        shape = shape_of(len(names), pairs)
        sample = Sample(
            int(index),
            int(seed),
            shape,
            tuple(names),
            tuple(links),
            tuple(flowing),
            tuple(shared) if any(shared) else (),
        )
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
    # Without types only plans of schema graphs have references: temporal ones name the tool.
    kind: DependencyType = "schema" if "<node-" in fields["plan"] else "temporal"
    kind = "resource" if library.has_types else kind
    return critic.critique_of(json.loads(fields["request"]), plan, library, kind)


_Pairs = list[tuple[FieldPair, ...]]


def _links(text: str, names: Sequence[str], graph: ToolGraph) -> tuple[list[Link], _Pairs, _Pairs]:
    """The shown links, each with a type, and in a schema graph the values that flow and are shared.

    The type is the first shared one whose input slot is still free, in a schema graph that of the link.

    Raises:
        ValueError: A link is between other tools.
    """
    between = {f"Link: {one} -> {two}": (one, two) for one in names for two in names}
    links: list[Link] = []
    flowing: _Pairs = []
    shared: _Pairs = []
    fed: dict[str, list[str]] = {name: list(graph.library[name].inputs) for name in names}
    for line in text.split("\n") if text != "(none)" else []:
        if (pair := _PAIR.fullmatch(line)) and flowing:
            source = "" if pair["source"] == back_instruct.WHOLE_RESULT else pair["source"]
            flowing[-1] = (*flowing[-1], FieldPair(source, pair["target"]))
            continue
        if (pair := _SAME.fullmatch(line)) and shared:
            shared[-1] = (*shared[-1], FieldPair(pair["source"], pair["target"]))
            continue
        if line not in between:
            raise ValueError(f"not a link: {line}")
        source, target = between[line]
        types = graph.link_types(source, target)
        kind = next((kind for kind in types if kind in fed[target]), types[0] if types else "")
        if kind in fed[target]:
            fed[target].remove(kind)
        links.append(Link(source, target, kind))
        if graph.dependency_type == "schema":
            flowing.append(())
            shared.append(())
    return links, flowing, shared
