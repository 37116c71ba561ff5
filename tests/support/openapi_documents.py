"""Builds OpenAPI documents for tests."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from toolassay.importers.importer import Incoming
from toolassay.importers.openapi import IMPORTER, OpenApiOptions


def openapi(paths: Mapping[str, Any], **rest: Any) -> dict[str, Any]:
    """A document of OpenAPI 3.0."""
    return {"openapi": "3.0.3", "info": {"title": "Test", "version": "1"}, "paths": paths, **rest}


def get(schema: Any, **rest: Any) -> dict[str, Any]:
    """A path item with a GET whose result has this schema."""
    content = {"application/json": {"schema": schema}}
    return {"get": {"responses": {"200": {"description": "", "content": content}}, **rest}}


def post(schema: Any, **rest: Any) -> dict[str, Any]:
    """A path item with a POST whose body has this schema."""
    return {
        "post": {
            "requestBody": {"required": True, "content": {"application/json": {"schema": schema}}},
            **rest,
        }
    }


def schema_ref(name: str) -> dict[str, str]:
    """A reference to a schema of the document."""
    return {"$ref": f"#/components/schemas/{name}"}


def read(folder: Path, document: Any, **options: Any) -> Incoming:
    """The import of a document that is written to `folder`; a text is written as it is."""
    path = folder / "openapi.json"
    path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
    return IMPORTER.read(str(path), OpenApiOptions(**options))
