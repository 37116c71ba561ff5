"""Test data for every benchmark: tools, plans, labels, predictions, data folders and servers.

The fixtures `folder` and `server` (conftest.py) build what a test module assigns to `build_folder` and
`server_answer`.
"""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

from toolassay import build_graph
from toolassay.benchmarks.classic.data import ChatTurn, Question, Workflow
from toolassay.files.data_files import read_json, write_json, write_json_lines
from toolassay.serving.chat_server import AnswerFunction
from toolassay.testkit import FakeServer

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
"""What was recorded, and tool files that many tests share."""

TOOLS = [
    ("Text Translator", ["text"], ["text"]),
    ("Summariser", ["text"], ["text"]),
    ("Painter", ["text"], ["image"]),
    ("Captioner", ["image"], ["text"]),
    ("Image Editor", ["image", "text"], ["image"]),
    ("Narrator", ["text"], ["audio"]),
    ("Transcriber", ["audio"], ["text"]),
    ("Film Maker", ["image", "audio"], ["video"]),
]
API_TOOLS = [("book_hotel", ["city", "date"]), ("rent_power_tool", ["name"]), ("send_mail", ["to", "text"])]

WORKFLOWS = (
    ("w-return", "Return Goods", "Books a return and sends the label.", "shop"),
    ("w-track", "Track Parcel", "Says where a parcel is.", "shop"),
    ("w-desk", "Book a Desk", "Keeps a desk in the office for a day.", "office"),
)
MESSAGES = (
    (
        "c1",
        "my shoes are too small, I want to return them",
        "Shall I book a return?",
        "w-return",
        "",
        0,
        "shop",
    ),
    ("c1", "yes", "", "w-return", "", 1, "shop"),
    ("c1", "and where is my parcel?", "On its way.", "w-track", "", 2, "shop"),
    ("c2", "I need a desk on Friday", "Done.", "w-desk", "", 0, "office"),
    ("c3", "good morning", "Hello!", "", "", 0, "office"),
)
CHAT_TABLES = {
    "workflows.csv": (("workflow_uuid", "name", "description", "domain_uuid"), WORKFLOWS),
    "messages.csv": (
        (
            *("conversation_uuid", "request_content", "response_content", "true_workflow_uuid"),
            *("true_workflow_uuid_2", "request_idx", "domain_uuid"),
        ),
        MESSAGES,
    ),
    "domains.csv": (("domain_uuid", "domain_name"), (("shop", "Shop"), ("office", "Office"))),
}

NOTE_FUNCTIONS = '''
"""Notes in files of the current folder."""
from pathlib import Path

def list_notes() -> list[str]:
    """List the names of all notes."""
    return sorted(path.stem for path in Path(".").glob("*.txt"))

def read_note(name: str) -> str:
    """Read a note."""
    return Path(f"{name}.txt").read_text()

def write_note(name: str, text: str) -> str:
    """Write a note."""
    Path(f"{name}.txt").write_text(text)
    return f"wrote {name}"
'''
"""A program of three functions on notes, which are files."""

# TaskBench


def typed_tool(
    name: str, takes: Sequence[str] = ("text",), gives: Sequence[str] = ("text",)
) -> dict[str, Any]:
    """An entry of `tool_desc.json` with resource types."""
    return {"id": name, "desc": f"{name}.", "input-type": list(takes), "output-type": list(gives)}


def text_tools(names: Iterable[str]) -> dict[str, Any]:
    """The content of a `tool_desc.json` whose tools all take and give text."""
    return {"nodes": [typed_tool(name) for name in names]}


def tool_desc(path: Path, *, kind: str = "resource") -> Path:
    """Write `TOOLS` (or `API_TOOLS` for temporal links) to a `tool_desc.json`; returns its path."""
    if kind == "resource":
        nodes = [typed_tool(*tool) for tool in TOOLS]
    else:
        nodes = [
            {
                "id": name,
                "desc": f"{name}.",
                "parameters": [{"name": p, "type": "string", "desc": p} for p in given],
            }
            for name, given in API_TOOLS
        ]
    write_json(path, {"nodes": nodes})
    return path


def data_folder(path: Path, requests: int = 5, *, kind: str = "resource") -> Path:
    """A TaskBench folder with tools, their graph and requests, without labels."""
    tool_desc(path / "tool_desc.json", kind=kind)
    build_graph(path, dependency_type=kind)
    write_json_lines(
        path / "user_requests.json",
        [
            {"id": str(1000 + n), "user_request": f"Request {n}: paint a café, then add $5."}
            for n in range(requests)
        ],
    )
    return path


def labelled_folder(path: Path, labels: Sequence[Mapping[str, Any]]) -> Path:
    """A TaskBench folder with the tools of `tool_desc`, their graph, these labels and their requests."""
    tool_desc(path / "tool_desc.json")
    build_graph(path, dependency_type="resource")
    write_labels(path, labels)
    return path


