"""Answers for tests: plausible, instant, and the same for the same prompt."""

from __future__ import annotations

import hashlib
import json
import re
from typing import Any

_NODE = re.compile(r"^Node \d+: (\{.*\})$", re.MULTILINE)
_LINK = re.compile(r"^Link: (.+) -> (.+)$", re.MULTILINE)
_FILES = {"image": "example.jpg", "audio": "example.wav", "video": "example.mp4"}


def canned_answer(prompt: str) -> str:
    """A gold plan for a back-instruct prompt; for any other a plan over the tools it shows.

    >>> canned_answer("Go!")[:40]
    '{"task_steps": ["Step 1: none", "Step 2:'
    """
    if "Work backwards" in prompt:
        return json.dumps(_instruction_for(prompt), ensure_ascii=False)
    return json.dumps(_plan_for(prompt), ensure_ascii=False)


def _instruction_for(prompt: str) -> dict[str, Any]:
    """A request and its gold plan for the nodes and links of a back-instruct prompt."""
    tools = [json.loads(text) for text in _NODE.findall(prompt)]
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
            arguments = [
                {"name": item["name"], "value": literal(item["name"])} for item in tool["parameters"]
            ]
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
    """Some plan over the tools of an inference prompt, chosen by the request."""
    request = prompt.partition("# REQUEST #\n")[2].partition("\n\nNow the JSON object:")[0]
    tools = [json.loads(line)["id"] for line in prompt.splitlines() if line.startswith('{"id"')] or ["none"]
    number = int(hashlib.sha256(request.encode("utf-8", "replace")).hexdigest(), 16)
    first, second = tools[number % len(tools)], tools[number // 7 % len(tools)]
    return {
        "task_steps": [f"Step 1: {first}", f"Step 2: {second}"],
        "task_nodes": [
            {"task": first, "arguments": [request[:20]]},
            {"task": second, "arguments": ["<node-0>"]},
        ],
        "task_links": [{"source": first, "target": second}],
    }
