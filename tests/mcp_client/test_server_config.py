"""How servers are written, and what of that is secret."""

from __future__ import annotations

import json

import pytest

from toolassay.errors import UsageError
from toolassay.mcp_client.server_config import (
    ServerConfig,
    ServerError,
    parse_address,
    parse_command,
    parse_entry,
)

KEY = "ghp_0a1B2c3D4e5F6g7H8i9J"


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("npx -y @acme/shop-server /home/me", "npx -y @acme/shop-server …"),
        ("uv run --directory /home/me server.py", "uv run --directory … server.py"),
        ("/usr/bin/python3.11 /home/me/server.py", "python3.11 server.py"),
        ("python -m acme.shop --port 80", "python -m acme.shop --port …"),
        ("node dist/index.js customer-name another-name", "node index.js …"),
        ("shop-server --level=debug", "shop-server --level=…"),
        ("shop-server -psecret", "shop-server …"),
        (f"npx {KEY}", "npx …"),
        ("npx --token hunter2 @acme/shop", "npx --token … @acme/shop"),
        ("npx mcp-remote https://me:pw@host/mcp?key=k1", "npx mcp-remote …"),
    ],
)
def test_a_command_is_shown_without_what_may_be_private(command: str, shown: str) -> None:
    assert parse_command(command).shown == shown


@pytest.mark.parametrize(
    ("command", "secrets"),
    [
        ("serve --api-key hunter2", {"hunter2"}),
        ("serve --api-key --verbose", set()),
        ("serve --token=hunter2", {"hunter2"}),
        ("docker run -e SHOP_USER=ann@acme.com shop", {"ann@acme.com"}),
        ("SHOP_PASSWORD=hunter2 serve", {"hunter2"}),
        (f"serve {KEY}", {KEY}),
        ("serve sk-proj-abcdef", {"sk-proj-abcdef"}),
        ("serve 550e8400-e29b-41d4-a716-446655440000", {"550e8400-e29b-41d4-a716-446655440000"}),
        ("serve --header 'Authorization: Bearer hunter2'", {"hunter2", "Bearer hunter2"}),
        (
            "serve --pass swordfish --user-pin 48213 --login ann-m --cred hunter2",
            {"swordfish", "48213", "ann-m", "hunter2"},
        ),
        ("docker run -e T_DB_PASS=swordfish -e userPin=48213 shop", {"swordfish", "48213"}),
        ("serve --mode=read-only --auth none /home/me/a-long-folder-name", set()),
    ],
)
def test_secrets_of_a_command_line(command: str, secrets: set[str]) -> None:
    assert set(parse_command(command).secrets) == secrets


def test_secrets_inside_addresses_and_json() -> None:
    database = parse_command("serve postgresql://ann:hunter2@host/db").secrets
    assert "hunter2" in database
    assert "ann:hunter2" in database
    configuration = parse_command(f"serve --config '{json.dumps({'shop': {'apiKey': 'k-12', 'n': 'ok'}})}'")
    assert configuration.secrets == ("k-12",)
    address = parse_address(f"https://ann:hunter2@host.com/mcp/{KEY}?profile=blue-7", {})
    assert {"hunter2", KEY, "blue-7"} <= set(address.secrets)
    assert "mcp" not in address.secrets
    assert address.shown.startswith("https://***@host.com/")


def test_values_of_the_environment_and_of_headers_are_secret() -> None:
    config = ServerConfig(
        command="serve",
        env={
            "SHOP": "planted value",
            "DEBUG": "true",
            "LEVEL": "info",
            "PASSWORD": "letmein",
            "T_DB_PASS": "swordfish",
            "T_PASSPHRASE": "true",
            "T_PIN": "48213",
            "NAME": "caterpillar",
            "PORT": "3000",
            "SHELVES": "40404",
            "TOOLASSAY_TODAY": "2026-11-30",
        },
        headers={"X-Shop": "blue-7", "Authorization": "Bearer k-12", "Accept": "text/plain"},
    )
    assert set(config.secrets) == {
        *("planted value", "letmein", "blue-7", "Bearer k-12", "k-12"),
        *("swordfish", "48213", "caterpillar", "40404"),
    }
    assert not any(secret in repr(config) for secret in config.secrets)


def test_a_command_line_is_split_as_a_shell_does() -> None:
    config = parse_command("A=1 B='x y' python 'my server.py' --x=1")
    assert (config.command, config.args, config.env) == (
        "python",
        ["my server.py", "--x=1"],
        {"A": "1", "B": "x y"},
    )
    with pytest.raises(UsageError, match="cannot be split"):
        parse_command("python 'server.py")
    with pytest.raises(UsageError, match="has no command"):
        parse_command("A=1")


def test_the_older_transport_is_known_by_type_or_path() -> None:
    assert parse_address("http://host/sse", {}).legacy_sse
    assert parse_address("http://host/mcp", {}, kind="sse").legacy_sse
    assert not parse_address("http://host/sse", {}, kind="http").legacy_sse
    assert not parse_address("http://host/mcp", {}).legacy_sse


def test_an_entry_is_filled_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_TOKEN", "hunter2")
    monkeypatch.delenv("SHOP_PORT", raising=False)
    entry = {
        "command": "serve",
        "args": ["--token", "${SHOP_TOKEN}", "--port", "${SHOP_PORT:-80}", 7],
        "env": {"TOKEN": "${env:SHOP_TOKEN}", "DEBUG": True, "N": 3},
        "cwd": "~/shop",
    }
    config = parse_entry("shop", entry)
    assert config.args == ["--token", "hunter2", "--port", "80", "7"]
    assert config.env == {"TOKEN": "hunter2", "DEBUG": "true", "N": "3"}
    assert config.secrets == ("hunter2",)
    assert config.cwd is not None
    assert config.cwd.endswith("/shop")
    assert not config.cwd.startswith("~")
    remote = parse_entry(
        "shop", {"url": "https://host/mcp", "headers": {"Authorization": "Bearer ${SHOP_TOKEN}"}}
    )
    assert remote.headers == {"Authorization": "Bearer hunter2"}


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"command": "serve", "args": ["${NOT_SET_ANYWHERE}"]}, "needs the variable NOT_SET_ANYWHERE"),
        ({"command": "serve", "env": {"A": "${input:token}"}}, "unknown variable ${input:token}"),
        ({"command": "serve", "env": {"A": "${workspaceFolder:x}"}}, "unknown variable ${workspaceFolder:x}"),
        ({"command": "serve", "args": "now"}, "'args' must be a list"),
        ({"command": "serve", "env": ["A=1"]}, "'env' must be an object"),
        ({}, "neither 'command' nor 'url'"),
        ({"url": "ftp://host"}, "not a valid address"),
        ("serve", "must be an object"),
    ],
)
def test_a_malformed_entry_is_one_line_that_names_the_server(entry: object, reason: str) -> None:
    with pytest.raises(ServerError) as error:
        parse_entry("shop", entry)
    assert reason in error.value.reason
    assert str(error.value).startswith("shop: ")
    assert "Fix: " in str(error.value)
