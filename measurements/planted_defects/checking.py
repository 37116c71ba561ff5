"""The one contact with the gates: `toolassay check`, as a process."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

Check = Callable[[Path, Path], None]


def toolassay_check(options: Sequence[str] = ()) -> Check:
    """A check of a folder that writes `gates.jsonl` into another, with these further options.

    Raises:
        RuntimeError: the command ended without it.
    """

    def check(folder: Path, out: Path) -> None:
        command = [sys.executable, "-m", "toolassay", "check", "--data_dir", str(folder), "--out", str(out)]
        done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 3) or not (out / "gates.jsonl").exists():
            raise RuntimeError(f"toolassay check ended with {done.returncode}: {done.stderr.strip()[-2000:]}")

    return check
