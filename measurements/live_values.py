"""Values from a live server: which tools accept a call, which links are removed, and which gold plans run.

    python -m measurements.live_values OUT WORKSPACE SERVER [--good FILE] [--samples 60] [--seed 1]

SERVER is a command line with `{workspace}` for a copy of WORKSPACE. FILE lists links that are right, as JSON:
`[[source, target], …]`. Printed: accepted tools, calls, removed links, those of FILE among them, plans that
ran, and the tools and links that they cover.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from toolassay.files import read_json, read_json_lines


def main(arguments: list[str]) -> int:
    """Measure one server."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path)
    parser.add_argument("workspace", type=Path)
    parser.add_argument("server")
    parser.add_argument("--good", type=Path)
    parser.add_argument("--samples", default="60")
    parser.add_argument("--seed", default="1")
    given = parser.parse_args(arguments)
    shutil.rmtree(given.out, ignore_errors=True)
    data = ["--data_dir", str(given.out)]
    live = [
        "--server",
        given.server,
        "--workspace",
        str(given.workspace),
        "--fresh",
        "worker",
        "--allow_writes",
    ]
    command("import", "mcp", given.server.replace("{workspace}", str(given.workspace)), *data)
    command("graph", *data)
    before = read_json(given.out / "graph_desc.json")["links"]
    source = ["--llm", "offline", "--number_of_samples", given.samples, "--seed", given.seed]
    said = command("generate", *data, *source, "--values_from", "mcp", *live)
    command("format", *data)
    command("execute", *data, "--executor", "mcp", *live)
    tools = [node["id"] for node in read_json(given.out / "tool_desc.json")["nodes"]]
    accepted = read_json(given.out / "benchmark.json")["values_from"]["unusable"]
    edits = given.out / "graph_edits.json"
    removed = {
        (one["source"], one["target"]): one.get("note", "")
        for one in (read_json(edits)["edits"] if edits.exists() else [])
    }
    good = {(source, target) for source, target in read_json(given.good)} if given.good else set()
    executions = [line.value for line in read_json_lines(given.out / "executions.jsonl")]
    ran = [one for one in executions if one["outcome"] == "ran"]
    used = {call["tool"] for one in ran for call in one["calls"]}
    labels = [line.value for line in read_json_lines(given.out / "data.json")]
    linked = {(link["source"], link["target"]) for one in labels for link in one["task_links"]}
    print(said)
    print(f"tools accepted {len(tools) - len(accepted)} of {len(tools)}; not: {', '.join(accepted) or '-'}")
    print(f"links {len(before)}; removed {len(removed)}; right ones removed {len(good & removed.keys())}")
    for pair, note in removed.items():
        print(f"  {'RIGHT ' if pair in good else ''}{' -> '.join(pair)}: {note}")
    print(f"plans that ran {len(ran)} of {len(executions)}; covered: {len(used)} tools, {len(linked)} links")
    for reason, count in Counter(one.get("reason") for one in executions if one["outcome"] != "ran").items():
        print(f"  {count} x {reason}")
    return 0


def command(*words: str) -> str:
    """Run a command of toolassay; what it wrote to stderr. Ends the measurement if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", "toolassay", *words], capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{words[0]}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stderr


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
