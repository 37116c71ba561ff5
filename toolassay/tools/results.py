"""What the result of a tool says: its value, and whether the call failed.

Execution, values from servers, recorded calls, gates and exports all use `is_refusal`. It looks at the form
of a result, not at its language.
"""

from __future__ import annotations

import ast
import contextlib
import json
import re
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

# "404 Not Found" and "404: Not Found"; not "404 Main Street", so only the status's own phrase counts.
_FAILURES = "|".join(f"{status}:? {status.phrase}" for status in HTTPStatus if status >= 400)
# An error as a text: "Error: no such file", "Error 404", "KeyError: 'a'", "Database error: no such table",
# "MCP error -32602: no id", "HTTP/1.1 503", "404 Not Found" (with the status's own phrase), "**Error:** no
# film"; not "Errors: none", "| Error | Count |", "error.log", "HTTP 200", "404 Main Street".
# A text of more than 1,000 characters is content, unless it is a traceback.
_ERROR_TEXT = re.compile(
    r"[^\w!-)+-~]*+(?:Traceback\b|(?=.{0,1000}\Z)(?:error(?![\w/-]|\.\w)"
    r"|HTTP(?:/[\d.]+)?(?: [A-Z]+)?[ :]+[45]\d\d\b"
    r"|(?:[A-Z]\w* ){0,2}[\w.]*(?:error|exception)(?: -?\d+)?\s*:"
    rf"|(?:\w+ error ')?(?:{_FAILURES})\b))",
    re.IGNORECASE | re.DOTALL,
)

_STATUSES = {"status", "statuscode", "httpstatus", "code", "error", "errorcode", "errcode", "type"}
# "error", "404", "404 Not Found"; not "1404"
_FAILED_STATUS = re.compile(r"error|[45]\d\d(?:\b.*)?", re.IGNORECASE)
# With a message: "fail" (JSend), "-32602" (JSON-RPC). Alone, a job may have failed, and a level be negative.
_FAILED_WITH_MESSAGE = re.compile(r"fail(?:ed|ure)?|-\d+", re.IGNORECASE)
# A status is data, such as the code of a room, beside anything but these: at least one of the first, or none.
_MESSAGES = {"error", "errors", "errormessage", "errormsg", "errmsg", "errortype", "message", "msg", "detail"}
_MESSAGES |= {"details", "reason", "body", "traceid"}
_WITH_MESSAGES = {"title", "type", "description", "instance", "path", "url", "timestamp", "success"}
_WITH_MESSAGES |= {"headers", "documentationurl", "requestid"}
_SUCCESSES = ("success", "ok", "issuccess", "successful")
_ERRORS = ("error", "errors", "err", "errormessage", "iserror")
# An object with one of these alone is what is in it: "data", and the status of a response.
_ENVELOPES = {"result", "data", "response", "body", "meta", "status"}


def is_refusal(value: Any) -> bool:
    """Whether the result of a call says that the call failed.

    That is an object with `isError`, an `error` (`errors`, `err`, …) that is not empty, `success` or `ok`
    that is false (true settles it the other way), or an HTTP status of 400 to 599 (or "error", "fail") beside
    nothing but messages; one of these alone in an object `data`; and a text that begins with an error. A list
    of rows, of which one has an error, is none.

    Args:
        value: The result as JSON; also JSON in a text, the content of an MCP result, or `{"result": …}`.

    >>> [is_refusal(one) for one in ('{"error": "no epic E-1"}', {"success": False}, "Traceback: KeyError")]
    [True, True, True]
    >>> [is_refusal(one) for one in ({"error": None, "id": 7}, {"code": 404, "floor": 4}, "No errors")]
    [False, False, False]
    """
    if isinstance(value, Mapping) and _fields(value).get("iserror") is True:
        return True
    value = result_value(value)
    if isinstance(value, Mapping) and value.keys() == {"result"}:
        return is_refusal(value["result"])
    while isinstance(value, Mapping) and len(fields := _fields(value)) == 1:
        ((name, inner),) = fields.items()
        is_text = isinstance(inner, str) and name == "result"
        if name not in _ENVELOPES or not (is_text or isinstance(inner, dict)):
            break
        value = result_value(inner)
    if isinstance(value, str):
        return _ERROR_TEXT.match(value) is not None
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return _has_only_messages(value[0]) and is_refusal(value[0])
    if not isinstance(value, Mapping):
        return False
    fields = _fields(value)
    flags = [str(fields[name]).casefold() for name in _SUCCESSES if name in fields]
    if {"true", "false"} & {*flags}:
        return "true" not in flags
    errors = [fields.get(name) for name in _ERRORS]
    if any(error is True or (error and isinstance(error, str | list | Mapping)) for error in errors):
        return True
    statuses = {name: str(item) for name, item in fields.items() if name in _STATUSES}
    failed = any(map(_FAILED_STATUS.fullmatch, statuses.values()))
    if fields.keys() & _MESSAGES:
        failed = failed or any(
            _FAILED_WITH_MESSAGE.fullmatch(statuses[name]) for name in statuses.keys() - {"type"}
        )
    return failed and _has_only_messages(value)


