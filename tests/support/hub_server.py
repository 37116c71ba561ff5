"""A hub on loopback that serves the files of one data set, as huggingface_hub asks for them."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

NAME = "microsoft/Taskbench"
REVISION = "0123456789abcdef0123456789abcdef01234567"


@contextmanager
def serving(folder: Path, repository: str = NAME) -> Iterator[tuple[str, list[str]]]:
    """Serve the files below a folder; gives the address, and the paths that were asked for."""
    asked: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            asked.append(f"{self.command} {path}")
            if path.startswith(f"/api/datasets/{repository}"):
                names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
                siblings = [{"rfilename": name} for name in names]
                self._send(json.dumps({"id": repository, "sha": REVISION, "siblings": siblings}).encode())
                return
            start = f"/datasets/{repository}/resolve/{REVISION}/"
            file = folder / path.removeprefix(start)
            if path.startswith(start) and file.is_file():
                self._send(file.read_bytes())
            else:
                self.send_error(404)

        do_HEAD = do_GET

        def _send(self, body: bytes) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Type", "application/json")
            self.send_header("ETag", f'"{hashlib.sha1(body, usedforsecurity=False).hexdigest()}"')
            self.send_header("X-Repo-Commit", REVISION)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
