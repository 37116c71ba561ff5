"""The tools of a folder in the forms of model services, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.running import inside
from toolassay.exporters.exported_tools import TOOL_FORMS
from toolassay.files.data_files import write_json

NODES = [
    {
        "id": "rooms.find",
        "desc": "Finds free rooms.",
        "parameters": [{"name": "day", "type": "date", "desc": "When."}],
        "input_schema": {
            "type": "object",
            "properties": {"day": {"type": "string", "format": "date", "description": "When."}},
            "required": ["day"],
        },
        "output_schema": {"type": "object", "properties": {"room": {"type": "integer"}}},
        "annotations": {"readOnlyHint": True},
        "tags": ["rooms"],
        "source": {"kind": "mcp", "name": "rooms.find", "server": "hotel"},
    }
]


@pytest.fixture
def hotel(tmp_path: Path) -> Path:
    write_json(tmp_path / "hotel" / "tool_desc.json", {"nodes": NODES})
    return tmp_path / "hotel"


def exported(hotel: Path, form: str, *more: str) -> tuple[Any, dict[str, Any]]:
    out = hotel.parent / f"{form}.json"
    assert inside("export", "--data_dir", hotel, "--to", f"tools-{form}", "--out", out, *more).code == 0
    return json.loads(out.read_text()), json.loads(Path(f"{out}.report.json").read_text())


@pytest.mark.parametrize("form", [form for form in TOOL_FORMS if form != "taskbench"])
def test_an_import_of_the_export_differs_only_in_what_was_lost(hotel: Path, form: str) -> None:
    _, report = exported(hotel, form)
    back = hotel.parent / "back"
    assert inside("import", form, hotel.parent / f"{form}.json", "--data_dir", back).code == 0
    (node,) = json.loads((back / "tool_desc.json").read_text())["nodes"]
    lost = {loss["field"].partition(".")[0] for loss in report["losses"]}
    differing = {key for key in NODES[0] if node.get(key) != NODES[0][key]} - {"source"}
    assert differing <= lost | ({"id"} if "name" in lost else set())


def test_a_file_of_other_content_is_not_replaced(hotel: Path) -> None:
    (hotel.parent / "openai.json").write_text("mine")
    arguments = ("export", "--data_dir", hotel, "--to", "tools-openai", "--out", hotel.parent / "openai.json")
    done = inside(*arguments)
    assert (done.code, "already exists with other content" in done.error) == (2, True)
    assert inside(*arguments, "--force").code == 0
    assert inside(*arguments).code == 0  # the same content
    own = inside(*arguments[:-1], hotel / "tool_desc.json", "--force")
    assert (own.code, "would replace a file of their folder" in own.error) == (2, True)
    assert json.loads((hotel / "tool_desc.json").read_text()) == {"nodes": NODES}
