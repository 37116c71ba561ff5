"""Scoring beside the published way of scoring, on the same predictions, in one run.

Run with: python -m measurements.evaluation_speed CASE [COPIES]

CASE is a folder with `data.json`, `tool_desc.json` and `predictions/*.json`. It is copied COPIES times
(default 11) with new ids; in one form a made-up word in every step and text argument keeps anything from
repeating, in the other everything does. "Published way" is written for this comparison, as TaskBench's
evaluator works: for each of 14 groups the files are parsed anew, the F1s computed by scikit-learn from
indicator matrices, and every pair of steps scored by `rouge-score` with its bootstrap. Each way is a
process of its own, ours the whole command `toolassay evaluate`, the median of ten, also on one core; CPU
seconds hold the start of Python and what was imported, for a busy machine gives a process less than the cores
it shows.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Plan = dict[str, Any]
_RUNS = 5  # before the rival and after it
METRICS = ("f1", "ed", "link", "argument", "rouge")
GROUPS = [(split, "overall") for split in ("overall", "single", "chain", "dag")]
GROUPS += [("overall", str(size)) for size in range(1, 11)]
KEYS = {
    "node_micro_f1_no_matching": 1e-9,
    "link_binary_f1": 1e-9,
    "argument_task_argname_binary_f1_no_matching": 1e-9,
    "argument_task_argname_value_binary_f1_no_matching": 1e-9,
    "edit_distance": 1e-9,
    "step_rouge1": 1e-2,  # the published number is the median of an unseeded bootstrap
    "step_rougeL": 1e-2,
}


def make_folder(case: Path, folder: Path, copies: int, *, repeated: bool) -> int:
    """Copies of a case with new ids; how many labels."""
    (folder / "predictions").mkdir(parents=True)
    (folder / "tool_desc.json").write_bytes((case / "tool_desc.json").read_bytes())
    (predictions,) = (case / "predictions").glob("*.json")
    pairs = ((case / "data.json", folder / "data.json"), (predictions, folder / "predictions" / "m.json"))
    total = 0
    for source, target in pairs:
        lines = source.read_text().splitlines()
        total = total or len(lines) * copies
        with target.open("w") as stream:
            for copy in range(copies):
                for number, line in enumerate(lines):
                    item = json.loads(line)
                    item["id"] = f"{item['id']}-{copy}"
                    if not repeated:
                        _mark(item.get("result", item), f"w{copy}x{number}")
                    stream.write(json.dumps(item) + "\n")
    return total


def _mark(plan: Plan, word: str) -> None:
    """Put a made-up word into every step and every argument that is plain text."""
    steps = plan.get("task_steps")
    if isinstance(steps, list):
        plan["task_steps"] = [f"{step} {word}" if isinstance(step, str) else step for step in steps]
    for node in plan.get("task_nodes") or []:
        arguments = node.get("arguments") if isinstance(node, dict) else None
        if isinstance(arguments, list):
            node["arguments"] = [
                f"{one} {word}" if isinstance(one, str) and "." not in one and "<" not in one else one
                for one in arguments
            ]


# The published way.


def published(folder: Path) -> dict[str, Any]:
    """Score 14 groups one after the other, each from the files; seconds spent in rouge-score beside."""
    in_rouge = 0.0
    results: dict[str, Any] = {}
    for split, size in GROUPS:
        tools = [tool["id"] for tool in json.loads((folder / "tool_desc.json").read_text())["nodes"]]
        types = {
            tool["id"]: (tool.get("output-type") or ["none"])[0]
            for tool in json.loads((folder / "tool_desc.json").read_text())["nodes"]
        }
        labels = {}
        for line in (folder / "data.json").read_text().splitlines():
            label = json.loads(line)
            fits = split in ("overall", label["type"]) and size in ("overall", str(len(label["task_nodes"])))
            if fits:
                labels[label["id"]] = label
        predictions = {}
        for line in (folder / "predictions" / "m.json").read_text().splitlines():
            prediction = json.loads(line)
            predictions[prediction["id"]] = prediction["result"]
        pairs = []
        last: list[tuple[str, str]] = []
        for key in [key for key in labels if key in predictions]:
            try:
                pairs.append((_read(labels[key], types, last), _read(predictions[key], types, last)))
            except (KeyError, TypeError, ValueError, IndexError, AttributeError):
                continue
        if not pairs:
            continue
        scores, seconds = _group(pairs, tools)
        results[f"{split}_{size}"] = scores
        in_rouge += seconds
    return {"groups": results, "rouge_seconds": in_rouge}


def _read(plan: Plan, types: Mapping[str, str], last: list[tuple[str, str]]) -> dict[str, Any]:
    """A plan as sets to be compared; `last` is the argument converted last, which stands in for bad ones."""
    names = [node["task"].replace("_", " ") for node in plan["task_nodes"]]
    arguments, links = [], []
    for place, node in enumerate(plan["task_nodes"]):
        for argument in node.get("arguments", []):
            try:
                text = next(iter(argument.values())) if isinstance(argument, dict) else argument
                text = " ".join(text) if isinstance(text, list) else text
                if "<node-" in text:
                    source = int(text[text.index("<node-") + 6 : text.index(">")])
                    if source == place:
                        continue
                    links.append(f"{names[source]} - {node['task']}")
                    last[:] = [(types.get(names[source], "other"), names[source])]
                else:
                    last[:] = [(_kind(text), text)]
            except (TypeError, ValueError, IndexError, StopIteration):
                pass
            arguments.append((names[place], *last[0]))
    return {
        "steps": _steps(plan["task_steps"]),
        "names": names,
        "types": [f"{name}-{kind}" for name, kind, _ in arguments],
        "values": [f"{name}-{kind}-{value}" for name, kind, value in arguments],
        "links": links,
    }


def _steps(steps: Any) -> str:
    try:
        if isinstance(steps[0], str):
            return "\n".join(steps)
        key = next((key for key in ("task", "step", "id", "step_name") if key in steps[0]), "description")
        return "\n".join(step[key] for step in steps)
    except (TypeError, KeyError, IndexError):
        return str(steps)


_ENDINGS = {
    "image": ("jpg", "png", "jpeg", "gif", "bmp", "tiff", "svg", "ico"),
    "audio": ("mp3", "wav", "wma", "ogg", "aac", "flac", "aiff", "au"),
    "video": ("mp4", "avi", "mov", "flv", "wmv", "mkv", "webm", "m4v", "mpg", "mpeg"),
}


def _kind(text: str) -> str:
    for kind, endings in _ENDINGS.items():
        for ending in endings:
            if f".{ending}" in text:
                return kind
    return "text"


def _group(pairs: list[tuple[Plan, Plan]], tools: list[str]) -> tuple[dict[str, float], float]:
    import numpy as np
    from rapidfuzz.distance import Indel
    from rouge_score.rouge_scorer import RougeScorer
    from rouge_score.scoring import BootstrapAggregator
    from sklearn.metrics import precision_recall_fscore_support
    from sklearn.preprocessing import MultiLabelBinarizer

    started = time.perf_counter()
    scorer = RougeScorer(["rouge1", "rouge2", "rougeL", "rougeLsum"], use_stemmer=False)
    aggregator = BootstrapAggregator()
    for gold, predicted in pairs:
        aggregator.add_scores(scorer.score(gold["steps"], predicted["steps"]))
    aggregated = aggregator.aggregate()
    seconds = time.perf_counter() - started
    scores = {f"step_{name}": float(value.mid.fmeasure) for name, value in aggregated.items()}
    known = {tool: number for number, tool in enumerate(tools)}
    binarizer = MultiLabelBinarizer(classes=tools)
    gold_names = [[name for name in gold["names"] if name in known] for gold, _ in pairs]
    predicted_names = [[name for name in predicted["names"] if name in known] for _, predicted in pairs]
    wanted = binarizer.fit_transform(gold_names)
    given = binarizer.transform(predicted_names)
    for average in ("micro", "macro", None):
        found = precision_recall_fscore_support(wanted, given, average=average, zero_division=0)
        if average == "micro":
            scores["node_micro_f1_no_matching"] = float(found[2])
    for key, part in (
        ("argument_task_argname_binary_f1_no_matching", "types"),
        ("argument_task_argname_value_binary_f1_no_matching", "values"),
        ("link_binary_f1", "links"),
    ):
        in_gold, in_predicted = [], []
        for gold, predicted in pairs:
            for element in set(gold[part]) | set(predicted[part]):
                in_gold.append(element in gold[part])
                in_predicted.append(element in predicted[part])
        scores[key] = 0.0
        if in_gold:
            found = precision_recall_fscore_support(in_gold, in_predicted, average="binary", zero_division=0)
            scores[key] = float(found[2])
    ratios = [
        Indel.normalized_similarity(
            [known.get(name, -1) for name in gold["names"]],
            [known.get(name, -1) for name in predicted["names"]],
        )
        for gold, predicted in pairs
    ]
    scores["edit_distance"] = 1 - float(np.mean(ratios))
    return scores, seconds


# Our way.


def ours(folder: Path) -> dict[str, Any]:
    """The whole command: the same groups, strict with intervals beside compat; both files and the table."""
    from contextlib import redirect_stdout

    from toolassay.cli.main import cli, run

    command = ["evaluate", "--data_dir", str(folder), "--llm", "m", "--dependency_type", "resource"]
    command += ["--splits", "all", "--n_tools", "all"]
    command += [word for name in METRICS for word in ("--metric", name)]
    with redirect_stdout(sys.stderr):
        if run(cli, command, "toolassay"):
            raise SystemExit(1)
    return {"groups": json.loads((folder / "metrics" / "m.json").read_text())}


WAYS: dict[str, Callable[[Path], dict[str, Any]]] = {"published": published, "ours": ours}


def one_run(way: str, folder: Path) -> None:
    """Score; say seconds, megabytes and the numbers."""
    began = time.perf_counter()
    result = WAYS[way](folder)
    seconds = time.perf_counter() - began
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    peak = max(usage.ru_maxrss for usage in usages) / 1024
    cpu = sum(usage.ru_utime + usage.ru_stime for usage in usages)
    print(json.dumps({**result, "seconds": seconds, "cpu": cpu, "megabytes": peak}))


def measured(way: str, folder: Path, *, one_core: bool = False) -> dict[str, Any]:
    """A run in a process of its own."""
    import subprocess  # late, as in `main`: what a run imports counts

    command = [sys.executable, "-m", "measurements.evaluation_speed", "--one", way, str(folder)]
    if one_core:
        command = ["taskset", "-c", str(min(os.sched_getaffinity(0))), *command]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    result: dict[str, Any] = json.loads(output.splitlines()[-1])
    return result


def differences(one: Mapping[str, Any], two: Mapping[str, Any]) -> list[str]:
    """Numbers of the published way that ours does not give."""
    return [
        f"{group} {key}: {scores[key]} and {two[group][key]}"
        for group, scores in one.items()
        for key, tolerance in KEYS.items()
        if abs(scores[key] - two[group][key]) > tolerance
    ]


def main(case: Path, copies: int) -> int:
    """Measure every way on both forms, print the table, compare the numbers."""
    import statistics
    import tempfile

    print("| predictions | way | seconds | in rouge-score | CPU seconds | times as fast | by CPU | peak |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    wrong: list[str] = []
    for form in ("all different", "repeated"):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name) / "case"
            total = make_folder(case, folder, copies, repeated=form == "repeated")
            # A processor shared with others changes its speed within minutes: half of our runs are before
            # the rival's, half after it, and their median counts.
            runs = _our_runs(folder)
            rival = measured("published", folder)
            runs += _our_runs(folder)
            share = rival["rouge_seconds"] / rival["seconds"]
            _row(f"{total:,}, {form}", "published", rival, f"{share:.0%}", rival)
            keys = ("seconds", "cpu", "megabytes")
            for way, on_one_core in (("ours", False), ("ours, one core", True)):
                own = [run for one_core, run in runs if one_core == on_one_core]
                wrong += differences(rival["groups"], own[0]["groups"])
                _row("", way, {key: statistics.median(run[key] for run in own) for key in keys}, "0%", rival)
    for line in wrong[:5]:
        print(f"not the same: {line}", file=sys.stderr)
    return 1 if wrong else 0


def _our_runs(folder: Path) -> list[tuple[bool, dict[str, Any]]]:
    """Whether on one core, and the run."""
    return [(one_core, measured("ours", folder, one_core=one_core)) for one_core in (False, True) * _RUNS]


def _row(what: str, way: str, run: Mapping[str, Any], share: str, rival: Mapping[str, Any]) -> None:
    ratio, by_cpu = rival["seconds"] / run["seconds"], rival["cpu"] / run["cpu"]
    print(
        f"| {what} | {way} | {run['seconds']:.2f} | {share} | {run['cpu']:.2f} | {ratio:.1f} | {by_cpu:.1f} "
        f"| {run['megabytes']:,.0f} MB |",
        flush=True,
    )


if __name__ == "__main__":
    if sys.argv[1:2] == ["--one"]:
        one_run(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) < 2:
        sys.exit(__doc__)
    else:
        sys.exit(main(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 11))
