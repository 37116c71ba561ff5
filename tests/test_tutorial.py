"""The tutorial runs as written and prints what it shows."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "tutorial.md").read_text(encoding="utf-8").partition("## 2. ")[2]
    blocks = re.findall(r"^```bash\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    script = 'set -e\ntoolassay() { "$PYTHON" -m toolassay "$@"; }\n' + "".join(blocks)
    done = subprocess.run(
        ["bash", "-c", script],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(root), "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    printed = {line.strip() for line in (done.stdout + done.stderr).splitlines()}
    shown = {line.strip() for line in re.findall(r"^    (.+)$", page, re.MULTILINE)} - {"…"}
    assert len(shown) > 15
    assert shown <= printed
    assert (tmp_path / "report" / "index.html").is_file()
