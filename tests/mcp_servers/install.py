"""Installs the MCP servers that test_mcp_real.py lists, each in an environment of its own.

    python tests/mcp_servers/install.py FOLDER

Then `TOOLASSAY_SERVERS=FOLDER python -m pytest -m server tests/importers/test_mcp_real.py` lists them.
Three of them need Node 20.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

PACKAGES = {
    "mcp-server-time": ("mcp-server-time",),
    "mcp-server-git": ("mcp-server-git",),
    "mcp-server-sqlite": ("mcp-server-sqlite", "mcp<2"),  # it uses a module that mcp 2 has no longer
}
NODE_PACKAGES = (
    "@modelcontextprotocol/server-filesystem",
    "@modelcontextprotocol/server-memory",
    "@modelcontextprotocol/server-everything",
    "supergateway",  # serves the others over HTTP
)
NODE_FOLDER = "mcp-node"


def main(arguments: list[str]) -> int:
    """Install all of them."""
    if len(arguments) != 1:
        print("usage: install.py FOLDER", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    for name, packages in PACKAGES.items():
        place = folder / name
        if not (place / "bin" / name).exists():
            venv.create(place, with_pip=True)
            subprocess.run([str(place / "bin" / "pip"), "install", "--quiet", *packages], check=True)
        print(f"{name}: installed in {place}", flush=True)
    node = folder / NODE_FOLDER
    node.mkdir(parents=True, exist_ok=True)
    subprocess.run(["npm", "install", "--silent", "--prefix", str(node), *NODE_PACKAGES], check=True)
    print(f"{', '.join(NODE_PACKAGES)}: installed in {node}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
