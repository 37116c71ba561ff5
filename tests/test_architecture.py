"""Files are chapters. That imports run one way is in test_contracts.py."""

from __future__ import annotations

from pathlib import Path


def test_no_module_is_too_long_to_read_in_one_sitting(root: Path) -> None:
    long = {
        str(path.relative_to(root)): lines
        for path in (root / "toolassay").rglob("*.py")
        if (lines := len(path.read_text(encoding="utf-8").splitlines())) > 700
    }
    assert not long
