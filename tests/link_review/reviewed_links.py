"""A library with doubtful links, and critics that answer for the prompts of a link review."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any

from builders import imported_tool

from toolassay.graph.dependencies import Dependency
from toolassay.graph.links import FieldPair
from toolassay.serving.chat_server import AnswerFunction
from toolassay.serving.completions import Received, Reply
from toolassay.tools import ToolLibrary

Judge = Callable[[dict[str, Any]], Any]


def library(pairs: int = 1, *, description: str = "Finds parts by their name.") -> ToolLibrary:
    """Tools find_0, show_0, find_1, …: each `show` takes an id that its `find` returns."""
    nodes = []
    for number in range(pairs):
        part = {"type": "object", "properties": {"id": {"type": "string", "description": f"Id {number}."}}}
        found = {"type": "object", "properties": {"parts": {"type": "array", "items": part}}}
        argument = {"part_id": {"type": "string", "description": "Which part to show."}}
        nodes.append(imported_tool(f"find_{number}", description, {"name": {"type": "string"}}, output=found))
        nodes.append(imported_tool(f"show_{number}", "Shows a part.", argument, ["part_id"]))
    return ToolLibrary.from_json({"nodes": nodes})


def link(number: int = 0, score: float = 0.5, **more: Any) -> Dependency:
    """The link from find_N to show_N."""
    values = {
        "type": "part_id",
        "fields": (FieldPair("parts[].id", "part_id"),),
        "reasons": ("both have the word part",),
        **more,
    }
    return Dependency(f"find_{number}", f"show_{number}", score=score, **values)


def links(count: int) -> list[Dependency]:
    """The links of `library(count)`, all in the band; the first ones are the most doubtful."""
    return [link(number, 0.5 + number / 1000) for number in range(count)]


def shown_links(prompt: str) -> list[dict[str, Any]]:
    """The links that a prompt shows."""
    section = prompt.partition("# LINKS #\n")[2].partition("\n\n# YOUR VERDICTS #")[0]
    return [json.loads(line) for line in section.split("\n")]


def asked(prompts: Iterable[str]) -> list[str]:
    """The targets of the links in several prompts, in order."""
    return [one["to"] for prompt in prompts for one in shown_links(prompt)]


def is_even(shown: dict[str, Any]) -> dict[str, Any]:
    """The verdict of a critic that finds links of even numbers sensible."""
    number = int(shown["to"].rpartition("_")[2])
    return {"link": shown["link"], "reason": f"about {number}", "sensible": number % 2 == 0}


def critic(judge: Judge = is_even) -> AnswerFunction:
    """A critic whose verdict on each shown link is that of `judge`; None gives no verdict."""

    async def answer(received: Received) -> Reply:
        verdicts = [judge(one) for one in shown_links(received.prompt)]
        return Reply(json.dumps({"verdicts": [one for one in verdicts if one is not None]}))

    return answer
