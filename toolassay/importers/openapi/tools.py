"""Tools from the operations of a document."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Any
from urllib.parse import urljoin

from toolassay.console.screen import Screen
from toolassay.console.text_formatting import count_of
from toolassay.errors import UsageError
from toolassay.files.data_files import rare_cycle_search
from toolassay.importers.importer import Incoming, IncomingTool, Note, Schema, Skipped
from toolassay.importers.openapi.arguments import ArgumentReader, Arguments
from toolassay.importers.openapi.operations import (
    Operation,
    Operations,
    OperationSelection,
    built_name,
    hashed_name,
)
from toolassay.importers.openapi.references import Document, Node, SchemaReferences, without_secrets
from toolassay.importers.openapi.schemas import Direction, Piece, Schemas, loosened, measured, read_response
from toolassay.importers.tool_lists import other_kind
from toolassay.tools.argument_schemas import with_subschemas

# JSON values in the schemas of all tools together, and the bounds of the share of one tool: Microsoft Graph
# has 20,000 operations, most of which reach most of its 5,000 schemas.
_ALL_VALUES = 1_000_000
_FEWEST_VALUES = 300
_MOST_VALUES = 10_000
_ALL_FEWEST = 3_000_000  # from 20,000 operations on, the lower bound sinks
# Characters of a document's title in the ids of its tools, cut at a hyphen.
_LONGEST_TITLE = 32


@dataclass(slots=True)
class _Draft:
    """A tool without its definitions."""

    operation: Operation
    arguments: Arguments
    output: Piece | None
    response: dict[str, str]
    losses: list[Note]


def read_tools(source: str, options: Any, screen: Screen) -> Incoming:
    """One tool per operation; `options` are `OpenApiOptions`.

    A tool's description is the operation's summary and, below it, its description.

    Raises:
        UsageError: The document cannot be read, is no OpenAPI document, or `only` matches no operation of it.
    """
    with rare_cycle_search():
        references = SchemaReferences.read(source, allow_remote=options.allow_remote)
        return _Import(references, screen).read(options)


class _Import:
    def __init__(self, references: SchemaReferences, screen: Screen) -> None:
        self._references = references
        self._main = references.main
        self._root: dict[str, Any] = _checked_root(self._main, references.shown)
        version = str(self._root.get("swagger") or self._root.get("openapi"))
        self._is_swagger = "swagger" in self._root
        has_siblings = not (self._is_swagger or version.startswith("3.0"))
        self._schemas = Schemas(references, has_siblings=has_siblings)
        self._arguments = ArgumentReader(self._schemas, self._root)
        self._screen = screen
        self._skipped: list[Skipped] = []
        self._notes: dict[Note, None] = dict.fromkeys(self._arguments.notes)
        info = self._root.get("info")
        about = Node(info if isinstance(info, dict) else {}, self._main)
        title = about.value.get("title")
        self._service = "\n\n".join(filter(None, (about.text("title"), about.text("description"))))
        self._share = _MOST_VALUES  # JSON values in the schemas of a tool
        self._server = slug(title if isinstance(title, str) else "") or slug(self._main.name) or "api"

    def read(self, options: Any) -> Incoming:
        operations = self._chosen(Operations(self._root, self._references), options)
        count = max(1, len(operations))
        share = max(_ALL_VALUES // count, min(_FEWEST_VALUES, _ALL_FEWEST // count))
        self._share = min(_MOST_VALUES, share)
        drafts: list[_Draft] = []
        tools: list[IncomingTool] = []
        with self._screen.progress("Reading operations", 2 * len(operations)) as advance:
            for operation in operations:
                losses: dict[Note, None] = {}
                arguments = self._arguments.read(operation, losses)
                output, response = read_response(operation, self._schemas, self._root, losses)
                if len(self._servers(operation)) > 1:
                    losses[Note("servers", "only the first is kept")] = None
                drafts.append(_Draft(operation, arguments, output, response, list(losses)))
                advance()
            self._schemas.finish(
                {
                    "request": (draft.arguments.piece for draft in drafts),
                    "response": (draft.output for draft in drafts if draft.output),
                }
            )
            for draft in drafts:
                tools.append(self._tool(draft))
                advance()
        return Incoming(tools, self._references.shown, self._skipped, (), list(self._notes), self._service)

    def _chosen(self, operations: Operations, options: Any) -> list[Operation]:
        """The operations that the options leave."""
        all_operations = list(operations)
        kept_operations = [
            operation
            for operation in all_operations
            if not (options.without_deprecated and operation.is_deprecated)
        ]
        chosen = [*filter(OperationSelection(options.only).matches, kept_operations)]
        self._skipped += operations.skipped
        if deprecated := len(all_operations) - len(kept_operations):
            reason = f"{count_of(deprecated, 'deprecated operation')} left out as requested"
            self._notes[Note("paths", reason)] = None
        if options.only and kept_operations and not chosen:
            raise UsageError(
                f"--only matches none of {count_of(len(kept_operations), 'operation')}",
                file=self._references.shown,
                fix="use a tag, or a pattern of operationId or 'METHOD /path'",
            )
        if options.only and (unwanted := len(kept_operations) - len(chosen)):
            self._notes[Note("paths", f"{count_of(unwanted, 'operation')} not matched by --only")] = None
        return chosen

    def _servers(self, operation: Operation) -> list[Any]:
        """The servers of the operation, or else of its path, or else of the document."""
        for node in (operation.node, *operation.items, Node(self._root, self._main)):
            servers = node.value.get("servers")
            if isinstance(servers, list) and servers:
                return servers
        return []

    def _url(self, operation: Operation) -> str:
        """The base address of an operation; empty if the document names none."""
        if self._is_swagger:
            schemes = operation.node.value.get("schemes") or self._root.get("schemes") or ["https"]
            scheme = "https" if not isinstance(schemes, list) or "https" in schemes else str(schemes[0])
            host = self._root.get("host")
            base = self._root.get("basePath")
            base = base if isinstance(base, str) else ""
            return self._absolute(f"{scheme}://{host}{base}" if isinstance(host, str) and host else base)
        servers = self._servers(operation)
        server = servers[0] if servers and isinstance(servers[0], dict) else {}
        url = server.get("url")
        if not isinstance(url, str):
            return self._absolute("")
        variables = server.get("variables")
        for name, variable in variables.items() if isinstance(variables, dict) else ():
            if isinstance(variable, dict) and isinstance(variable.get("default"), str | int | float):
                url = url.replace(f"{{{name}}}", str(variable["default"]))
        return self._absolute(url)

    def _absolute(self, url: str) -> str:
        """An address that is relative to the document's, without secrets."""
        if isinstance(self._main.location, str):
            try:
                url = urljoin(self._main.location, url)
            except ValueError:  # e.g. "http://["
                return ""
        return without_secrets(url)

    def _tool(self, draft: _Draft) -> IncomingTool:
        operation = draft.operation
        arguments = draft.arguments
        share = self._share
        losses = dict.fromkeys(draft.losses)
        input_schema, values = self._bundled(
            arguments.piece, "input_schema", "request", share - (share // 4 if draft.output else 0), losses
        )
        output_schema = None
        if draft.output:
            output_schema, _ = self._bundled(
                draft.output, "output_schema", "response", max(share // 4, share - values), losses
            )
        built = built_name(operation.method, operation.path)
        others = dict.fromkeys((built, hashed_name(built, operation.method, operation.path)))
        name = operation.operation_id or built
        source: dict[str, Any] = {"method": operation.method, "path": operation.path}
        if operation.operation_id:
            source["operation_id"] = operation.operation_id
        source["server"] = self._server
        if url := self._url(operation):
            source["url"] = url
        source["arguments"] = arguments.places
        source |= arguments.source
        if draft.response:
            source["response"] = draft.response
        if operation.is_deprecated:
            source["deprecated"] = True
        return IncomingTool(
            name=name,
            description=_description(operation),
            input_schema=input_schema,
            output_schema=output_schema,
            tags=operation.tags,
            source=source,
            further_names=[other for other in others if other != name],
            losses=list(losses),
            warnings=arguments.warnings,
        )

    def _bundled(
        self, piece: Piece, field: str, direction: Direction, most_values: int, losses: dict[Note, None]
    ) -> tuple[Schema, int]:
        """A schema with the definitions it needs, and its number of JSON values."""
        is_cut = piece.values > most_values
        if is_cut:
            piece = measured(loosened(with_subschemas(piece.schema, lambda subschema, _: {})), piece.losses)
        bundle = self._schemas.bundle(piece.refs, direction, most_values - piece.values)
        root = piece.schema
        if bundle.cut and not is_cut:
            root = loosened(root)
        if is_cut or bundle.cut:
            what = count_of(len(bundle.cut), "definition") if bundle.cut else "inner schemas"
            example = f", e.g. {bundle.cut[0]}" if bundle.cut else ""
            reason = f"schemas of more than {self._share:,} values: {what} left open{example}"
            losses[Note(field, reason)] = None
        losses.update(dict.fromkeys(sorted(piece.losses | bundle.losses)))
        if not isinstance(root, dict):
            root = {} if root is True else {"not": {}}
        if bundle.definitions:
            root = {**root, "$defs": bundle.definitions}
        return root, piece.values + bundle.values


def _checked_root(document: Document, shown: str) -> dict[str, Any]:
    root = document.value
    if not isinstance(root, dict) or not ("openapi" in root or "swagger" in root):
        kind = other_kind(root, "openapi")
        raise UsageError(
            "is not an OpenAPI document: it has neither 'openapi' nor 'swagger'",
            file=shown,
            fix=f"use toolassay import {kind}" if kind else "name the main file of the document",
        )
    version = str(root.get("swagger") or root.get("openapi"))
    # Matches "2", "2.0", "3.0.3" and "3.1"; not "1.2" and "30".
    if not re.match(r"2(\.0)?$" if "swagger" in root else r"3(\.\d+)*(-.*)?$", version):
        raise UsageError(
            f"has the version '{version[:20]}'; supported are Swagger 2.0 and OpenAPI 3",
            file=shown,
            fix="convert it to OpenAPI 3",
        )
    return root


def slug(title: str) -> str:
    """A short identifier of ASCII letters, digits and hyphens.

    >>> slug("Café Orders API (v2)")
    'cafe-orders-api-v2'
    """
    text = unicodedata.normalize("NFKD", title[:200]).encode("ascii", "ignore").decode().lower()
    text = re.sub(r"[^a-z0-9]+", "-", text).strip("-")
    if len(text) > _LONGEST_TITLE:
        text = text[: _LONGEST_TITLE + 1].rpartition("-")[0] or text[:_LONGEST_TITLE]
    return text


def _description(operation: Operation) -> str:
    """Summary and description, of the operation or else of its path."""
    for node in (operation.node, *operation.items):
        summary, description = node.text("summary"), node.text("description")
        if summary or description:
            if description.startswith(summary.rstrip(".…")):
                return description
            return f"{summary}\n{description}".strip()
    return ""
