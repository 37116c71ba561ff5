"""Configuration files as editors write them."""

from __future__ import annotations

import time
from typing import Any

import pytest

from toolassay.mcp_client.server_config import parse_json, servers_of

SHOP = {"shop": {"command": "serve"}}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('{"a": 1} // end', {"a": 1}),
        ('/* a */ {"a": [1, 2,], /* } */ }', {"a": [1, 2]}),
        (r'{"a": "\"// b\\", "c": "/* d */,]",}', {"a": '"// b\\', "c": "/* d */,]"}),
        ('{"a": 1 /* not closed', None),
        ("import os", None),
        ('{"a": 1}\n{"a": 2}', None),
        ("[" * 100_000, None),
    ],
)
def test_comments_and_last_commas_are_no_part_of_json(text: str, value: Any) -> None:
    assert parse_json(text) == value


@pytest.mark.parametrize("part", ['"\\', "/*", "//", ",", ", ", '\\"', '/"'])
def test_no_text_takes_long(part: str) -> None:
    start = time.process_time()
    parse_json("{" + part * (2**20 // len(part)))
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("value", "servers"),
    [
        ({"mcpServers": SHOP}, SHOP),
        ({"mcp": {"servers": SHOP}, "a": 1}, SHOP),
        ({"mcp": {"servers": SHOP}, "a": {"tools": []}}, None),
        ({"mcp": {"servers": SHOP}, "tools": []}, None),
        ({"servers": {"shop": {"command": "serve", "tools": []}}}, None),
        ([SHOP], None),
    ],
)
def test_the_servers_of_a_configuration(value: Any, servers: Any) -> None:
    found = servers_of(value)
    assert found == servers
