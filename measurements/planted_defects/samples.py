"""Data folders as the examiner reads them: tools, samples in one form, and the form they came in."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolassay.records.dataset import repository_form

Record = dict[str, Any]

HUB_NAMES = {
    "user_request": "instruction",
    "task_steps": "tool_steps",
    "task_nodes": "tool_nodes",
    "task_links": "tool_links",
}
COPIED = ("tool_desc.json", "graph_desc.json", "benchmark.json")


@dataclass(frozen=True)
class Parameter:
    """A parameter of a temporal tool."""

    name: str
    type: str
    required: bool
    values: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Tool:
    """What the tool file says of one tool."""

    name: str
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    parameters: tuple[Parameter, ...] = ()

    def parameter(self, name: Any) -> Parameter | None:
        """The parameter of that name."""
        return next((parameter for parameter in self.parameters if parameter.name == name), None)


@dataclass(frozen=True)
class DataSet:
    """A folder: its tools and its samples, these in the repository's form.

    Attributes:
        name: the folder's.
        folder: where it is.
        tools: by name.
        temporal: whether arguments have names, and links are an order.
        records: the labels.
        hub: the ids of the labels that came in the hub form, and which of their keys were JSON in a text.
    """

    name: str
    folder: Path
    tools: Mapping[str, Tool]
    temporal: bool
    records: tuple[Record, ...]
    hub: Mapping[Any, frozenset[str]] = field(default_factory=dict)

    def write(self, folder: Path, records: Iterable[Record]) -> None:
        """Make a data folder of other records: each in the form that its original had."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in COPIED:
            source = self.folder / name
            if source.exists():
                (folder / name).write_bytes(source.read_bytes())
        records = list(records)
        requests = [{"id": record["id"], "user_request": record["user_request"]} for record in records]
        write_lines(folder / "data.json", (self.written(record) for record in records))
        write_lines(folder / "user_requests.json", requests)

    def written(self, record: Record) -> Record:
        """A record in the form it came in; `copy_of` says which original a copy has."""
        record = dict(record)
        texts = self.hub.get(record.pop("copy_of", record["id"]))
        if texts is None:
            return record
        return {
            HUB_NAMES.get(key, key): json.dumps(value, ensure_ascii=False) if key in texts else value
            for key, value in record.items()
        }


def write_lines(path: Path, values: Iterable[Mapping[str, Any]]) -> None:
    """Write one JSON object a line."""
    path.write_text("".join(json.dumps(value, ensure_ascii=False) + "\n" for value in values), "utf-8")


def read_lines(path: Path) -> list[Record]:
    """The objects of a file with one JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def read_data_set(folder: Path) -> DataSet:
    """Read a data folder."""
    tools = [_tool(node) for node in json.loads((folder / "tool_desc.json").read_text("utf-8"))["nodes"]]
    raw = read_lines(folder / "data.json")
    hub = {
        line["id"]: frozenset(
            name for name, theirs in _names() if isinstance(line.get(theirs), str) and name != "user_request"
        )
        for line in raw
        if "instruction" in line
    }
    temporal = not any(tool.inputs or tool.outputs for tool in tools)
    if (folder / "benchmark.json").exists():
        kind = json.loads((folder / "benchmark.json").read_text("utf-8")).get("dependency_type")
        temporal = temporal if kind is None else kind == "temporal"
    records = tuple(repository_form(line) for line in raw)
    return DataSet(folder.resolve().name, folder, {tool.name: tool for tool in tools}, temporal, records, hub)


def _names() -> Iterable[tuple[str, str]]:
    return (*HUB_NAMES.items(), ("sampled_nodes", "sampled_nodes"), ("sampled_links", "sampled_links"))


def _tool(node: Mapping[str, Any]) -> Tool:
    def types(key: str) -> tuple[str, ...]:
        value = node.get(key) or ()
        return tuple(word.strip().lower() for word in ([value] if isinstance(value, str) else value))

    needed = node.get("required")
    parameters = []
    for item in node.get("parameters") or ():
        if needed is not None:
            required = item["name"] in needed
        else:
            required = item.get("required", not item.get("optional", False)) and "default" not in item
        parameters.append(
            Parameter(item["name"], str(item.get("type", "string")), required, tuple(item.get("enum", ())))
        )
    return Tool(node["id"], types("input-type"), types("output-type"), tuple(parameters))
