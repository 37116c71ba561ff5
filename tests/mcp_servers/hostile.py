"""A server that misbehaves as its first argument says. It needs no package, so it starts at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

TOOL = {"name": "look", "description": "Look.", "inputSchema": {"type": "object", "properties": {}}}
ARGUMENTS = sys.argv[2:]


def send(message: dict[str, Any]) -> None:
    """Write a message as a line."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def serve(list_tools: Callable[[dict[str, Any]], dict[str, Any]], **about: Any) -> None:
    """Answer until the input ends; `list_tools` gives the result of tools/list."""
    for line in sys.stdin:
        request = json.loads(line)
        method, number = request.get("method"), request.get("id")
        if method == "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, **about}
            result.setdefault("serverInfo", {"name": "hostile", "version": "1"})
            send({"id": number, "result": result})
        elif method == "tools/list":
            send({"id": number, "result": list_tools(request.get("params") or {})})


def listing(*tools: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """An answer with these tools."""
    return lambda params: {"tools": list(tools)}


def hang() -> None:
    """Never answer, and end only by force; SIGTERM is reported to the pipe of `children`."""

    def report(number: int, frame: object) -> None:
        if len(ARGUMENTS) > 2:
            Path(ARGUMENTS[2]).write_text("asked to end")

    signal.signal(signal.SIGTERM, report)
    report_pid()
    while True:
        signal.pause()


def report_pid() -> None:
    """Append the number of the process to the file that an argument names."""
    if ARGUMENTS:
        with Path(ARGUMENTS[0]).open("a") as file:
            file.write(f"{os.getpid()}\n")


def die() -> None:
    """End at once; the last line on stderr repeats an argument and has control characters."""
    sys.stderr.write(
        f"starting\n\x1b[31mbad key\x07 {' '.join(ARGUMENTS)}\x1b[0m at {os.environ.get('SHOP')}\n"
    )
    sys.exit(3)


def die_later() -> None:
    """End instead of listing."""

    def end(params: dict[str, Any]) -> dict[str, Any]:
        sys.stderr.write("ValueError: no shelf\n")
        sys.stderr.flush()
        os._exit(4)

    serve(end)


def die_with_a_child() -> None:
    """End instead of listing, while a child holds the output open."""

    def end(params: dict[str, Any]) -> dict[str, Any]:
        subprocess.Popen([sys.executable, __file__, "hang"])
        sys.stderr.write("ValueError: no shelf\n")
        sys.stderr.flush()
        os._exit(4)

    serve(end)


def flood_stderr() -> None:
    """Write 64 MB to stderr before and work then."""
    for _ in range(1000):
        sys.stderr.write("e" * 65536)
    serve(listing(TOOL))


def flood_garbage() -> None:
    """Write lines that are no messages, without end."""
    while True:
        sys.stdout.write("garbage\n")


def flood_notifications() -> None:
    """Write notifications instead of a listing, without end."""

    def flood(params: dict[str, Any]) -> dict[str, Any]:
        while True:
            send({"method": "notifications/message", "params": {"level": "info", "data": "hello"}})

    serve(flood)


def endless_line() -> None:
    """Write one line without end."""
    while True:
        sys.stdout.write("x" * 65536)


def many_messages() -> None:
    """Send messages of a megabyte without end."""
    while True:
        send({"method": "notifications/message", "params": {"level": "info", "data": "x" * 2**20}})


def repeat_cursor() -> None:
    """Give the same page for ever."""
    serve(lambda params: {"tools": [TOOL], "nextCursor": "next"})


def endless_pages() -> None:
    """Give empty pages for ever."""
    serve(lambda params: {"tools": [], "nextCursor": f"{params.get('cursor', '')}x"})


def answer() -> None:
    """Give the result that the argument is as JSON."""
    serve(lambda params: json.loads(ARGUMENTS[0]), serverInfo="none", instructions=["a list"])


def refuse() -> None:
    """Answer every request with an error that repeats an argument."""
    for line in sys.stdin:
        if (number := json.loads(line).get("id")) is not None:
            send({"id": number, "error": {"code": -32603, "message": f"no access\nfor {ARGUMENTS[0]}"}})


def environment() -> None:
    """Describe a tool with the environment."""
    serve(listing({**TOOL, "description": json.dumps(dict(os.environ))}))


def children() -> None:
    """Start children: in the group, in a session of its own, and an orphan in one.

    All ignore SIGTERM. The second argument says what follows: serve, die or another behaviour; the third
    one may name a pipe that is written to when all run.
    """
    child = [sys.executable, __file__, "hang", ARGUMENTS[0]]
    quiet: Any = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    # Of a parent that has died, only the environment leads to a child with a session of its own.
    environment: dict[str, str] | None = None if ARGUMENTS[1] == "die" else {}
    subprocess.Popen(child, **quiet)
    subprocess.Popen(child, **quiet, start_new_session=True, env=environment)
    if os.fork() == 0:
        subprocess.Popen(child, **quiet, start_new_session=True)
        os._exit(0)
    os.wait()
    while not Path(ARGUMENTS[0]).exists() or len(Path(ARGUMENTS[0]).read_text().splitlines()) < 3:
        os.sched_yield()
    report_pid()
    if len(ARGUMENTS) > 2:
        Path(ARGUMENTS[2]).write_text("all run")
    if ARGUMENTS[1] == "die":
        os._exit(5)
    if ARGUMENTS[1] == "serve":
        serve(listing(TOOL))
    else:
        globals()[ARGUMENTS[1]]()


if __name__ == "__main__":
    globals()[sys.argv[1]]()
