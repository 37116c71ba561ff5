"""Files of other projects ship unchanged, with their licences."""

from __future__ import annotations

import hashlib
import re
import tomllib
from pathlib import Path


def test_every_vendored_script_is_as_it_was_published(root: Path) -> None:
    folder = root / "toolassay" / "reports" / "vendor"
    listed = dict(
        re.findall(
            r"^(\S+\.(?:js|css)): .*?^SHA-256: ([0-9a-f]{64})$",
            (folder / "README.txt").read_text(),
            re.M | re.S,
        )
    )
    assert listed == {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in [*folder.glob("*.js"), *folder.glob("*.css")]
    }


def test_every_licence_is_a_licence_file_of_the_package(root: Path) -> None:
    globs = tomllib.loads((root / "pyproject.toml").read_text())["project"]["license-files"]
    covered = {path for glob in globs for path in root.glob(glob)}
    licences = set((root / "toolassay").rglob("*LICENSE*"))
    assert {path.name for path in licences} == {
        "chart.LICENSE.txt",
        "currencies.LICENSE.txt",
        "cytoscape.LICENSE.txt",
        "cytoscape-dagre.LICENSE.txt",
        "dagre.LICENSE.txt",
        "tabulator.LICENSE.txt",
    }
    assert covered == {root / "LICENSE", *licences}
