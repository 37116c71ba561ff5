"""What servers say to a schema in a form that they do not take; llama.cpp's as its server sent it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

Complaint = Callable[[Mapping[str, Any]], tuple[int, Any] | None]

LLAMA_CPP = (
    500,
    {
        "error": {
            "message": "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'response_format',"
            " 'type'), 'msg': \"Input should be 'text' or 'json_object'\", 'input': 'json_schema', 'ctx':"
            " {'expected': \"'text' or 'json_object'\"}}\n\n  File \"/srv/llama_cpp/server/app.py\", line"
            " 376, in create_chat_completion\n    POST /v1/chat/completions",
            "type": "internal_server_error",
            "param": None,
            "code": None,
        }
    },
)
OLD_OPENAI = (
    400,
    {
        "error": {
            "message": "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this"
            " model. Learn more about supported models at the Structured Outputs guide.",
            "type": "invalid_request_error",
            "param": None,
            "code": None,
        }
    },
)
UNKNOWN_SCHEMA = (
    400,
    {"error": {"message": "Unknown parameter: 'response_format.schema'.", "param": "response_format.schema"}},
)
VLLM = (
    400,
    {
        "error": {
            "message": "The provided JSON schema contains features not supported by xgrammar.",
            "type": "BadRequestError",
            "param": None,
            "code": 400,
        }
    },
)
LITELLM = (
    400,
    {
        "error": {
            "message": "litellm.UnsupportedParamsError: acme does not support parameters:"
            " ['response_format'], for model=acme-1. To drop these, set `litellm.drop_params=True`.",
            "type": "None",
            "param": "None",
            "code": "400",
        }
    },
)
PYDANTIC = (
    422,
    {
        "detail": [
            {
                "type": "extra_forbidden",
                "loc": ["body", "response_format"],
                "msg": "Extra inputs are not permitted",
                "input": {"type": "json_schema"},
            }
        ]
    },
)
AZURE = (
    400,
    {
        "error": {
            "message": "Invalid schema for response_format 'plan': In context=('properties', 'task_steps'), "
            "'maxItems' is not permitted.",
            "type": "invalid_request_error",
            "param": "response_format",
            "code": None,
        }
    },
)


def taking(*forms: str, refusal: tuple[int, Any] = LLAMA_CPP) -> Complaint:
    """A server that takes a `response_format` of these types and refuses others."""

    def complaint(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        given = body.get("response_format")
        return None if given is None or given["type"] in forms else refusal

    return complaint
