"""Finds the operations of a document and those that `--only` names."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from toolassay.importers.importer import Skipped
from toolassay.importers.openapi.references import Node, SchemaReferences, UnresolvedError, shown

METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
# Characters: what model services accept as the name of a function.
_LONGEST_NAME = 64
_PATH_KEYS = {"$ref", "parameters", "summary", "description", "servers", "additionalOperations"}


class Operation(NamedTuple):
    """An operation and its path item, which may be several objects in several documents.

    Attributes:
        method: Upper case.
        path: As in the document.
        node: The operation object.
        items: The path item, and what its `$ref` leads to.
    """

    method: str
    path: str
    node: Node
    items: Sequence[Node]

    @property
    def operation_id(self) -> str:
        """Empty if there is none."""
        return self.node.text("operationId")

    @property
    def is_deprecated(self) -> bool:
        """Whether the document says so."""
        return self.node.value.get("deprecated") is True

    @property
    def tags(self) -> list[str]:
        """The tags that are texts."""
        tags = self.node.value.get("tags")
        return [tag for tag in tags if isinstance(tag, str)] if isinstance(tags, list) else []


class Operations:
    """The operations of a document, in its order.

    Args:
        root: The main document's root.
        references: Resolves the references of path items.

    Attributes:
        skipped: What is no operation.
    """

    def __init__(self, root: dict[str, Any], references: SchemaReferences) -> None:
        self._root = root
        self._references = references
        self.skipped: list[Skipped] = []

    def __iter__(self) -> Iterator[Operation]:
        paths = self._root.get("paths")
        if not isinstance(paths, dict):
            if paths is not None:
                self._skip("paths", "is not an object")
            return
        for path, value in paths.items():
            if path.startswith("x-") or value is None:
                continue
            if not isinstance(value, dict):
                self._skip(path, "is not an object")
                continue
            yield from self._of_path(path, self._items(path, Node(value, self._references.main)))

    def _of_path(self, path: str, items: list[Node]) -> Iterator[Operation]:
        methods: set[str] = set()
        for item in items:
            additional = item.value.get("additionalOperations")  # OpenAPI 3.2
            further = additional.items() if isinstance(additional, dict) else ()
            standard = [(key, value) for key, value in item.value.items() if key in METHODS]
            for key, value in (*standard, *further):
                method = key.upper()
                if method in methods:
                    continue
                methods.add(method)
                if isinstance(value, dict):
                    yield Operation(method, path, Node(value, item.document), items)
                else:
                    self._skip(f"{method} {path}", "is not an object")
            for key in item.value:
                if key not in METHODS and key not in _PATH_KEYS and not key.startswith("x-"):
                    self._skip(f"{key} {path}", "is not a method of OpenAPI")

    def _items(self, path: str, item: Node) -> list[Node]:
        """A path item, and what its `$ref` leads to."""
        if not isinstance(reference := item.value.get("$ref"), str):
            return [item]
        try:
            target = self._references.follow(item)
        except UnresolvedError as error:
            self._skip(path, f"{error}: {shown(reference)}")
            return [item]
        if isinstance(target.value, dict):
            return [item, target]
        self._skip(path, f"reference to what is not a path item: {shown(reference)}")
        return [item]

    def _skip(self, where: str, reason: str) -> None:
        self.skipped.append(Skipped(where[:300], reason))


class OperationSelection:
    """The operations that `--only` names.

    Args:
        only: Tags and regular expressions; empty for all operations.
    """

    def __init__(self, only: Sequence[str]) -> None:
        self._tags = {text.casefold() for text in only}
        self._patterns = []
        for text in only:
            try:
                self._patterns.append(re.compile(text))
            except re.error:  # a tag, or a part of a path
                self._patterns.append(re.compile(re.escape(text)))

    def matches(self, operation: Operation) -> bool:
        """Whether the operation has a tag of them, or its id or 'METHOD /path' matches one."""
        if not self._tags or self._tags & {tag.casefold() for tag in operation.tags}:
            return True
        texts = (operation.operation_id, f"{operation.method} {operation.path}")
        return any(pattern.search(text) for pattern in self._patterns for text in texts)


def built_name(method: str, path: str) -> str:
    """A name for an operation that depends on nothing else in the document, of at most 64 characters.

    >>> built_name("GET", "/pets/{petId}/toys")
    'get_pets_petId_toys'
    """
    # Matches "/", "}/" and "-"; not "_".
    words = re.sub(r"[^A-Za-z0-9_]+", "_", path).strip("_")
    name = f"{method.lower()}_{words or 'root'}"
    letters = sum(character.isalnum() for character in path)
    # Of a path in Chinese, nothing that could be read would be left.
    is_readable = sum(character.isalnum() for character in words) >= letters / 2
    if len(name) <= _LONGEST_NAME and is_readable:
        return name
    return hashed_name(name, method, path)


def hashed_name(name: str, method: str, path: str) -> str:
    """A built name that no other operation has: `/a-b` and `/a_b` give the same."""
    digest = hashlib.sha256(f"{method.upper()} {path}".encode(errors="replace")).hexdigest()[:6]
    return f"{name[: _LONGEST_NAME - 7]}_{digest}"
