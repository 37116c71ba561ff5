"""Measures what each real server does with structured output, tools, streams, reasoning and errors.

    PYTHONPATH=tests python -m real_servers.features FOLDER [NAME ...]

FOLDER holds the servers that `install.py` installed. Prints a table of docs/measurements-models.md. The
probes are plain HTTP: they show what a server does, not what our client makes of it.
"""

from __future__ import annotations

import http.client
import json
import sys
import tempfile
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from real_servers import (
    fastchat_server,
    litellm_proxy,
    llama_cpp_server,
    smollm2_server,
    transformers_serve,
    vllm_server,
)
from real_servers.serving import Recipe, Server

RECIPES = {
    module.RECIPE.name: module.RECIPE
    for module in (
        llama_cpp_server,
        smollm2_server,
        vllm_server,
        transformers_serve,
        fastchat_server,
        litellm_proxy,
    )
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"colour": {"enum": ["red", "green"]}},
    "required": ["colour"],
    "additionalProperties": False,
}
FORMS = {
    "json_schema": {
        "type": "json_schema",
        "json_schema": {"name": "colour", "strict": True, "schema": SCHEMA},
    },
    "json_object with schema": {"type": "json_object", "schema": SCHEMA},
}
TOOL = {
    "type": "function",
    "function": {
        "name": "paint",
        "description": "Paints a wall in a colour. " * 40,
        "parameters": SCHEMA,
    },
}
THOUGHT = "<think>red or green</think>green"
_REASONING = ("reasoning_content", "reasoning")


class Api:
    """Chat completions of one server, one at a time."""

    def __init__(self, server: Server) -> None:
        self._base, self._recipe = server.base, server.recipe

    def post(self, **body: Any) -> tuple[int, str]:
        """The status and the text of an answer."""
        message = {"role": "user", "content": "Which colour? Answer as JSON."}
        content = {"model": self._recipe.model, "messages": [message], "max_tokens": 40, "temperature": 0}
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self._recipe.key}"}
        request = urllib.request.Request(
            f"{self._base}/chat/completions", json.dumps({**content, **body}).encode(), headers
        )
        try:
            with urllib.request.urlopen(request, timeout=120) as answer:
                return answer.status, answer.read().decode(errors="replace")
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode(errors="replace")
        except (OSError, http.client.HTTPException) as error:
            return 0, f"the connection broke: {error}"

    def message(self, **body: Any) -> tuple[int, dict[str, Any], dict[str, Any]]:
        """The status, the message and the usage; the latter two empty without an answer."""
        status, text = self.post(**body)
        if status != 200:
            return status, {}, {}
        answer = json.loads(text)
        return status, answer["choices"][0]["message"], answer.get("usage") or {}


def structured(api: Api) -> str:
    """Which form of a schema is kept to."""
    return "; ".join(f"{name}: {_kept(api, form)}" for name, form in FORMS.items())


def _kept(api: Api, form: dict[str, Any]) -> str:
    status, message, _ = api.message(response_format=form)
    if status != 200:
        return f"HTTP {status}"
    try:
        fits = json.loads(message.get("content") or "")["colour"] in ("red", "green")
    except (ValueError, KeyError, TypeError):
        fits = False
    return "kept to" if fits else "ignored"


def tools(api: Api) -> str:
    """Whether tools reach the prompt, and whether a required call comes back."""
    _, _, without = api.message()
    found = []
    for choice in ("auto", "required"):
        status, message, usage = api.message(tools=[TOOL], tool_choice=choice, max_tokens=200)
        if status != 200:
            found.append(f"{choice}: HTTP {status}")
            continue
        arrived = (usage.get("prompt_tokens") or 0) - (without.get("prompt_tokens") or 0) >= 50
        called = ", called" if message.get("tool_calls") else ""
        found.append(f"{choice}: {'in the prompt' if arrived else 'dropped'}{called}")
    return "; ".join(found)


def streaming(api: Api) -> str:
    """How many events a stream has, and whether it tells usage and its end."""
    status, text = api.post(stream=True, stream_options={"include_usage": True})
    events = [line[5:].strip() for line in text.splitlines() if line.startswith("data:")]
    if status != 200 or not events:
        return f"HTTP {status}" if status else "breaks"
    bodies = [json.loads(event) for event in events if event != "[DONE]"]
    if any("error" in body or "choices" not in body for body in bodies):
        return "an error in the stream"
    usage = "usage" if any(body.get("usage") for body in bodies) else "no usage"
    done = "[DONE]" if events[-1] == "[DONE]" else "no [DONE]"
    return f"{len(bodies)} events, {usage}, {done}"


def reasoning(api: Api) -> str:
    """Where a thought in tags ends up; only a server that keeps to a schema can be made to write one."""
    for name, form in FORMS.items():
        text = json.dumps(form).replace(json.dumps(["red", "green"]), json.dumps([THOUGHT]))
        status, message, _ = api.message(response_format=json.loads(text))
        if status == 200 and any(message.get(field) for field in _REASONING):
            return f"apart ({name})"
        if status == 200 and "<think>" in (message.get("content") or ""):
            return "left in the text"
    return "not to be shown with this model"


def errors(api: Api) -> str:
    """The status and the form of three errors."""
    wrong: dict[str, dict[str, Any]] = {
        "a value of the wrong type": {"temperature": "hot"},
        "an unknown field": {"no_such_field": 1},
        "no messages": {"messages": None},
    }
    return "; ".join(f"{name}: {_form(*api.post(**body))}" for name, body in wrong.items())


def _form(status: int, text: str) -> str:
    if status == 200:
        return "taken"
    try:
        body = json.loads(text)
    except ValueError:
        return f"{status} text"
    error = body.get("error", body)
    inside = ", ".join(sorted(error)) if isinstance(error, dict) else "text"
    return f"{status} {'error: ' if 'error' in body else ''}{inside}"


PROBES: dict[str, Callable[[Api], str]] = {
    "structured output": structured,
    "tools": tools,
    "streaming": streaming,
    "reasoning": reasoning,
    "errors": errors,
}


def rows(folder: Path, recipes: list[Recipe]) -> Iterator[list[str]]:
    """A row for each server that is installed."""
    for recipe in recipes:
        home = folder / recipe.name
        if not (home / "bin" / "python").exists():
            print(f"{recipe.name}: not in {folder}", file=sys.stderr)
            continue
        with tempfile.TemporaryDirectory() as place:
            server = Server(recipe, home, Path(place))
            server.start()
            try:
                yield [recipe.name, *(probe(Api(server)) for probe in PROBES.values())]
            finally:
                server.stop()


def main(arguments: list[str]) -> int:
    """Print the table of the servers that are named, or of all."""
    if not arguments or not set(arguments[1:]) <= RECIPES.keys():
        print(f"usage: features.py FOLDER [{' | '.join(RECIPES)} ...]", file=sys.stderr)
        return 2
    for row in [["server", *PROBES], ["---"] * (len(PROBES) + 1)]:
        print(f"| {' | '.join(row)} |")
    wanted = [RECIPES[name] for name in arguments[1:] or RECIPES]
    for row in rows(Path(arguments[0]).resolve(), wanted):
        print(f"| {' | '.join(row)} |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