def write_labels(path: Path, labels: Sequence[Mapping[str, Any]]) -> None:
    """Write `data.json` and the `user_requests.json` of these labels."""
    write_json_lines(path / "data.json", labels)
    requests = [{"id": label["id"], "user_request": label["user_request"]} for label in labels]
    write_json_lines(path / "user_requests.json", requests)


def named(**values: Any) -> list[dict[str, Any]]:
    """Arguments by name."""
    return [{"name": name, "value": value} for name, value in values.items()]


def node(tool: str, /, **arguments: Any) -> dict[str, Any]:
    """A call of a plan, with arguments by name."""
    return {"task": tool, "arguments": named(**arguments)}


def call_of(call: tuple[str, list[Any] | None]) -> dict[str, Any]:
    """A call of a plan, from its tool and its arguments; None says nothing of arguments."""
    tool, arguments = call
    return {"task": tool} if arguments is None else {"task": tool, "arguments": arguments}


def links_of(pairs: Iterable[tuple[str, str]]) -> list[dict[str, str]]:
    """The links of a plan, from pairs of tools."""
    return [{"source": source, "target": target} for source, target in pairs]


def plan_of(*nodes: Mapping[str, Any], links: Iterable[tuple[str, str]] = ()) -> dict[str, Any]:
    """A plan of these calls, with one step for each."""
    return {
        "task_steps": [f"Use {call['task']}" for call in nodes],
        "task_nodes": list(nodes),
        "task_links": links_of(links),
    }


def plan(*tools: str, arguments: Sequence[Any] = ("text",)) -> dict[str, Any]:
    """A plan that calls each tool with the same arguments, without links."""
    return plan_of(*({"task": tool, "arguments": list(arguments)} for tool in tools))


def chain(*tools: str) -> dict[str, Any]:
    """A plan in which each tool takes the output of the one before it."""
    nodes = [
        {"task": tool, "arguments": [f"<node-{place - 1}>" if place else "text"]}
        for place, tool in enumerate(tools)
    ]
    return plan_of(*nodes, links=pairwise(tools))


def label_of(
    key: str | int, *nodes: Mapping[str, Any], links: Iterable[tuple[str, str]] = (), **more: Any
) -> dict[str, Any]:
    """A label of these calls; `more` are further keys, or others instead."""
    return {"id": key, "user_request": f"Do {key}.", **plan_of(*nodes, links=links), **more}


def write_predictions(folder: Path, llm: str, answers: Mapping[str, Any], *, request: str = "r") -> None:
    """Write a model's predictions; `answers` holds a plan (or None) for each id."""
    lines = [{"id": key, "user_request": request, "result": answer} for key, answer in answers.items()]
    write_json_lines(folder / "predictions" / f"{llm}.json", lines)


def scored_folder(
    path: Path,
    gold: Mapping[str, Mapping[str, Any]],
    predictions: Mapping[str, Mapping[str, Any]],
    *,
    tools: Iterable[str] = "abc",
    request: str = "r",
    **more: Any,
) -> Path:
    """A TaskBench folder to evaluate.

    Args:
        path: where it is written.
        gold: the gold plan of each id.
        predictions: for each model a plan (or None) for each id.
        tools: names of the tools; all take and give text.
        request: the text of every request.
        more: further keys of every label, such as `type="single"`.
    """
    write_json(path / "tool_desc.json", text_tools(tools))
    write_labels(
        path, [{"id": key, "user_request": request, **more, **answer} for key, answer in gold.items()]
    )
    for llm, answers in predictions.items():
        write_predictions(path, llm, answers, request=request)
    return path


def bundled_plans(path: Path, name: str, count: int) -> Path:
    """A copy of the bundled TaskBench folder `name` with its first `count` labels and requests."""
    path.mkdir(parents=True, exist_ok=True)
    for file in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        shutil.copy(ROOT / name / file, path / file)
    for file in ("data.json", "user_requests.json"):
        lines = (ROOT / name / file).read_text(encoding="utf-8").splitlines(keepends=True)
        (path / file).write_text("".join(lines[:count]), encoding="utf-8")
    return path


# Imported tools


