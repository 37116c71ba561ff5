"""The result of an operation: the schema of its first success, and the choice among media types."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from toolassay.importers.importer import Note
from toolassay.importers.openapi.converted import Piece
from toolassay.importers.openapi.operations import Operation
from toolassay.importers.openapi.references import Node, UnresolvedError, shown
from toolassay.importers.openapi.schemas import Schemas


class ResponseReader:
    """Reads responses.

    Args:
        schemas: Converts schemas.
        root: The main document's root.
    """

    def __init__(self, schemas: Schemas, root: Mapping[str, Any]) -> None:
        self._schemas = schemas
        self._root = root

    def read(self, operation: Operation, losses: dict[Note, None]) -> tuple[Piece | None, dict[str, str]]:
        """The schema of the first success that has one, and its status and media type."""
        responses = operation.node.value.get("responses")
        if not isinstance(responses, dict):
            return None, {}
        statuses = [status for status in responses if not status.startswith("x-")]
        successes = sorted((one for one in statuses if one.startswith("2")), key=_status_order)
        if statuses == ["default"]:
            successes = statuses
        chosen: Piece | None = None
        response: dict[str, str] = {}
        for status in successes:
            chosen, response = self._success(status, responses[status], operation, losses)
            if chosen:
                break
        return chosen, response

    def _success(
        self, status: str, raw: Any, operation: Operation, losses: dict[Note, None]
    ) -> tuple[Piece | None, dict[str, str]]:
        try:
            node = self._schemas.references.follow(Node(raw, operation.node.document))
        except UnresolvedError as error:
            losses[Note(f"responses.{status[:80]}", f"{error}: {shown(raw.get('$ref'))}")] = None
            return None, {}
        value = node.value
        if not isinstance(value, dict):
            return None, {}
        content = value.get("content")
        if "schema" in value and "content" not in value:  # Swagger 2.0
            types = declared_media_types(operation, self._root, "produces") or ["application/json"]
            content = {one: {"schema": value["schema"]} for one in types}
        content = content if isinstance(content, dict) else {}
        with_schema = {
            key: media for key, media in content.items() if isinstance(media, dict) and "schema" in media
        }
        if not with_schema:
            return None, {}
        media_type, _ = chosen_media_type(with_schema)
        lose_media_types(losses, f"responses.{status}", [one for one in content if one != media_type])
        piece = self._schemas.piece(Node(with_schema[media_type]["schema"], node.document), "response")
        piece = self._opened(piece)
        description = value.get("description")
        text = description.strip() if isinstance(description, str) else ""
        if isinstance(piece.schema, dict) and text and "description" not in piece.schema:
            schema = {"description": text, **piece.schema}
            piece = replace(piece, schema=schema, values=piece.values + 1)
        return piece, {"status": status, "media_type": media_type}

    def _opened(self, piece: Piece) -> Piece:
        """A schema that is only a reference as the definition it refers to, which says more to a reader."""
        for _ in range(5):
            if not isinstance(piece.schema, dict) or piece.schema.keys() != {"$ref"}:
                break
            definition = self._schemas.definition(piece.refs[0], "response")
            piece = replace(definition, losses=piece.losses | definition.losses)
        return piece


def lose_media_types(losses: dict[Note, None], where: str, media_types: Iterable[str]) -> None:
    """Note the media types that are not kept."""
    for one in media_types:
        losses[Note(f"{where}.{one[:80]}", "only one media type is kept")] = None


def declared_media_types(operation: Operation, root: Mapping[str, Any], key: str) -> list[str]:
    """Swagger's `consumes` or `produces` of an operation, or else of its document."""
    found = operation.node.value.get(key, root.get(key))
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []


def chosen_media_type(content: Mapping[str, Any]) -> tuple[str, list[str]]:
    """The media type that is kept, JSON if there is one, and the others."""

    def order(media_type: str) -> tuple[bool, int]:
        plain = media_type.partition(";")[0].strip().lower()
        ranks = (
            plain == "application/json" and plain == media_type,
            plain == "application/json",
            plain.endswith("+json"),
            "json" in plain,
            plain == "application/x-www-form-urlencoded",
            plain.startswith("multipart/"),
            plain == "*/*",
            True,
        )
        media = content[media_type]
        return not (isinstance(media, dict) and "schema" in media), ranks.index(True)

    chosen = min(content, key=order)
    return chosen, [one for one in content if one != chosen]


def _status_order(status: str) -> tuple[bool, bool, bool, str]:
    """200, 201, other numbers, then `2XX`."""
    return status != "200", status != "201", not status.isdecimal(), status
