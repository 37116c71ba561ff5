"""OpenAPI 3.0, 3.1 (3.2 as 3.1) and Swagger 2.0 documents: one tool per operation.

Documents are walked as plain dictionaries. Of 80 published documents, openapi-pydantic rejects one as a whole
and prance 17, taking 82 s; jsonref replaces references by their targets, which ends only where nothing is
recursive, and 264 of 2,637 published documents are. Here a fault costs the part it is in, and a reference
stays a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from toolassay.console.screen import SILENT, Screen
from toolassay.declarations import Option
from toolassay.importers.importer import Importer, Incoming


@dataclass(frozen=True)
class OpenApiOptions:
    """Options of the OpenAPI importer."""

    only: Annotated[
        Sequence[str],
        Option(
            "Import operations with this tag, or whose operationId or 'METHOD /path' matches this regular "
            "expression.",
            metavar="TAG|REGEX",
        ),
    ] = ()
    without_deprecated: Annotated[bool, Option("Leave out deprecated operations.")] = False
    allow_remote: Annotated[
        bool, Option("Fetch SOURCE and the documents it refers to from http(s) addresses.")
    ] = False


class OpenApiImporter(Importer):
    """Reads one document and the documents it refers to."""

    name = "openapi"
    title = "OpenAPI document"
    help = "Tools from an OpenAPI 3 or Swagger 2.0 document, one per operation."
    source_help = "A JSON or YAML file, or an http(s) address with --allow_remote."
    options = OpenApiOptions

    def read(self, source: str, options: OpenApiOptions, *, screen: Screen = SILENT) -> Incoming:
        """Read the operations of a document; see `Importer.read`."""
        from toolassay.importers.openapi.tools import read_tools

        return read_tools(source, options, screen)


IMPORTER = OpenApiImporter()