def _has_only_messages(value: Mapping[str, Any]) -> bool:
    """Whether an object has a status or messages, and no data."""
    names = _fields(value).keys()
    has_message = bool(names & _MESSAGES) or {"status", "title"} <= names  # RFC 9457
    return names <= _STATUSES or (names <= _STATUSES | _MESSAGES | _WITH_MESSAGES and has_message)


def _fields(value: Mapping[str, Any]) -> dict[str, Any]:
    """The fields that are not empty, by name in small letters."""
    filled = (
        (str(name), item) for name, item in value.items() if item is not None and item not in ("", [], {})
    )
    return {name.replace("_", "").casefold(): item for name, item in filled}


def result_value(value: Any) -> Any:
    """The value of a result: of MCP its structured content or text, of blocks their text; JSON is parsed.

    >>> result_value({"content": [{"type": "text", "text": '{"id": 7}'}]}), result_value("no film")
    ({'id': 7}, 'no film')
    >>> result_value([{"type": "text", "text": '{"id": 7}'}, {"type": "text", "text": '{"id": 8}'}])
    [{'id': 7}, {'id': 8}]
    """
    if isinstance(value, Mapping) and value.get("structuredContent") is not None:
        return value["structuredContent"]
    if isinstance(value, Mapping) and value.keys() == {"type", "value"}:
        return result_value(value["value"])
    blocks = value.get("content") if isinstance(value, Mapping) else value
    if isinstance(blocks, list) and all(
        isinstance(block, Mapping) and (len(block) == 1 or "type" in block) for block in blocks
    ):
        if len(blocks) == 1 and "json" in blocks[0]:
            return blocks[0]["json"]
        texts = [
            block["text"]
            for block in blocks
            if "text" in block and str(block.get("type", "text")).endswith("text")
        ]
        if texts and all(isinstance(text, str) for text in texts):
            value = texts_value(texts) if len(texts) == len(blocks) > 1 else "\n".join(texts)
    if isinstance(value, str) and value[:1] == '"':
        with contextlib.suppress(ValueError):
            value = json.loads(value)
    return parsed_text(value) if isinstance(value, str) else value


def texts_value(texts: Sequence[str]) -> Any:
    """The value of the texts of a result: that of the only one, else the list of theirs.

    Servers send each item of a list as a text of its own. Numbers are read as such if all texts are JSON. An
    error is one text.

    >>> texts_value(["7"]), texts_value(["7", "8"]), texts_value(["a7", "8"])
    ('7', [7, 8], ['a7', '8'])
    """
    if len(texts) == 1 or (texts and _ERROR_TEXT.match(texts[0])):
        return parsed_text("\n".join(texts))
    with contextlib.suppress(ValueError, RecursionError):
        values = [json.loads(text) for text in texts]
        json.dumps(values, allow_nan=False)
        return values
    return [parsed_text(text) for text in texts]


def parsed_text(text: str) -> Any:
    """The object or list that a text is, as JSON or as Python prints it; else the text."""
    if text.lstrip()[:1] in ("{", "["):
        for parse in (json.loads, ast.literal_eval):
            with contextlib.suppress(ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                value = parse(text)
                json.dumps(value, allow_nan=False)  # Python also prints sets
                if isinstance(value, dict | list):
                    return value
    return text
