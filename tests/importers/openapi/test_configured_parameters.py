"""Parameters that are the same for every request, or made by the client, are no arguments."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.support.openapi_documents import openapi, read

TEXT = {"schema": {"type": "string"}}


def imported(
    folder: Path, *parameters: dict[str, Any], path: str = "/posts", **rest: Any
) -> tuple[set[str], Any]:
    """The arguments of an operation with these parameters, and its losses by field."""
    incoming = read(folder, openapi({path: {"get": {"parameters": [*parameters]}}}, **rest))
    (tool,) = incoming.tools
    reasons = dict([*tool.losses, *incoming.notes])
    assert set(tool.source["arguments"]) == set(tool.input_schema["properties"])
    return set(tool.input_schema["properties"]), reasons


@pytest.mark.parametrize(
    "name",
    [
        *(
            "X-Api-Key",
            "apikey",
            "PRIVATE-TOKEN",
            "X-CSRF-Token",
            "X-Auth-Token",
            "Api-Username",
            "X-Client-Secret",
        ),
        *(
            "Ocp-Apim-Subscription-Key",
            "DD-APPLICATION-KEY",
            "authorization",
            "X-SDKKEY",
            "Proxy-Authorization",
        ),
        *(
            "Notion-Version",
            "X-GitHub-Api-Version",
            "anthropic-version",
            "Accept-Version",
            "x-ms-version",
            "Cookie",
        ),
    ],
)
def test_a_header_with_a_credential_or_the_version_of_the_protocol_is_configuration(
    tmp_path: Path, name: str
) -> None:
    header = {"name": name, "in": "header", "required": True, **TEXT}
    arguments, reasons = imported(
        tmp_path, header, {"name": "page", "in": "query", **TEXT}, path="/api/items"
    )
    assert arguments == {"page"}
    assert f"--header '{name}: …'" in reasons[f"parameters.{name}"]


@pytest.mark.parametrize(
    "name", ["X-Request-Id", "Idempotency-Key", "Accept-Encoding", "User-Agent", "traceparent"]
)
def test_a_header_that_differs_from_request_to_request_is_the_clients(tmp_path: Path, name: str) -> None:
    arguments, reasons = imported(tmp_path, {"name": name, "in": "header", **TEXT})
    assert not arguments
    assert "--header" not in reasons[f"parameters.{name}"]


@pytest.mark.parametrize(
    "name",
    [
        *(
            "Accept-Language",
            "X-Customer-Region",
            "X-Next-Token",
            "If-Match",
            "X-Token-Limit",
            "X-Post-Version",
        ),
        *("X-Keyword", "X-Author", "X-Version-Label", "X-Passenger"),
    ],
)
def test_a_header_that_means_something_to_a_person_is_an_argument(tmp_path: Path, name: str) -> None:
    arguments, _ = imported(tmp_path, {"name": name, "in": "header", **TEXT}, path="/posts/{id}")
    assert arguments == {name, "id"}


def test_the_value_of_a_version_is_named_and_that_of_a_credential_is_not(tmp_path: Path) -> None:
    version = {"name": "Shop-Version", "in": "header", "schema": {"type": "string", "default": "2031-01-01"}}
    key = {"name": "Shop-Key", "in": "header", "schema": {"type": "string", "default": "k-2207"}}
    _, reasons = imported(tmp_path, version, key)
    assert "'Shop-Version: 2031-01-01'" in reasons["parameters.Shop-Version"]
    assert "k-2207" not in str(reasons)


@pytest.mark.parametrize(
    ("scheme", "parameter", "given"),
    [
        ({"type": "apiKey", "in": "header", "name": "X-Shop"}, ("x-shop", "header"), "--header 'X-Shop: …'"),
        ({"type": "apiKey", "in": "query", "name": "k"}, ("k", "query"), "k=…"),
        ({"type": "apiKey", "in": "cookie", "name": "sid"}, ("sid", "cookie"), "--header 'Cookie: sid=…'"),
        ({"type": "http", "scheme": "Digest"}, ("Authorization", "header"), "'Authorization: Digest …'"),
        ({"type": "oauth2"}, ("access_token", "query"), "'Authorization: Bearer …'"),
        ({"type": "openIdConnect"}, ("Authorization", "header"), "'Authorization: Bearer …'"),
    ],
)
@pytest.mark.parametrize("version", [2, 3])
def test_what_a_security_scheme_adds_is_configuration(
    tmp_path: Path, scheme: dict[str, str], parameter: tuple[str, str], given: str, version: int
) -> None:
    name, place = parameter
    rest: Any = {"components": {"securitySchemes": {"own": {"$ref": "#/x-scheme"}}}, "x-scheme": scheme}
    if version == 2:
        rest = {"swagger": "2.0", "securityDefinitions": {"own": scheme}}
    arguments, reasons = imported(tmp_path, {"name": name, "in": place, **TEXT}, **rest)
    assert not arguments
    assert given in reasons["securitySchemes.own"]
    assert f"parameters.{name}" in reasons


def test_every_scheme_is_listed_and_a_header_is_quoted_for_the_shell(tmp_path: Path) -> None:
    schemes = {
        "basic": {"type": "http", "scheme": "basic"},
        "bearer": {"type": "http", "scheme": "bearer"},
        "own": {"type": "apiKey", "in": "header", "name": "X'; touch x #" + "y" * 1_000},
    }
    _, reasons = imported(tmp_path, components={"securitySchemes": schemes})
    assert [*reasons] == [f"securitySchemes.{name}" for name in schemes]
    words = shlex.split(reasons["securitySchemes.own"])
    assert words[-1].startswith("X'; touch x #") and len(words[-1]) <= 100


def test_a_parameter_of_the_name_of_a_scheme_elsewhere_is_an_argument(tmp_path: Path) -> None:
    scheme = {"type": "apiKey", "in": "header", "name": "shop"}
    arguments, _ = imported(
        tmp_path, {"name": "shop", "in": "query", **TEXT}, components={"securitySchemes": {"own": scheme}}
    )
    assert arguments == {"shop"}


@pytest.mark.parametrize(
    "schemes", [5, {"own": 5}, {"own": {"type": ["apiKey"]}}, {"own": {"$ref": "#/lost"}}]
)
def test_malformed_schemes_say_nothing(tmp_path: Path, schemes: Any) -> None:
    incoming = read(tmp_path, openapi({"/a": {"get": {}}}, components={"securitySchemes": schemes}))
    assert [tool.name for tool in incoming.tools] == ["get_a"]
    assert not incoming.notes
