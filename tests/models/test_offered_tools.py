"""Tools that many requests share travel as they always did."""

from __future__ import annotations

import json

from toolassay.models import ChatRequest, ModelOptions
from toolassay.models.protocol import OfferedTools
from toolassay.models.wire_format import encoded_body, request_body
from toolassay.runs.budget import size_of

TOOLS = [{"type": "function", "function": {"name": "café", "parameters": {}}}]


def test_the_body_and_the_estimate_are_those_of_a_plain_list() -> None:
    message = {"role": "user", "content": "Grüße"}
    plain = ChatRequest([message], {"tools": TOOLS, "temperature": 0.2})
    shared = ChatRequest([message], {"tools": OfferedTools(TOOLS), "temperature": 0.2})
    options = ModelOptions(extra_body={"top_k": 5})
    assert json.loads(encoded_body("m", shared, options)) == request_body("m", plain, options)
    assert json.loads(encoded_body("m", plain, options)) == request_body("m", plain, options)
    assert size_of(shared) == size_of(plain)


def test_extra_fields_still_take_the_tools_out() -> None:
    request = ChatRequest([], {"tools": OfferedTools(TOOLS)})
    assert json.loads(encoded_body("m", request, ModelOptions(extra_body={"tools": None}))) == {
        "model": "m",
        "messages": [],
    }
