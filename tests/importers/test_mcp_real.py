"""The six published servers, over standard streams and over streamable HTTP.

Over HTTP, `server-everything` serves itself; the others are behind `supergateway`.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from mcp_servers import closed_port
from mcp_servers.install import NODE_FOLDER

from toolassay.importers.importer import Incoming
from toolassay.importers.mcp import IMPORTER, McpOptions
from toolassay.testkit.environment import setting

pytestmark = pytest.mark.server

SERVERS = {
    "mcp-server-time": (2, "mcp-time"),
    "mcp-server-git": (12, "mcp-git"),
    "mcp-server-sqlite": (6, "sqlite"),
    "server-filesystem": (14, "secure-filesystem-server"),
    "server-memory": (9, "memory-server"),
    "server-everything": (13, "mcp-servers_everything"),
}
"""Number of tools, and the server's own name."""


@pytest.fixture(scope="module")
def home() -> Path:
    folder = setting("SERVERS")
    if not folder:
        pytest.skip("TOOLASSAY_SERVERS is not set; python tests/mcp_servers/install.py FOLDER makes one")
    return Path(folder).resolve()


def command_of(name: str, home: Path, work: Path) -> list[str]:
    """The command line of a server; the test is skipped where it is not installed."""
    package = home / NODE_FOLDER / "node_modules" / "@modelcontextprotocol" / name / "dist" / "index.js"
    program = home / name / "bin" / name
    if not program.exists() and not (package.exists() and shutil.which("node")):
        pytest.skip(f"no {name} in {home}: python tests/mcp_servers/install.py {home}")
    command = [str(program)] if program.exists() else ["node", str(package)]
    if name == "mcp-server-sqlite":
        command += ["--db-path", str(work / "shop.db")]
    return [*command, str(work)] if name == "server-filesystem" else command


@contextmanager
def over_http(name: str, home: Path, work: Path) -> Iterator[str]:
    """Serve a server over streamable HTTP; gives the address."""
    port = closed_port()
    command = command_of(name, home, work)
    if name == "server-everything":
        command = [*command, "streamableHttp"]
    else:
        gateway = home / NODE_FOLDER / "node_modules" / ".bin" / "supergateway"
        options = ["--outputTransport", "streamableHttp", "--port", str(port)]
        command = [str(gateway), "--stdio", shlex.join(command), *options]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PORT": str(port)},
        cwd=work,
    ) as process:
        try:
            assert process.stdout
            assert any("istening on port" in line for line in process.stdout)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def assert_complete(incoming: Incoming, name: str, server: str) -> None:
    assert len(incoming.tools) == SERVERS[name][0]
    assert not incoming.skipped
    assert {tool.source["server"] for tool in incoming.tools} == {server}
    assert all(tool.description and tool.input_schema["type"] == "object" for tool in incoming.tools)
    assert {loss.field for tool in incoming.tools for loss in tool.losses} <= {"execution", "_meta", "icons"}


@pytest.mark.parametrize("name", SERVERS)
def test_a_published_server_over_http(name: str, home: Path, tmp_path: Path) -> None:
    with over_http(name, home, tmp_path) as address:
        incoming = IMPORTER.read(address, McpOptions())
    assert_complete(incoming, name, SERVERS[name][1])


def test_all_of_them_in_a_configuration_file(home: Path, tmp_path: Path) -> None:
    servers = {}
    for name in SERVERS:
        command, *args = command_of(name, home, tmp_path)
        servers[name] = {"command": command, "args": args}
    path = tmp_path / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}))
    incoming = IMPORTER.read(str(path), McpOptions())
    assert len(incoming.tools) == sum(count for count, _ in SERVERS.values()) == 56
    assert {tool.source["server"] for tool in incoming.tools} == set(SERVERS)
    assert not incoming.skipped
