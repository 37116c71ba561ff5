"""What servers say to a schema in a form that they do not take; llama.cpp's as its server sent it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from tests.support.builders import DATA
from toolassay.files.data_files import read_json
from toolassay.testkit import FakeServer

Complaint = Callable[[Mapping[str, Any]], tuple[int, Any] | None]

REFUSALS: dict[str, tuple[int, Any]] = {
    name: (status, body) for name, (status, body) in read_json(DATA / "refused_schemas.json").items()
}
LLAMA_CPP, LITELLM = REFUSALS["LLAMA_CPP"], REFUSALS["LITELLM"]


def taking(*forms: str, refusal: tuple[int, Any] = LLAMA_CPP) -> Complaint:
    """A server that takes a `response_format` of these types and refuses others."""

    def complaint(body: Mapping[str, Any]) -> tuple[int, Any] | None:
        given = body.get("response_format")
        return None if given is None or given["type"] in forms else refusal

    return complaint


def asked_forms(server: FakeServer) -> list[str | None]:
    """The type of `response_format` in each request that a server received."""
    return [request.body.get("response_format", {}).get("type") for request in server.received]
