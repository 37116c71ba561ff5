"""Inference over a small folder, asked of a real server."""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.real_servers.serving import Server
from tests.support.running import ROOT, Finished, lines_of, started, write_lines

REQUESTS = 12
DATA = ROOT / "data_huggingface"


@dataclass(frozen=True)
class Job:
    """Inference over a folder, asked of a server."""

    server: Server
    folder: Path

    @property
    def run(self) -> Path:
        """The folder of the run."""
        return self.folder / "data/predictions/runs/tiny"

    def arguments(self, *more: str | Path) -> list[str | Path]:
        """The flags of inference."""
        where = ("--api_base", self.server.base, "--extra_body", "extra.json")
        return ["--data_dir", "data", "--llm", self.server.recipe.model, *where, *more]

    def start(self, *more: str | Path, key: str | None = None) -> subprocess.Popen[str]:
        """Begin it."""
        key = key if key is not None else self.server.recipe.key or ""
        return started("infer", *self.arguments(*more), cwd=self.folder, OPENAI_API_KEY=key)

    def infer(self, *more: str | Path, key: str | None = None, seconds: float = 120) -> Finished:
        """Run it to its end, for so many seconds at most."""
        process = self.start(*more, key=key)
        out, err = process.communicate(timeout=seconds)
        return Finished(process.returncode, out, err)


def add_request(job: Job, text: str) -> str:
    """Put one more request into the folder; its id."""
    path = job.folder / "data/user_requests.json"
    write_lines(path, [*lines_of(path), {"id": "added", "user_request": text}])
    return "added"
