"""MCP servers as scripts: small ones of the SDK, and hostile ones. Helpers to start them."""

from __future__ import annotations

import contextlib
import os
import select
import shlex
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from toolassay.mcp_client.server_config import ServerConfig

HERE = Path(__file__).resolve().parent
_EXAMPLES = HERE.parents[1] / "examples"


def _script(name: str) -> str:
    """The path of a script of this folder, or of the examples."""
    places = (HERE / f"{name}.py", _EXAMPLES / f"{name}.py")
    return str(next(path for path in places if path.exists()))


def config_of(script: str, *args: str, **env: str) -> ServerConfig:
    """The server that a script of this folder is."""
    return ServerConfig(command=sys.executable, args=[_script(script), *args], env=env)


def command_of(script: str, *args: str) -> str:
    """The same as a command line."""
    return shlex.join([sys.executable, _script(script), *args])


@contextmanager
def serving(script: str, *args: str) -> Iterator[str]:
    """Run a script that serves over HTTP and prints its address; gives the address."""
    command = [sys.executable, _script(script), *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            assert process.stdout
            yield process.stdout.readline().strip()
        finally:
            process.terminate()


@contextmanager
def answering(status: int, body: bytes = b"", **headers: str) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Answer every request alike; gives the address, and the headers of the requests."""
    requests: list[dict[str, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            requests.append({name.lower(): value for name, value in self.headers.items()})
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with contextlib.suppress(OSError):
                self.wfile.write(body)

        do_GET = do_DELETE = do_POST

        def log_message(self, format: str, *args: object) -> None:
            return

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/mcp", requests
        finally:
            server.shutdown()


def is_running(pid: int) -> bool:
    """Whether a process exists and is no zombie."""
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] not in "ZX"
    except (OSError, IndexError):
        return False


def written_to(pipe: Path) -> str:
    """What a program writes to a named pipe; "" if none has written after a minute, e.g. because it ended."""
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with os.fdopen(end, "rb", buffering=0) as stream:
        poll = select.poll()
        poll.register(end, select.POLLIN)
        text = b""
        while poll.poll(60_000) and (chunk := stream.read(4096)):
            text += chunk
        return text.decode()
