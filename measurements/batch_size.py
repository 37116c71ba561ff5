"""Time, memory and file sizes of a run with `--batch openai`, against a server that answers at once.

    python -m measurements.batch_size [--requests 10000 50000] [--data data_huggingface]

The requests are those of the data folder, over and over. The server is the fake one, in this process; the
client is a process of its own, whose peak memory is printed. Fails unless every request has one answer.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from toolassay.files.data_files import read_json_lines, write_json_lines
from toolassay.testkit import FakeServer

ROOT = Path(__file__).resolve().parents[1]


def measure(place: Path, data: Path, requests: int) -> None:
    """Run a batch of so many requests and print what it took."""
    folder = place / f"data{requests}"
    folder.mkdir()
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        shutil.copy(data / name, folder / name)
    known = [line.value for line in read_json_lines(data / "user_requests.json")]
    texts = itertools.islice(itertools.cycle(known), requests)
    lines = [{**one, "id": str(number)} for number, one in enumerate(texts)]
    write_json_lines(folder / "user_requests.json", lines)
    server = FakeServer()
    server.start()
    began = time.perf_counter()
    command = [sys.executable, "-m", "toolassay", "infer", "--data_dir", str(folder), "--quiet"]
    process = subprocess.Popen(
        [*command, "--batch", "openai", "--api_base", server.base], cwd=ROOT, stdout=subprocess.DEVNULL
    )
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - began
    batches, files = server.batches.batches, server.batches.files
    sent = sum(len(file.content) for file in files if file.facts["purpose"] == "batch") / 1e6
    came = sum(len(file.content) for file in files if file.facts["purpose"] != "batch") / 1e6
    server.stop()
    answered = sum(1 for _ in (folder / "predictions/gpt-4.json").open("rb"))
    print(
        f"| {requests:,} | {len(batches)} | {seconds:.0f} | {used.ru_utime + used.ru_stime:.0f} "
        f"| {used.ru_maxrss / 1e3:,.0f} MB | {sent:.0f} MB | {came:.0f} MB |",
        flush=True,
    )
    if status or answered != requests or sum(batch.completed for batch in batches) != requests:
        sys.exit("not every request has one answer")


def main() -> None:
    """Measure each size."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--requests", type=int, nargs="+", default=[10_000, 50_000])
    parser.add_argument("--data", type=Path, default=ROOT / "data_huggingface")
    asked = parser.parse_args()
    print("| requests | batches | seconds | CPU seconds of the client | peak memory | sent | read |")
    print(f"|{' ---: |' * 7}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for requests in asked.requests:
            measure(Path(name), asked.data, requests)


if __name__ == "__main__":
    main()
