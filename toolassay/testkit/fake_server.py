"""`FakeServer`: the server of `toolassay serve` in a thread, with canned answers and a record of requests."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
import threading
from typing import Any

from toolassay.gates.rubric import CRITERIA
from toolassay.prompts.signatures import read_shown
from toolassay.serving.chat_server import AnswerFunction, ChatServer
from toolassay.serving.completions import Received, Reply
from toolassay.serving.faults import WHOLE

# A line with a tool of a Back-Instruct prompt: matches 'Node 1: {"id": "a"}', not "Node 1: …".
_NODE = re.compile(r"^Node \d+: (\{.*\})$", re.MULTILINE)
# A line with a link of a Back-Instruct prompt: matches "Link: a -> b", not "A link: a -> b".
_LINK = re.compile(r"^Link: (.+) -> (.+)$", re.MULTILINE)
_FILES = {"image": "example.jpg", "audio": "example.wav", "video": "example.mp4"}


def canned_answer(prompt: str) -> str:
    """A sample with gold plan for a Back-Instruct prompt, a review for a critic, else a plan over its tools.

    >>> canned_answer("Go!")[:40]
    '{"task_steps": ["Step 1: none", "Step 2:'
    """
    if "Work backwards" in prompt:
        return json.dumps(_instruction_for(prompt), ensure_ascii=False)
    if "# YOUR JUDGEMENT #" in prompt:
        return json.dumps({key: {"why": "All is well.", "yes": True} for key in CRITERIA})
    return json.dumps(_plan_for(prompt), ensure_ascii=False)


def _instruction_for(prompt: str) -> dict[str, Any]:
    """A request and its gold plan for the nodes and links of a Back-Instruct prompt."""
    tools = [read_shown(json.loads(text)) for text in _NODE.findall(prompt)]
    links = [{"source": source, "target": target} for source, target in _LINK.findall(prompt)]
    literals: list[str] = []

    def literal(kind: str) -> str:
        literals.append(_FILES.get(kind, f"{kind} number {len(literals) + 1}"))
        return literals[-1]

    nodes: list[dict[str, Any]] = []
    for tool in tools:
        if "input-type" in tool:
            fed = [link["source"] for link in links if link["target"] == tool["id"]]
            free = tool["input-type"][len(fed) :]
            nodes.append({"id": tool["id"], "input": [*fed, *map(literal, free)]})
        else:
            names = tool.get("input_schema", {}).get("properties") or [
                item["name"] for item in tool.get("parameters", ())
            ]
            arguments = [{"name": name, "value": literal(name)} for name in names]
            nodes.append({"id": tool["id"], "arguments": arguments})
    instruction: dict[str, Any] = {
        "task_steps": [f"Step {n}: use {tool['id']}" for n, tool in enumerate(tools, start=1)],
        "user_request": f"Please work on {', '.join(literals) or 'nothing'} with {len(tools)} tools – grüße.",
        "invoking_graph": {"nodes": nodes, "links": links},
    }
    if "check_by_teacher" in prompt:
        instruction["check_by_teacher"] = "All is well.\nExecutable: yes\nCorrect: yes"
    return instruction


def _plan_for(prompt: str) -> dict[str, Any]:
    """A plan of two tools of an inference prompt, chosen by a hash of the request."""
    request = prompt.partition("# REQUEST #\n")[2].partition("\n\nNow the JSON object:")[0]
    tools = [json.loads(line)["id"] for line in prompt.splitlines() if line.startswith('{"id"')] or ["none"]
    number = int(hashlib.sha256(request.encode("utf-8", "replace")).hexdigest(), 16)
    first = tools[number % len(tools)]
    second = tools[number // 7 % len(tools)]
    return {
        "task_steps": [f"Step 1: {first}", f"Step 2: {second}"],
        "task_nodes": [
            {"task": first, "arguments": [request[:20]]},
            {"task": second, "arguments": ["<node-0>"]},
        ],
        "task_links": [{"source": first, "target": second}],
    }


class FakeServer(ChatServer):
    """A chat-completions server for tests, on a free port of 127.0.0.1.

    `behaviour`, `delay`, `capacity` and the other attributes of `ChatServer` may be set while it runs. Each
    character counts as a token.

    Args:
        answer: Answers a request [default: `canned_answer`].
        prefix: Path before `/v1`.

    Attributes:
        received: All requests, in order of arrival.
        kinds: The behaviour of each.

    >>> server = FakeServer()
    >>> server.start()
    >>> server.fail_first("429", "reset")
    >>> server.base.startswith("http://127.0.0.1:")
    True
    >>> server.stop()
    """

    def __init__(self, answer: AnswerFunction | None = None, *, prefix: str = "") -> None:
        super().__init__(answer or _canned, prefix=prefix)
        self.characters_per_token = 1  # so that tests can compute token counts
        self.received: list[Received] = []
        self.kinds: list[str] = []
        self._arrived = threading.Condition()
        self.batches.stepped = self._notify
        self._loop = asyncio.new_event_loop()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def prompts(self) -> list[str]:
        """The prompts of all requests, in order of arrival."""
        return [request.prompt for request in self.received]

    def fail_first(self, *faults: str) -> None:
        """Respond to the first requests with these faults, and answer the rest."""
        self.behaviour = lambda prompt, number: faults[number] if number < len(faults) else WHOLE

    def forget(self) -> None:
        """Clear the record and the counts."""
        self.received.clear()
        self.kinds.clear()
        self.count = self.faulty = 0
        self.whole_tokens = (0, 0)

    def wait_for(self, count: int, *, seconds: float = 60) -> None:
        """Wait until `count` requests have arrived, up to `seconds`."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: len(self.received) >= count, seconds), self.received

    def wait_for_step(self, step: str, count: int = 1, *, seconds: float = 60) -> None:
        """Wait until a step of the Batch API was requested `count` times (`BatchService.steps`)."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.batches.steps.get(step, 0) >= count, seconds), step

    def wait_until_held(self, count: int = 1, *, seconds: float = 60) -> None:
        """Wait until `count` calls of the Batch API were held by a fault."""
        with self._arrived:
            assert self._arrived.wait_for(lambda: self.batches.held >= count, seconds), self.batches.steps

    def pause_batches(self) -> None:
        """Leave batches "in_progress" before their next request, until `release`."""
        self._loop.call_soon_threadsafe(self.batches.working.clear)

    def release(self) -> None:
        """Answer the requests on "hold", and go on with batches."""
        for event in (self.released, self.batches.released, self.batches.working):
            self._loop.call_soon_threadsafe(event.set)

    def start(self) -> None:
        """Start the server on a free port."""
        self._thread.start()
        assert self._ready.wait(30)

    def go_away(self) -> None:
        """Break all connections and refuse new ones until `come_back`."""
        asyncio.run_coroutine_threadsafe(self.refuse(), self._loop).result(30)

    def come_back(self) -> None:
        """Accept connections again, on the same port."""
        asyncio.run_coroutine_threadsafe(self.listen(), self._loop).result(30)

    def stop(self) -> None:
        """Stop the server and its thread."""
        if not self._thread.is_alive():
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(30)

    def seen(self, received: Received, kind: str) -> None:
        """Record a request."""
        with self._arrived:
            self.received.append(received)
            self.kinds.append(kind)
            self._arrived.notify_all()

    def _notify(self) -> None:
        with self._arrived:
            self._arrived.notify_all()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_until_complete(self.open())
        self._ready.set()
        self._loop.run_forever()
        self._loop.run_until_complete(self.close())
        self._loop.close()


async def _canned(received: Received) -> Reply:
    return Reply(canned_answer(received.prompt))
