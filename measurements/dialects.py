"""What a server does with each API (Chat Completions, Responses, Messages): a table of compliance.

    python -m measurements.dialects BASE_URL MODEL

BASE_URL ends in `/v1`. Prints a Markdown table: a check mark, or what came instead.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

from toolassay.models import ChatRequest, ChatResponse, ModelError, ModelOptions, create_model
from toolassay.models.options import PATHS, Api
from toolassay.models.structured_output import json_schema

MARK = "✓"
TOOL = {
    "name": "weather",
    "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
}
TOOLS = {"tools": [{"type": "function", "function": TOOL}]}
CALLS = [
    {"id": name, "type": "function", "function": {"name": "weather", "arguments": f'{{"city": "{city}"}}'}}
    for name, city in (("call_1", "Rome"), ("call_2", "Oslo"))
]
ASKED = {"role": "user", "content": "Use the tool: what is the weather in Rome?"}
BOTH = {"role": "user", "content": "Use the tool twice: what is the weather in Rome, and what in Oslo?"}
DIALOGUE: list[dict[str, Any]] = [
    {"role": "system", "content": "Answer in one word."},
    {"role": "user", "content": "The capital of France?"},
    {"role": "assistant", "content": "Paris"},
    {"role": "user", "content": "And of Italy?"},
]
RESULT: list[dict[str, Any]] = [
    BOTH,
    {"role": "assistant", "content": None, "tool_calls": CALLS},
    {"role": "tool", "tool_call_id": "call_1", "content": '{"degrees": 31, "sky": "sunny"}'},
    {"role": "tool", "tool_call_id": "call_2", "content": '{"degrees": -4, "sky": "cloudy"}'},
]
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string", "enum": ["Rome", "Oslo"]}},
    "required": ["city"],
    "additionalProperties": False,
}


def _text(answer: ChatResponse) -> bool:
    return bool(answer.text.strip())


def _counted(answer: ChatResponse) -> bool:
    return None not in (answer.prompt_tokens, answer.completion_tokens)


def _cities(answer: ChatResponse) -> list[str]:
    given = (json.loads(call.arguments) for call in answer.tool_calls if call.name == "weather")
    return [one["city"] for one in given if isinstance(one, dict) and "city" in one]


def _called(answer: ChatResponse) -> bool:
    return bool(_cities(answer))


def _called_twice(answer: ChatResponse) -> bool:
    return len(set(_cities(answer))) > 1


def _fits(answer: ChatResponse) -> bool:
    return json.loads(answer.text).get("city") in ("Rome", "Oslo")


Check = tuple[str, list[dict[str, Any]], Mapping[str, Any], Callable[[ChatResponse], bool]]
CHECKS: list[Check] = [
    ("conversation", DIALOGUE, {}, _text),
    ("token counts", DIALOGUE, {}, _counted),
    (
        "cut off at max_tokens",
        [{"role": "user", "content": "Count to 90."}],
        {"max_tokens": 5},
        lambda a: a.is_cut_off,
    ),
    ("tool call", [ASKED], {**TOOLS, "tool_choice": "required"}, _called),
    ("tool call, not forced", [ASKED], TOOLS, _called),
    ("two calls at once", [BOTH], TOOLS, _called_twice),
    ("results of two calls", RESULT, TOOLS, _text),
    ("schema", DIALOGUE, json_schema("answer", SCHEMA), _fits),
]
TOO_LONG = [{"role": "user", "content": "tomatoes are red and " * 40_000}]


async def outcome(model: str, options: ModelOptions, check: Check) -> str:
    """A mark, or what came instead."""
    _, messages, parameters, holds = check
    client = create_model(model, options)
    try:
        answer = await client.complete(
            ChatRequest(messages, {"max_tokens": 200, "temperature": 0, **parameters})
        )
        if options.stream and answer.first_token_seconds is None:
            return "no time of the first token"
        if holds in (_called, _called_twice) and not answer.tool_calls and "weather" in answer.text:
            return "as text"
        return MARK if holds(answer) else f"no ({answer.finish_reason})"
    except ValueError:
        return "not JSON"
    except ModelError as error:
        return error.kind if error.outcome == "provider error" else error.outcome
    finally:
        await client.close()


async def table(base: str, model: str) -> list[list[str]]:
    """The rows: name of the check, and the outcome in each API, whole and streamed."""
    rows = []
    for check in CHECKS:
        row = [check[0]]
        for api in PATHS:
            found = [
                await outcome(model, ModelOptions(api_base=base, api=api, stream=stream, max_tries=1), check)
                for stream in (False, True)
            ]
            row.append(found[0] if found[0] == found[1] else f"{found[0]}; streamed: {found[1]}")
        rows.append(row)
    for name, messages, more in (("too long", TOO_LONG, {}), ("bad value", DIALOGUE, {"temperature": "hot"})):
        row = [f"error: {name}"]
        for api in PATHS:
            options = ModelOptions(api_base=base, api=api, max_tries=1, extra_body=more)
            row.append(await outcome(model, options, (name, messages, {}, _text)))
        rows.append(row)
    return rows


def main(base: str, model: str) -> None:
    """Print the table."""
    apis: list[Api] = list(PATHS)
    for row in (["", *apis], ["---"] * 4, *asyncio.run(table(base, model))):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main(*sys.argv[1:])
