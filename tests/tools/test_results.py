"""What a result of a tool says: whether the call failed, and its value."""

from __future__ import annotations

from typing import Any

import pytest

from toolassay.tools.results import is_refusal, result_value

FAILED: list[Any] = [
    {"error": True},
    {"data": None, "error": "no epic"},
    {"ok": False, "message": "no epic"},
    {"errors": [{"message": "no epic"}]},
    {"statusCode": 500, "error": None, "detail": "later"},
    {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no epic"},
    {"status": "ERROR", "message": "no epic", "error_type": "NotFound"},
    {"statusCode": 404, "headers": {"a": "b"}, "body": "no epic"},
    {"error_code": "E1", "error_message": "no epic"},
    {"is_error": True, "text": "no epic"},
    [{"error": "no epic"}],
    "{'error': 'no epic'}",
    '"Error: no epic"',
    {"content": [{"type": "text", "text": '{"success": false}'}]},
    {"content": [{"type": "text", "text": "no epic"}], "isError": True},
    {"content": [], "structuredContent": {"error": "no epic"}},
    [{"type": "text", "text": "Error: no epic"}],
    {"content": [{"type": "text", "text": text} for text in ("Error: no epic", "Ask for the list.")]},
    "KeyError: 'E-1'",
    "Database error: no such table: epics",
    "Traceback (most recent call last):\n" + "  File\n" * 500,
    "HTTP 404",
    *("404 Not Found", "Client error '404 Not Found' for url", "MCP error -32602: no epic"),
    {"success": "false", "message": "no epic"},
    {"title": "Not Found", "status": 404},
    *({"status": "failed", "message": "no epic"}, {"code": -32602, "message": "no epic"}),
    *({"err": "no epic"}, {"data": {"error": "no epic"}}, {"meta": {"code": 400}}),
    *({"type": "error", "message": "no epic"}, {"error_code": 404, "error_msg": "no epic"}),
]
WORKED: list[Any] = [
    *("| Error | Count |", "- Error: a bug", '{"error": null}\n{"error": null}', " " * 200_000 + "x" * 900),
    {"error": "", "errors": []},
    {"error": 0.03, "mean": 2.5},
    {"errors": 3},
    *("404 Main Street", {"data": {"id": 7, "status": "failed"}}, {"result": "500 boxes"}),
    *({"status": {"code": 200}}, {"type": "error", "id": 7}, {"success": "3 of 4", "message": "sent"}),
    {"success": True, "error": "a warning"},
    {"code": 404, "floor": 4},
    {"code": 404, "title": "Algebra"},
    {"id": 7, "status": 500, "message": "boxes left"},
    {"status": "failed", "job": "J-1"},
    [{"id": 2, "error": "disk full"}],
    {"jobs": [{"id": 2, "error": "disk full"}]},
    {"content": [{"type": "text", "text": "No errors"}], "isError": False},
]


@pytest.mark.parametrize("value", FAILED, ids=str)
def test_a_result_that_reports_an_error_is_a_refusal(value: Any) -> None:
    assert is_refusal(value)


@pytest.mark.parametrize("value", WORKED, ids=str)
def test_a_result_with_data_or_without_an_error_is_none(value: Any) -> None:
    assert not is_refusal(value)


@pytest.mark.parametrize(
    ("value", "wanted"),
    [
        ({"content": [{"type": "text", "text": '{"id": 7}'}]}, {"id": 7}),
        ({"content": [], "structuredContent": {"id": 7}}, {"id": 7}),
        ([{"type": "text", "text": "one"}, {"type": "image", "data": "…"}, {"text": "two"}], "one\ntwo"),
        ({"content": [{"json": {"id": 7}}]}, {"id": 7}),
        ({"type": "json", "value": {"id": 7}}, {"id": 7}),
        ('"E-1"', "E-1"),
        ([{"text": "a note", "id": 7}], [{"text": "a note", "id": 7}]),
        ({"content": [{"id": 7}]}, {"content": [{"id": 7}]}),
    ],
)
def test_the_value_of_a_result_is_its_content(value: Any, wanted: Any) -> None:
    assert result_value(value) == wanted


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ({"result": [{"error": "no such user"}]}, True),
        ({"result": {"isError": True, "content": [{"type": "text", "text": "no such file"}]}}, True),
        ({"status": "fail", "message": "no such user"}, True),
        ({"status": "failed"}, False),
        ({"level": 2, "code": -5}, False),
        ({"body": "Error 404 in your last invoice"}, False),
        ({"type": "failure", "message": "Pump 3 stopped", "timestamp": "2026"}, False),
    ],
)
def test_a_failure_that_a_tool_reports_is_not_its_own(value: object, refused: bool) -> None:
    assert is_refusal(value) is refused
