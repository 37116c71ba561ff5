"""What is imported of a document: `--only`, `--without_deprecated`, and which documents are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.openapi_documents import openapi, read
from toolassay.errors import UsageError
from toolassay.importers.openapi.operations import METHODS, built_name

PATHS = {
    "/books": {
        "get": {"operationId": "searchBooks", "tags": ["Search"]},
        "post": {"operationId": "addBook", "tags": ["C++ (old)"]},
    },
    "/books/{id}": {"delete": {"operationId": "removeBook", "deprecated": True}},
}


def ids(folder: Path, **options: Any) -> list[str]:
    return [tool.name for tool in read(folder, openapi(PATHS), **options).tools]


@pytest.mark.parametrize(
    ("only", "names"),
    [
        (["search"], ["searchBooks"]),  # the tag, whatever its case
        (["Sear"], []),
        (["^add"], ["addBook"]),
        (["^DELETE /books/"], ["removeBook"]),
        (["c++ (OLD)"], ["addBook"]),  # a tag, though no regular expression
        (["search", "^remove"], ["searchBooks", "removeBook"]),
    ],
)
def test_only_takes_tags_and_patterns(tmp_path: Path, only: list[str], names: list[str]) -> None:
    if not names:
        with pytest.raises(UsageError, match="--only matches none of 3 operations"):
            ids(tmp_path, only=only)
    else:
        assert ids(tmp_path, only=only) == names


def test_deprecated_operations_are_kept_unless_they_are_not_wanted(tmp_path: Path) -> None:
    assert ids(tmp_path) == ["searchBooks", "addBook", "removeBook"]
    incoming = read(tmp_path, openapi(PATHS), without_deprecated=True)
    assert [tool.name for tool in incoming.tools] == ["searchBooks", "addBook"]
    assert ("paths", "1 deprecated operation left out as requested") in incoming.notes


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("[]", "is not an OpenAPI document"),
        ('{"swagger": "1.2"}', "has the version '1.2'"),
        ('{"openapi": "4.0.0"}', "has the version '4.0.0'"),
        ('{"openapi": null}', "has the version 'None'"),
        ('{"asyncapi": "3.0.0"}', "is not an OpenAPI document"),
        ("just text", "is not an OpenAPI document"),
    ],
)
def test_another_document_is_refused(tmp_path: Path, document: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        read(tmp_path, document)


@given(st.sampled_from(METHODS), st.text(max_size=300))
def test_a_built_name_is_a_valid_identifier_whatever_the_path(method: str, path: str) -> None:
    name = built_name(method, path)
    assert len(name) <= 64
    assert name.replace("_", "").isalnum() and name.isascii()
    assert name == built_name(method.upper(), path)


@pytest.mark.parametrize(
    ("path", "described", "names"),
    [
        ("/{id}", ["id"], ["id"]),
        ("/{+name}:{verb*}", [], ["name", "verb"]),
        ("/a{.format}", [".format"], [".format"]),
        ("/a{.format}", ["format"], ["format"]),
        ("/{}/{a/b}", [], []),
    ],
)
def test_parameters_of_a_path_are_found(
    tmp_path: Path, path: str, described: list[str], names: list[str]
) -> None:
    parameters = [{"name": name, "in": "path", "schema": {"type": "string"}} for name in described]
    (tool,) = read(tmp_path, openapi({path: {"get": {"parameters": parameters}}})).tools
    assert list(tool.input_schema["properties"]) == names
    assert len(tool.warnings) == len(names) - len(described)
