"""The JSON of chat completions, the form in which this package works: parameters, messages and answers."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any

from msgspec.structs import replace

from toolassay.files.data_files import map_texts, readable
from toolassay.models.errors import ModelError
from toolassay.models.json_answers import CUT_OFF
from toolassay.models.options import ModelOptions
from toolassay.models.protocol import ChatRequest, ChatResponse, OfferedTools, ToolCall
from toolassay.models.retry import failure_inside

_MOST_TOKENS = 10**12  # a larger count is an error of the server and is ignored
# Fields of the reasoning: DeepSeek, llama.cpp and older vLLM; vLLM since 0.11.2 and OpenRouter.
_THOUGHTS = ("reasoning_content", "reasoning")
# Finish reasons with which servers and proxies report their own failure: "error", "network_error" (GLM),
# "aborted", "cancelled" (Responses) and DeepSeek's; not "stop" or "length".
_BROKEN_OFF = re.compile(r".*error|abort|cancel|insufficient_system_resource", re.IGNORECASE)
# Those of a filter: "content_filter: RECITATION" and "SAFETY" (Gemini), "sensitive" (GLM).
_FILTERED = re.compile(r"content_filter|safety|sensitive|recitation|prohibited_content", re.IGNORECASE)
MAX_ANSWER = 2**24
"""Maximum bytes of an answer after decompression, and of a line of a stream."""
_DETAILED = ("prompt", "completion", "input", "output")
_DEEPEST = 100  # levels of what a server sends beside the known fields


def encoded(body: dict[str, Any]) -> bytes:
    """A body as JSON, in ASCII; removes `OfferedTools` from it, whose text is reused."""
    tools = body.get("tools")
    if not isinstance(tools, OfferedTools):
        return json.dumps(body).encode()
    del body["tools"]
    return f'{json.dumps(body)[:-1]}, "tools": {tools.text}}}'.encode()


def parameters_of(request: ChatRequest, options: ModelOptions) -> dict[str, Any]:
    """The fields of a request body besides `model` and `messages`.

    `extra_body` overrides the request's parameters; null there omits one. Then a schema is converted to the
    form that the endpoint accepts, and refused parameters are omitted or renamed, as is what the request
    tries to omit (`ChatRequest.change`).

    >>> request = ChatRequest([], {"top_p": 0.1, "presence_penalty": 1.05})
    >>> parameters_of(request, ModelOptions(extra_body={"presence_penalty": None, "top_k": 5}))
    {'top_p': 0.1, 'top_k': 5}
    """
    parameters = dict(request.parameters)
    if options.stream:
        parameters |= {"stream": True, "stream_options": {"include_usage": True}}
    if options.dialect == "responses":
        parameters["include"] = ["reasoning.encrypted_content"]
    for name, value in options.extra_body.items():
        if value is None:
            parameters.pop(name, None)
        else:
            parameters[name] = value
    if options.schemas is not None:
        parameters = options.schemas.fit(parameters)
    if options.refusals is None:
        return parameters
    return options.refusals.fit(parameters, request.change, options.chosen(parameters))


def read_body(body: Mapping[str, Any], seconds: float | None = None) -> ChatResponse:
    """Parse the body of a chat completion.

    Raises:
        ModelError: It is none or has no content; transient, because servers send such bodies under load.

    >>> read_body({"choices": [{"message": {"content": "yes"}, "finish_reason": "stop"}]}).text
    'yes'
    """
    usage: dict[str, Any] = _usage(body)
    charged = {name: usage[name] for name in ("prompt_tokens", "completion_tokens")}

    def useless(message: str, kind: str) -> ModelError:
        return ModelError(message, transient=True, kind=kind, **charged)

    choices = body.get("choices")
    failure = reported(body)
    if choices and (failure is body or (isinstance(failure, dict) and not any(failure.values()))):
        failure = None  # "error_code": 0 beside an answer
    if failure:
        error = failure_inside(failure)
        # Beside an answer no status means that the request is wrong.
        error.transient |= bool(choices) and error.outcome == "provider error"
        error.prompt_tokens, error.completion_tokens = charged.values()
        raise error
    if choices == [] or (choices is None and "choices" in body):
        raise useless("the server's answer is empty (no choices)", "empty choices")
    try:
        choice = choices[0]  # type: ignore[index]
        message = choice["message"]
        content = text_of(message.get("content"))
        refusal = message.get("refusal")
        old = message.get("function_call")  # OpenAI's before `tool_calls`
        calls = _tool_calls(message.get("tool_calls") or ([{"function": old}] if old else []))
        reasoning = reasoning_of(message)
        is_text = isinstance(message.get("content"), str)
        extra = _extra(message, ("role", "tool_calls", "function_call", "content" if is_text else ""))
        reason = choice.get("finish_reason")
    except (KeyError, IndexError, TypeError, AttributeError, RecursionError):
        raise useless("the server's answer cannot be read", "unreadable") from None
    reason = reason if isinstance(reason, str) else None
    if reason and _BROKEN_OFF.match(reason):
        raise useless(f"the server broke off its answer (finish reason '{reason}')", "broken off")
    said_no = isinstance(refusal, str) and bool(refusal)
    refused = said_no or bool(reason and _FILTERED.match(reason))
    if content is None:
        # A model that only reasons or is truncated before its first word, and a filter that removes
        # everything, would do so again: a retry is useless, and the answer is empty.
        if not (refused or calls or reasoning or (reason or "").lower() in CUT_OFF):
            raise useless("the server's answer has no content", "null content")
        content = ""
    return ChatResponse(
        content or (refusal if said_no else content),
        reason,
        refused=refused,
        seconds=seconds,
        tool_calls=calls,
        reasoning=reasoning,
        **usage,
        extra=extra,
    )


def reported(body: Mapping[str, Any]) -> Any:
    """The failure that a body or event reports, in any of the forms of servers, or one of its choices
    (OpenRouter); None without one.

    >>> reported({"error": "no memory"}), reported({"object": "error"}), reported({"error_code": 0})
    ('no memory', {'object': 'error'}, None)
    >>> reported({"choices": [{"error": {"code": 502}, "message": {"content": "half an"}}]})
    {'code': 502}
    """
    is_failure = any(value == "error" or (value and "error" in name) for name, value in body.items())
    choices = body.get("choices")
    inside = (_object(choice).get("error") for choice in choices) if isinstance(choices, list) else ()
    return body.get("error") or (body if is_failure else None) or next(filter(None, inside), None)


def text_of(content: Any) -> str | None:
    """The text of a message's `content`, a string or a list of parts; None without text.

    An object without `type` is an answer that the server has parsed (Cloudflare's JSON mode).

    >>> text_of([{"type": "thinking"}, {"type": "text", "text": "ye"}, {"type": "text", "text": "s"}])
    'yes'
    """
    if isinstance(content, dict) and "type" not in content:
        content = json.dumps(content)
    if isinstance(content, str):
        return content
    parts = [part for part in (content if isinstance(content, list) else [content]) if isinstance(part, dict)]
    part_texts = [part.get("text") for part in parts if part.get("type") in ("text", "output_text")]
    texts = [part for part in part_texts if isinstance(part, str)]
    return "".join(texts) if texts else None


def reasoning_of(message: Mapping[str, Any]) -> str:
    """The reasoning that a message carries apart from its text; "" without any.

    >>> reasoning_of({"content": "4", "reasoning_content": "2 + 2"})
    '2 + 2'
    >>> reasoning_of({"content": [{"type": "thinking", "thinking": "2 + 2"}, {"type": "text", "text": "4"}]})
    '2 + 2'
    """
    for name in _THOUGHTS:
        if isinstance(thought := message.get(name), str) and thought:
            return thought
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    thoughts = (part.get("thinking") for part in parts if isinstance(part, dict))  # Mistral nests texts
    return "".join(text_of(thought) or "" for thought in thoughts)


def decoded(body: bytes, charset: str | None) -> str:
    """Decode as UTF-8, the encoding of JSON; if that fails, by the header's charset."""
    try:
        return body.decode("utf-8-sig")
    except UnicodeDecodeError:
        try:
            return body.decode(charset or "utf-8", errors="replace")
        except LookupError:
            return body.decode(errors="replace")


def _tool_calls(calls: Any) -> tuple[ToolCall, ...]:
    """Parse the tool calls of a message; a call without a name gets "", so that the agent can answer it."""
    tool_calls = []
    for call in map(_object, calls if isinstance(calls, list) else []):
        function = _object(call.get("function") or call)  # some servers leave the object around them out
        name = function.get("name")
        arguments = function.get("arguments", function.get("parameters"))
        if not isinstance(arguments, str):
            arguments = json.dumps({} if arguments is None else arguments)
        known_keys = (
            "id",
            "index",
            "name",
            "arguments",
            "parameters",
            *["type"] * (call.get("type") == "function"),
        )
        inner = {} if function is call else _extra(function, known_keys)
        extra = _extra({**call, "function": inner or None}, known_keys)
        tool_calls.append(
            ToolCall(str(call.get("id") or ""), name if isinstance(name, str) else "", arguments, extra)
        )
    return tuple(tool_calls)


def _extra(sent: Mapping[str, Any], known_keys: Collection[str]) -> dict[str, Any]:
    """The fields that a server sent besides the known ones. It may require them back, but refuse null."""
    extra = {name: value for name, value in sent.items() if value is not None and name not in known_keys}
    return map_texts(extra, readable, levels=_DEEPEST)  # type: ignore[no-any-return]


def change_texts(response: ChatResponse, change: Callable[[str], str]) -> ChatResponse:
    """Copy an answer with every text of the model in it changed."""

    def changed(answer: Any, *names: str) -> Any:
        return replace(
            answer, **{name: map_texts(getattr(answer, name), change, levels=_DEEPEST) for name in names}
        )

    calls = tuple(changed(call, "id", "name", "arguments", "extra") for call in response.tool_calls)
    return replace(changed(response, "text", "reasoning", "leaked", "extra"), tool_calls=calls)  # type: ignore[no-any-return]


def _object(value: Any) -> dict[str, Any]:
    """The value if it is an object, else {}."""
    return value if isinstance(value, dict) else {}


def _usage(body: Mapping[str, Any]) -> dict[str, int | None]:
    """The token counts that a server reports; None for one that is missing or not a plausible number.

    Most servers include reasoning in `completion_tokens`; some (xAI) report it beside them. That is the case
    if the total is exactly prompt + completion + reasoning, or if reasoning exceeds completion. Then the two
    are added.

    >>> _usage({"usage": {"prompt_tokens": 12, "completion_tokens": 2, "total_tokens": 331,
    ...                   "completion_tokens_details": {"reasoning_tokens": 317}}})["completion_tokens"]
    319
    """
    usage = _object(body.get("usage"))

    def counted(*names: str) -> int | None:
        # Responses names them otherwise than Chat Completions, and details are in objects of their own.
        places = [usage, *(_object(usage.get(f"{name}_tokens_details")) for name in _DETAILED)]
        counts = [
            count
            for name in names
            for usage_part in places
            if (count := _count(usage_part.get(name))) is not None
        ]
        return max(counts, default=None)

    prompt = counted("prompt_tokens", "input_tokens")
    completion = counted("completion_tokens", "output_tokens")
    if prompt is not None and "prompt_tokens" not in usage:
        # Messages counts what was read from a cache or written to one beside the input.
        prompt += sum(counted(f"cache_{kind}_input_tokens") or 0 for kind in ("read", "creation"))
    total = counted("total_tokens")
    thought = counted("reasoning_tokens")
    if thought and completion is not None:
        is_beside = thought > completion or (prompt is not None and total == prompt + completion + thought)
        completion += thought if is_beside else 0
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        # The others are DeepSeek's and that of Messages.
        "cached_tokens": counted("cached_tokens", "prompt_cache_hit_tokens", "cache_read_input_tokens"),
        "reasoning_tokens": thought,
    }


def _count(value: Any) -> int | None:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST_TOKENS else None
