"""The offline agent on data_workbench: the requests as bundled and the same tasks in other words.

    python -m measurements.workbench_reworded [--out FOLDER]

`data_workbench/reworded.jsonl` has 100 requests, one or two of each template, reworded by a large language
model that had not read the rules of the agent. Sandbox, ground truth and judge are the same. Intervals are
95 %; tasks of one template are drawn together. `--out` keeps the two data folders.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from toolassay import evaluate, infer

DATA = Path(__file__).resolve().parent.parent / "data_workbench"


def read_lines(path: Path) -> list[dict[str, Any]]:
    """The objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def write_folder(path: Path, requests: dict[str, str], *, reworded: bool) -> None:
    """Write a data folder with the tasks of `requests`, in their bundled or in their reworded form."""
    path.mkdir(parents=True)
    for name in ("benchmark.json", "sandbox.sqlite"):
        shutil.copy(DATA / name, path / name)
    with (path / "tasks.jsonl").open("w", encoding="utf-8") as stream:
        for task in read_lines(DATA / "tasks.jsonl"):
            if task["id"] in requests:
                query = requests[task["id"]] if reworded else task["query"]
                stream.write(json.dumps({**task, "query": query}, ensure_ascii=False) + "\n")


def measure(path: Path) -> tuple[str, list[str], list[str]]:
    """Run the offline agent on a folder.

    Returns:
        The figures as cells of the table; the ids of the tasks that are not strictly correct; those with
        unwanted side effects.
    """
    infer(path, llm="offline")
    evaluation = evaluate(path, llm="offline")
    strict = json.loads(evaluation.path.read_text(encoding="utf-8"))["overall_overall"]["strict"]
    items = read_lines(evaluation.path.with_suffix(".items.jsonl"))
    wrong = [item["id"] for item in items if item["scores"]["correct"] < 1]
    unwanted = [item["id"] for item in items if item["scores"]["no_side_effects"] < 1]
    assert (strict["correct"], strict["side_effects"]) == (len(items) - len(wrong), len(unwanted)), strict
    cells = [
        f"{100 * bounds['value']:.1f} [{100 * bounds['low']:.1f}, {100 * bounds['high']:.1f}]"
        for bounds in (strict["intervals"]["accuracy"], strict["intervals"]["side_effects"])
    ]
    return f"{strict['correct']} of {strict['n']} | {cells[0]} | {cells[1]}", wrong, unwanted


def main() -> None:
    """Print the table and the ids of what failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--out", type=Path, help="a new folder for the two data folders")
    arguments = parser.parse_args()
    requests = {row["id"]: row["request"] for row in read_lines(DATA / "reworded.jsonl")}
    with tempfile.TemporaryDirectory() as temporary:
        out = arguments.out or Path(temporary)
        lists = []
        print("| requests | right, strictly | % [95 %] | unwanted side effects, % [95 %] |")
        print("| --- | ---: | ---: | ---: |")
        for name in ("bundled", "reworded"):
            write_folder(out / name, requests, reworded=name == "reworded")
            figures, wrong, unwanted = measure(out / name)
            print(f"| {name} | {figures} |")
            lists += [f"{name}, wrong: {' '.join(wrong)}", f"{name}, side effects: {' '.join(unwanted)}"]
    print("\n".join(lists), file=sys.stderr)


if __name__ == "__main__":
    main()
