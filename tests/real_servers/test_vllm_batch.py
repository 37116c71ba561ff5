"""vLLM's run_batch answers the file of `--batch vllm`, and refuses a prompt that is too long.

`python tests/real_servers/install.py FOLDER vllm` installs it. Then
`TOOLASSAY_SERVERS=FOLDER python -m pytest -m server tests/real_servers/test_vllm_batch.py` runs this test.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.real_servers.conftest import home_of
from tests.real_servers.serving import Place, make_tiny_model
from tests.real_servers.tiny_model import CONTEXT
from tests.real_servers.vllm_server import RECIPE
from tests.support.builders import data_folder
from tests.support.running import lines_of, shell

pytestmark = pytest.mark.server


def test_a_file_is_answered(tmp_path: Path) -> None:
    home = home_of("vllm")
    place = Place(home, tmp_path, 0)
    make_tiny_model(place)
    folder = data_folder(tmp_path / "data", 4)
    requests = lines_of(folder / "user_requests.json")
    requests[2]["user_request"] = "word " * CONTEXT
    (folder / "user_requests.json").write_text("".join(json.dumps(one) + "\n" for one in requests))
    arguments = ("--data_dir", "data", "--llm", "tiny", "--batch", "vllm", "--max_tokens", "24")
    done = shell("infer", *arguments, cwd=tmp_path)
    assert done.code == 3, done.err
    said = next(line for line in done.err.splitlines() if "run_batch" in line)
    command = [place.python, *shlex.split(said)[1:], "--dtype", "float32", "--enforce-eager"]
    small = ["--max-model-len", str(CONTEXT), "--max-num-seqs", "8", "--gpu-memory-utilization", "0.3"]
    environment = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [*command, *small],
        cwd=tmp_path,
        env={**environment, **RECIPE.environment, "HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    done = shell("infer", *arguments, cwd=tmp_path)
    assert done.code == 3 and "1 context overflow, 3 malformed" in done.out, done.out + done.err
    ledger = lines_of(folder / "predictions/runs/tiny/ledger.jsonl")
    answers = [line for line in ledger if line["outcome"] == "answered"]
    assert len(answers) == 3
    assert {(line["completion_tokens"], line["seconds"]) for line in answers} == {(24, None)}
    assert all(line["prompt_tokens"] > 100 for line in answers)
