"""A small model writes and judges requests around sampled tools: the loop and its outcomes, not quality.

`python tests/real_servers/install.py FOLDER qwen` installs it (1.1 GB). Then
`TOOLASSAY_SERVERS=FOLDER python -m pytest -m server tests/real_servers/test_qwen.py` runs this.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.real_servers.llama_cpp_server import QWEN, QWEN_RECIPE
from tests.real_servers.serving import Server
from tests.support.bench_bookings import bookings_folder
from tests.support.running import lines_of, started

pytestmark = [
    pytest.mark.server,
    pytest.mark.parametrize("server", [QWEN_RECIPE], indirect=True, ids=["qwen"], scope="module"),
]


def test_a_small_model_writes_around_seeds(server: Server, tmp_path: Path) -> None:
    folder = bookings_folder(tmp_path / "data")
    arguments: list[str | Path] = [
        "--data_dir",
        folder,
        "--llm",
        QWEN,
        "--api_base",
        server.base,
        "--seed",
        "1",
    ]
    arguments += ["--number_of_samples", "3", "--critic", QWEN, "--rewrite", "1", "--multiworker", "1"]
    process = started("generate", *arguments, cwd=tmp_path)
    _, err = process.communicate(timeout=1800)
    assert process.returncode in (0, 3), err
    assert "Traceback" not in err
    (journal,) = folder.rglob("journal.jsonl")
    ended = [line for line in lines_of(journal) if line.get("outcome")]
    assert len({line["key"] for line in ended}) == 3
    assert {line["outcome"] for line in ended} <= {"answered", "malformed", "declined", "refused"}
    for record in lines_of(folder / "data_raw.json") if (folder / "data_raw.json").exists() else ():
        assert record["follow"] == "seed" and record["executed"] == "simulated"
        assert record["result"]["user_request"].strip()
