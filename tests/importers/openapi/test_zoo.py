"""Small documents, one per difficulty: the tools that each must give, all of their fields."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.support.running import is_the_same_in_every_process
from toolassay.importers.importer import Incoming, IncomingTool, Note, Skipped
from toolassay.importers.openapi import IMPORTER, OpenApiOptions

ZOO = Path(__file__).parent / "zoo"
NAMES = sorted(path.name.removesuffix(".tools.yaml") for path in ZOO.glob("*.tools.yaml"))


def document(name: str) -> Path:
    """The main file of a document of the zoo."""
    if (ZOO / name).is_dir():
        return ZOO / name / "openapi.yaml"
    return next(
        ZOO / f"{name}{ending}" for ending in (".yaml", ".json") if (ZOO / f"{name}{ending}").exists()
    )


def read(name: str) -> Incoming:
    return IMPORTER.read(str(document(name)), OpenApiOptions())


def plain(tool: IncomingTool) -> dict[str, Any]:
    """A tool as in the expectations, which leave out what is empty."""
    fields = {
        "name": tool.name,
        "further_names": tool.further_names,
        "description": tool.description,
        "tags": tool.tags,
        "input_schema": tool.input_schema,
        "output_schema": tool.output_schema,
        "source": tool.source,
        "losses": pairs(tool.losses),
        "warnings": pairs(tool.warnings),
    }
    return {key: value for key, value in fields.items() if value}


def pairs(notes: Sequence[Note | Skipped]) -> list[str]:
    return [": ".join(note) for note in notes]


@pytest.mark.parametrize("name", NAMES)
def test_a_document_of_the_zoo_gives_its_tools(name: str) -> None:
    incoming = read(name)
    expected = yaml.safe_load((ZOO / f"{name}.tools.yaml").read_text())
    assert [plain(tool) for tool in incoming.tools] == expected["tools"]
    assert pairs(incoming.skipped) == expected.get("skipped", [])
    assert pairs(incoming.notes) == expected.get("notes", [])


def test_the_order_of_everything_is_the_same_in_each_process() -> None:
    program = (
        "import sys; from toolassay.importers.openapi import IMPORTER, OpenApiOptions;"
        "print([IMPORTER.read(path, OpenApiOptions()) for path in sys.argv[1:]])"
    )
    assert is_the_same_in_every_process(program, *map(document, NAMES))
