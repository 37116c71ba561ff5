"""The example of docs/gates.md is what comes out."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from toolassay import check


def test_the_example_of_the_page(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "gates.md").read_text(encoding="utf-8")
    labels, gates = re.findall(r"```json lines\n(.*?)```", page, re.DOTALL)
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(root / "data_multimedia" / name, tmp_path)
    (tmp_path / "data.json").write_text(labels, encoding="utf-8")
    check(tmp_path, out=tmp_path / "checked", gates=("schema", "wiring", "grounding", "leak"))
    assert (tmp_path / "checked" / "gates.jsonl").read_text(encoding="utf-8") == gates