def imported_tool(
    name: str,
    description: str,
    properties: Mapping[str, Any],
    required: Sequence[str] = (),
    *,
    output: Mapping[str, Any] | None = None,
    annotations: Mapping[str, Any] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """An entry of `tool_desc.json` as an import writes it; `more` are further keywords of its schema."""
    schema = {"type": "object", "properties": dict(properties), **more}
    tool: dict[str, Any] = {"id": name, "desc": description, "input_schema": schema}
    if required:
        schema["required"] = list(required)
    if output is not None:
        tool["output_schema"] = dict(output)
    if annotations is not None:
        tool["annotations"] = dict(annotations)
    tool |= {"tags": ["workshop"], "source": {"kind": "mcp", "name": name, "server": "workshop"}}
    return tool


def deep_tool(name: str, levels: int) -> dict[str, Any]:
    """An imported tool with `levels` objects within each other, each with required properties."""
    inner: dict[str, Any] = {"type": "string", "description": "The last label."}
    for level in reversed(range(levels)):
        properties = {f"name_{level}": {"type": "string"}, f"level_{level}": inner}
        inner = {"type": "object", "properties": properties, "required": list(properties)}
    return {**imported_tool(name, "Digs a hole.", {}), "input_schema": inner}


def workshop_tools() -> dict[str, Any]:
    """The `tool_desc.json` of an imported server of a shared workshop: nested objects, enums, lists."""
    tools: dict[str, Any] = read_json(DATA / "workshop_tools.json")
    return tools


def difficult_tools() -> dict[str, Any]:
    """A `tool_desc.json` with one imported tool for each difficulty of schemas."""
    tools: dict[str, Any] = read_json(DATA / "difficult_tools.json")
    return tools


def imported_folder(path: Path, tools: Mapping[str, Any] | None = None) -> Path:
    """A TaskBench folder with imported tools (default: `workshop_tools`) and their temporal graph."""
    write_json(path / "tool_desc.json", workshop_tools() if tools is None else tools)
    build_graph(path, dependency_type="temporal")
    return path


_ROOM = {"type": "object", "properties": {"room_id": {"type": "string"}}, "required": ["room_id"]}
AGENT_KIT = """
import json, os, sys, time, urllib.request

def post(url, body):
    head = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    request = urllib.request.Request(url, json.dumps(body).encode(), head)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)

def call(name, **arguments):
    params = {"name": name, "arguments": arguments}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
    return post(os.environ["TOOLASSAY_MCP_URL"], body)["result"]

def ask(text):
    messages = [{"role": "user", "content": text}]
    body = {"model": "acme", "messages": messages}
    return post(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)["choices"][0]["message"]["content"]

given = json.loads(sys.stdin.readline())
name = given["id"]
"""
"""How an agent begins that is a script without packages: `call`, `ask`, its request and the id of it."""
RECORDER_TOOLS = [
    imported_tool("look", "Looks.", {"key": {"type": "string"}}, ["key"]),
    *(
        imported_tool(
            name, "Writes.", {"key": {"type": "string"}, "value": {"type": "string"}}, ["key", "value"]
        )
        for name in ("put", "add")
    ),
]
"""Those of `mcp_servers/recorder.py`: one that reads, one that is idempotent, one that is not."""
ROOM_TOOLS = [
    imported_tool("create_room", "Creates a room.", {"title": {"type": "string"}}, ["title"], output=_ROOM),
    imported_tool("get_room", "Returns a room.", {"room_id": {"type": "string"}}, ["room_id"], output=_ROOM),
]


def agents_folder(
    path: Path,
    tools: Sequence[Mapping[str, Any]],
    requests: Mapping[str, str],
    *nodes: tuple[str, Mapping[str, Any]],
) -> Path:
    """A folder of a schema graph with the text of each request, each with the chain `nodes` as its plan."""
    imported_folder(path, {"nodes": tools})
    build_graph(path, dependency_type="schema")
    lines = [{"id": key, "user_request": text} for key, text in requests.items()]
    write_json_lines(path / "user_requests.json", lines)
    if nodes:
        calls = [node(tool, **arguments) for tool, arguments in nodes]
        gold = plan_of(*calls, links=pairwise(tool for tool, _ in nodes))
        write_labels(path, [{**line, "type": "chain", **gold} for line in lines])
    return path


# WorkBench


def workbench_folder(path: Path, keep: slice | Callable[[dict[str, Any]], bool] = slice(None)) -> Path:
    """A copy of the bundled workplace with all its tasks, a slice of them, or those that `keep` accepts."""
    path.mkdir(parents=True, exist_ok=True)
    for file in ("benchmark.json", "sandbox.sqlite"):
        shutil.copy(ROOT / "data_workbench" / file, path / file)
    lines = (ROOT / "data_workbench/tasks.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    kept = lines[keep] if isinstance(keep, slice) else [line for line in lines if keep(json.loads(line))]
    (path / "tasks.jsonl").write_text("".join(kept), encoding="utf-8")
    return path


# CLASSic


def chat_folder(path: Path) -> Path:
    """A CLASSic folder of three chats and three workflows, in the published tables."""
    path.mkdir(parents=True, exist_ok=True)
    for name, (head, rows) in CHAT_TABLES.items():
        with (path / name).open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows([head, *rows])
    return path


def question(*turns: str, names: Sequence[str] = ("Return Goods", "Track Parcel")) -> Question:
    """A question over these turns; a turn that begins with "bot: " is the bot's."""
    said = tuple(
        ChatTurn("bot", text.removeprefix("bot: ")) if text.startswith("bot: ") else ChatTurn("user", text)
        for text in turns
    )
    candidates = tuple(
        Workflow(f"w{number}", name, f"About {name}.", "d") for number, name in enumerate(names)
    )
    return Question("c--0", "d", said, candidates)


# Servers


@contextmanager
def running_server(answer: AnswerFunction | None = None) -> Iterator[FakeServer]:
    """A chat-completions server that answers with `answer` (default: canned plans) while the block runs."""
    server = FakeServer(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()
