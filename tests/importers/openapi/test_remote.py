"""Documents at addresses, from a real server on loopback."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.support.openapi_documents import get, openapi, read
from toolassay.errors import UsageError
from toolassay.importers.importer import Incoming
from toolassay.importers.openapi import IMPORTER, OpenApiOptions

REFERENCES = "toolassay.importers.openapi.references"
PUBLIC = "toolassay.importers.openapi.references.is_public"
ROOT = openapi(
    {"/a": get({"$ref": "parts/a.json"}), "/b": get({"$ref": "b.json#/B"})}, servers=[{"url": "v1"}]
)


class Site:
    """A server.

    Attributes:
        answers: Path to a document, or to a status, headers and a body.
        requests: The paths and headers that were requested.
    """

    def __init__(self, address: str) -> None:
        self.address = address
        self.answers: dict[str, Any] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.ended = threading.Event()

    def read(self, path: str, **options: Any) -> Incoming:
        source = path if "://" in path else self.address + path
        return IMPORTER.read(source, OpenApiOptions(allow_remote=True, **options))


@pytest.fixture
def site() -> Iterator[Site]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            found.requests.append((self.path, dict(self.headers)))
            answer = found.answers.get(self.path.partition("?")[0], (404, {}, b""))
            if not isinstance(answer, tuple):
                answer = 200, {}, json.dumps(answer).encode()
            status, headers, body = answer
            self.send_response(status)
            for key, value in ({"Content-Length": str(len(body))} | headers).items():
                self.send_header(key, value)
            self.end_headers()
            with suppress(OSError):
                self.wfile.write(body)
                self.wfile.flush()
                if "X-Hang" in headers:
                    found.ended.wait(30)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found = Site(f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield found
    finally:
        found.ended.set()
        server.shutdown()
        thread.join()
        server.server_close()


def losses(incoming: Incoming) -> list[str]:
    return [note.reason for tool in incoming.tools for note in tool.losses if note.field == "schema.$ref"]


def test_a_document_and_its_parts_are_fetched_once_each(site: Site) -> None:
    site.answers = {
        "/api.json": ROOT,
        "/parts/a.json": {"type": "array", "items": {"$ref": "../b.json#/B"}},
        "/b.json": {"B": {"type": "string"}},
    }
    incoming = site.read("/api.json")
    a, b = incoming.tools
    assert a.output_schema == {
        "type": "array",
        "items": {"$ref": "#/$defs/B"},
        "$defs": {"B": {"type": "string"}},
    }
    assert b.output_schema == {"type": "string"}
    assert a.source["url"] == f"{site.address}/v1"
    assert [path for path, _ in site.requests] == ["/api.json", "/parts/a.json", "/b.json"]


def test_credentials_and_query_are_neither_shown_nor_sent_elsewhere(site: Site) -> None:
    site.answers = {"/api.json": ROOT}
    address = site.address.replace("http://", "http://ann:geheim@")
    incoming = site.read(f"{address}/api.json?key=geheim")
    assert incoming.source == f"{site.address}/api.json"
    assert "geheim" not in repr(incoming)
    assert [path for path, _ in site.requests] == ["/api.json?key=geheim", "/parts/a.json", "/b.json"]
    with pytest.raises(UsageError) as error:
        site.read(f"{address}/missing.json?key=geheim")
    assert "geheim" not in str(error.value)
    assert "remote document is answered with status 404" in str(error.value)


def test_a_file_does_not_lead_into_a_private_network(site: Site, tmp_path: Path) -> None:
    document = openapi({"/a": get({"$ref": f"{site.address}/a.json"})})
    incoming = read(tmp_path, document, allow_remote=True)
    assert losses(incoming)[0].startswith("remote document is on a private network")
    assert not site.requests


def test_another_private_host_than_that_of_the_document_is_refused(site: Site) -> None:
    port = site.address.rpartition(":")[2]
    site.answers = {"/api.json": openapi({"/a": get({"$ref": f"http://localhost:{port}/a.json"})})}
    assert losses(site.read("/api.json"))[0].startswith("remote document is on a private network")
    assert len(site.requests) == 1


def test_a_file_may_refer_to_public_addresses(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PUBLIC, lambda ip: True)
    site.answers = {"/a.yaml": (200, {}, b"type: string")}
    document = openapi({"/a": get({"$ref": f"{site.address}/a.yaml"})})
    (tool,) = read(tmp_path, document, allow_remote=True).tools
    assert tool.output_schema == {"type": "string"}
    (tool,) = read(tmp_path, document).tools
    assert losses(read(tmp_path, document))[0].startswith("remote reference without --allow_remote")


def test_a_remote_document_does_not_refer_to_files(site: Site, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"type": "string"}')
    site.answers = {"/api.json": openapi({"/a": get({"$ref": f"file://{tmp_path}/a.json"})})}
    assert losses(site.read("/api.json"))[0].startswith("reference with a scheme other than http and https")


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("file:///etc/passwd", "is redirected to another scheme"),
        ("ftp://example.com/a", "is redirected to another scheme"),
        ("/api.json", "is redirected more than 5 times"),
        ("http://localhost/a", "is on a private network"),
    ],
)
def test_a_redirect_does_not_lead_everywhere(site: Site, target: str, message: str) -> None:
    site.answers = {"/api.json": (302, {"Location": target}, b"")}
    with pytest.raises(UsageError, match=message):
        site.read("/api.json")


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ((200, {}, b"\xff"), "is not UTF-8 text"),
        ((200, {}, b"{'"), "is not valid JSON"),
        ((200, {"Content-Length": "99"}, b"{}"), "cannot be fetched"),
        ((200, {}, b" " * 2_000_000), "is larger than 1 MiB"),
        ((200, {"Content-Length": "99", "X-Hang": "1"}, b"{"), "no complete answer within"),
    ],
)
def test_an_unusable_answer_is_one_line(
    site: Site, monkeypatch: pytest.MonkeyPatch, answer: Any, message: str
) -> None:
    monkeypatch.setattr(f"{REFERENCES}._MOST_REMOTE_BYTES", 2**20)
    monkeypatch.setattr(f"{REFERENCES}._MOST_SECONDS", 0.5)
    site.answers = {"/api.json": answer}
    with pytest.raises(UsageError, match=message):
        site.read("/api.json")


def test_an_address_is_fetched_only_if_allowed(site: Site) -> None:
    with pytest.raises(UsageError, match=r"is an address\. Fix: add --allow_remote"):
        IMPORTER.read(f"{site.address}/api.json", OpenApiOptions())
    assert not site.requests
