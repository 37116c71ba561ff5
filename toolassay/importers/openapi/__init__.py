"""OpenAPI 3.0, 3.1 (3.2 as 3.1) and Swagger 2.0 documents: one tool per operation.

Documents are walked as plain dictionaries. Of 80 published documents, openapi-pydantic rejects one as a whole
and prance 17, taking 82 s; jsonref replaces references by their targets, which ends only where nothing is
recursive, and 264 of 2,637 published documents are. Here a fault costs the part it is in, and a reference
stays a reference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolassay.console.screen import SILENT, Screen
from toolassay.extras import Option
from toolassay.importers.importer import Importer, Incoming


@dataclass(frozen=True)
class OpenApiOptions:
    """Options of the OpenAPI importer.

    Attributes:
        only: Tags and regular expressions; an operation that none of them matches is left out.
        without_deprecated: Whether deprecated operations are left out.
        allow_remote: Whether documents are fetched from http(s) addresses.
    """

    only: Sequence[str] = ()
    without_deprecated: bool = False
    allow_remote: bool = False


class OpenApiImporter(Importer):
    """Reads one document and the documents it refers to."""

    name = "openapi"
    title = "OpenAPI document"
    help = "Tools from an OpenAPI 3 or Swagger 2.0 document, one per operation."
    source_help = "A JSON or YAML file, or an http(s) address with --allow_remote."
    options = OpenApiOptions
    flags = (
        Option(
            "only",
            "Import operations with this tag, or whose operationId or 'METHOD /path' matches this regular "
            "expression; may be repeated.",
            metavar="TAG|REGEX",
            multiple=True,
        ),
        Option("without_deprecated", "Leave out deprecated operations.", type=bool),
        Option(
            "allow_remote",
            "Fetch SOURCE and the documents it refers to from http(s) addresses.",
            type=bool,
        ),
    )

    def read(self, source: str, options: OpenApiOptions, *, screen: Screen = SILENT) -> Incoming:
        """Read the operations of a document; see `Importer.read`."""
        from toolassay.importers.openapi.tools import read_tools

        return read_tools(source, options, screen)


IMPORTER = OpenApiImporter()
