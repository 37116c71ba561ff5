"""A million requests through the whole path of inference: time and peak memory.

Run with: python -m measurements.million_items [ITEMS]

Requests are read, prompts rendered, a trivial registered model asked, answers journalled and written to
the ledger, and the prediction file derived; then the same command is given again, which finds everything
answered. Each is a process of its own, whose peak memory the operating system reports.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import EntryPoint
from pathlib import Path
from unittest.mock import patch

from toolassay import infer
from toolassay.models import ChatRequest, ChatResponse, ModelOptions

LIMIT = 300  # MB
PLAN = '{"task_steps": ["a"], "task_nodes": [{"task": "Tool", "arguments": ["x"]}], "task_links": []}'


class Trivial:
    """Answers everything with one plan."""

    name = "trivial"

    async def complete(self, request: ChatRequest) -> ChatResponse:
        """The one plan."""
        return ChatResponse(PLAN, prompt_tokens=100, completion_tokens=20)

    async def close(self) -> None:
        """Nothing to let go of."""


def create(name: str, options: ModelOptions) -> Trivial:
    """What the entry point names."""
    return Trivial()


def make_folder(folder: Path, items: int) -> None:
    """A data folder with one tool and many requests."""
    tool = {"id": "Tool", "desc": "Does it", "input-type": ["text"], "output-type": ["text"]}
    (folder / "tool_desc.json").write_text(json.dumps({"nodes": [tool]}))
    with (folder / "user_requests.json").open("w") as stream:
        for number in range(items):
            request = {"id": f"request-{number:08}", "user_request": f"Please do number {number}, with care."}
            stream.write(json.dumps(request) + "\n")


def one_run(folder: Path) -> None:
    """Answer what is not answered yet; says seconds and peak memory."""
    began = time.perf_counter()
    point = EntryPoint("trivial", "measurements.million_items:create", "toolassay.models")
    with patch("toolassay.models.registry.installed_entry_points", lambda group: [point]):
        inference = infer(folder, llm="trivial")
    seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"| {inference.written:,} | {inference.already:,} | {seconds:.0f} | {peak:.0f} MB |")
    if peak > LIMIT:
        sys.exit(f"over {LIMIT} MB")


def main() -> None:
    """Measure, in processes of their own."""
    if len(sys.argv) == 3:
        one_run(Path(sys.argv[2]))
        return
    items = int(sys.argv[1]) if len(sys.argv) == 2 else 1_000_000
    with tempfile.TemporaryDirectory() as name:
        make_folder(Path(name), items)
        print("| lines written | answered before | seconds | peak memory |", flush=True)
        print("| ---: | ---: | ---: | ---: |", flush=True)
        for _ in range(2):
            subprocess.run([sys.executable, "-m", "measurements.million_items", "run", name], check=True)


if __name__ == "__main__":
    main()
