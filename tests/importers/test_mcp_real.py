"""The six published servers, over standard streams and over streamable HTTP.

Over HTTP, `server-everything` serves itself; the others are behind `supergateway`.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.mcp_servers.install import NODE_FOLDER
from toolassay.importers.mcp import IMPORTER, McpOptions

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
    folder = os.environ.get("TOOLASSAY_SERVERS")
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
