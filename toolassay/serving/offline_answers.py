"""`OfflineAnswers`: answers chat requests with the offline models, function calling included.

Over the network a model receives only the prompt, while the offline model needs the task. `PromptReader`
recovers it by matching the template. What a prompt does not show is taken from a known library that has the
tools of the prompt.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, get_args

from toolassay.backinstruct import prompt as back_instruct
from toolassay.benchmarks.benchmark import load
from toolassay.benchmarks.registry import benchmarks
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import unescaped_json
from toolassay.gates import critic
from toolassay.graph import DependencyType, FieldPair, Link, ToolGraph
from toolassay.models import ChatRequest, ToolCall
from toolassay.offline.model_tasks import BackInstructTask, CritiqueTask, PlanTask
from toolassay.offline.offline_model import OfflineModel
from toolassay.offline.shown_graphs import ShownGraphs, tool_of_line
from toolassay.plans.gold import Gold
from toolassay.prompts.signatures import read_shown
from toolassay.prompts.templates import Wording, fields_of, last_turn, template_name
from toolassay.records.dataset import Sample, shape_of
from toolassay.serving.completions import Received, Reply, text_of
from toolassay.tools.argument_schemas import properties_of
from toolassay.tools.library import Tool, ToolLibrary, parameters_of

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
    readers = (benchmark.entries.prompt_reader for benchmark in benchmarks())
    tasks = (load(reader)(body, shown) for reader in readers if reader)
    return next((task for task in tasks if task is not None), None)


class PromptReader:
    """Parses built-in prompts; users' own templates are not recognised.

    Args:
        known: graphs of the tools that prompts may show.
    """

    def __init__(self, known_graphs: Sequence[ToolGraph] = ()) -> None:
        self.graphs = ShownGraphs(known_graphs)

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
            line[node.end() :] if (node := _NODE.match(line)) else line
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
    gold = Gold.of({"id": "", "user_request": json.loads(fields["request"])} | json.loads(fields["plan"]))
    # Without types only plans of schema graphs have references: temporal ones name the tool.
    kind: DependencyType = "schema" if "<node-" in fields["plan"] else "temporal"
    kind = "resource" if library.has_types else kind
    return critic.critique_of(gold, library, kind)


_Pairs = list[tuple[FieldPair, ...]]


def _links(text: str, names: Sequence[str], graph: ToolGraph) -> tuple[list[Link], _Pairs, _Pairs]:
    """The shown links, each with a type, and in a schema graph the values that flow and are shared.

    The type is the first shared one whose input slot is still free, in a schema graph that of the link.

    Raises:
        ValueError: A link is between other tools.
    """
    between = {f"Link: {source} -> {target}": (source, target) for source in names for target in names}
    links: list[Link] = []
    flowing: _Pairs = []
    shared: _Pairs = []
    free_inputs: dict[str, list[str]] = {name: list(graph.library[name].inputs) for name in names}
    for line in text.split("\n") if text != "(none)" else []:
        if line.startswith(back_instruct.CONDITION):
            continue
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
        kind = next((kind for kind in types if kind in free_inputs[target]), types[0] if types else "")
        if kind in free_inputs[target]:
            free_inputs[target].remove(kind)
        links.append(Link(source, target, kind))
        if graph.dependency_type == "schema":
            flowing.append(())
            shared.append(())
    return links, flowing, shared


_KINDS = {"integer": (int,), "number": (int, float), "boolean": (bool,)}


def graph_of(tools: str) -> ToolGraph:
    """The functions in a request's `tools`, as a temporal graph.

    Args:
        tools: The `tools` as JSON text.

    Raises:
        UsageError: There is no function, or two have the same name.
        ValueError: An entry is not a function.
    """
    return ToolGraph.build(ToolLibrary([_tool(item) for item in json.loads(tools)]), "temporal")


def calls_of(plan: Mapping[str, Any], tools: Sequence[Any]) -> list[ToolCall]:
    """The tool calls of a plan, without ids; values that do not have the type of their schema are omitted."""
    functions = [item["function"] for item in tools]
    schemas = {
        function["name"]: {
            declared.name: declared.schema for declared in properties_of(function.get("parameters") or {})
        }
        for function in functions
    }
    calls = []
    for node in plan["task_nodes"]:
        typed = {
            argument["name"]: _typed(argument["value"], schemas[node["task"]].get(argument["name"], {}))
            for argument in node["arguments"]
        }
        arguments = {name: value for name, value in typed.items() if value is not None}
        calls.append(ToolCall("", node["task"], unescaped_json(arguments)))
    return calls


def _tool(item: Any) -> Tool:
    function = item.get("function") if isinstance(item, dict) else None
    if not isinstance(function, dict) or not isinstance(function.get("name"), str):
        raise ValueError("every entry of 'tools' needs a function with a name")
    schema = function.get("parameters")
    schema = schema if isinstance(schema, dict) else {"type": "object"}
    description = str(function.get("description") or "")
    return Tool(function["name"], description, parameters=parameters_of(schema), input_schema=schema)


def _typed(value: Any, schema: Mapping[str, Any]) -> Any:
    """Convert a text to the number or boolean that its schema requires; None if it is not one.

    Other values have their type already.

    >>> _typed("3", {"type": "integer"}), _typed("three", {"type": "integer"}), _typed("3", {})
    (3, None, '3')
    """
    json_types = _KINDS.get(str(schema.get("type")))
    if json_types is None or not isinstance(value, str):
        return value
    try:
        read = json.loads(value.casefold())
    except ValueError:
        return None
    return read if type(read) in json_types else None


WHAT_IT_KNOWS = (
    "This server answers by rules, not with a language model. It knows the built-in prompts of toolassay "
    "infer (for all three benchmarks) and toolassay generate, and plans calls for requests with tools; "
    "this request is neither."
)
NO_TOOL = "None of the tools fits this request."
DONE = "The calls are done."
_KEPT = 16  # graphs of functions that are cached


class OfflineAnswers:
    """Answers with the offline models: plans, agent steps, choices, Back-Instruct samples and tool calls.

    The answer to any other prompt is `WHAT_IT_KNOWS`.

    Args:
        known: Graphs whose tools prompts will show (see `PromptReader`).
    """

    def __init__(self, known_graphs: Sequence[ToolGraph] = ()) -> None:
        self._reader = PromptReader(known_graphs)
        self._model = OfflineModel()
        self._functions = lru_cache(_KEPT)(graph_of)

    async def __call__(self, received: Received) -> Reply:
        """Answer a request.

        Raises:
            UsageError: Its `tools` are malformed.
        """
        if (asked := conversation_task(received.body, self._reader.graphs)) is not None:
            response = await self._model.complete(ChatRequest([], task=asked))
            return Reply(response.text, response.tool_calls)
        tools = received.body.get("tools")
        if tools and received.body.get("tool_choice") != "none":
            return await self._call_tools(received, tools)
        task = self._reader.task(received.prompt)
        if task is None:
            return Reply(WHAT_IT_KNOWS)
        response = await self._model.complete(ChatRequest([], task=task))
        return Reply(response.text)

    async def _call_tools(self, received: Received, tools: object) -> Reply:
        """Make all calls in one turn; after their results, end the conversation."""
        messages = received.body["messages"]
        if messages[-1].get("role") == "tool":
            return Reply(DONE)
        try:
            graph = self._functions(json.dumps(tools))
        except (ValueError, TypeError) as error:
            raise UsageError(f"'tools' cannot be parsed: {error}") from error
        asked = [text_of(message) for message in messages if message.get("role") == "user"]
        task = PlanTask(asked[-1] if asked else received.prompt, graph)
        response = await self._model.complete(ChatRequest([], task=task))
        calls = calls_of(json.loads(response.text), json.loads(json.dumps(tools)))
        return Reply(tool_calls=calls) if calls else Reply(NO_TOOL)
