"""WorkBench's published verdicts, returns and states beside ours, and what strict says instead.

Run with: python -m measurements.workbench_parity CASES

CASES is the published folder (`processed/`, `raw/`, `results/`) with what the published program made of it:
`expected_verdicts.jsonl`, `expected_metrics.json`, `expected_tool_calls.jsonl`, `expected_edge_cases.jsonl`
and `expected_truth_diffs.jsonl`. The first table counts what was compared and what differs, the second
explains each strict verdict that is another one than the published. The exit code is 1 if anything differs.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.workbench.calls import Replay
from toolassay.benchmarks.workbench.judge.result_verdicts import CompatJudge, CompatVerdict, result_files
from toolassay.benchmarks.workbench.judge.strict import StrictJudge, StrictVerdict
from toolassay.benchmarks.workbench.sandbox import Sandbox
from toolassay.benchmarks.workbench.tasks import read_tasks
from toolassay.benchmarks.workbench.workplace_stages import METRICS, VERDICTS, evaluate_results

Comparison = Iterator[tuple[str, bool]]
FOLDER = "results/"
# How long the published evaluator took, and counts of calls, which say nothing of the runs.
NOT_COMPARED = ("calculate_metrics_seconds", "x_")


def lines(path: Path) -> list[Any]:
    """The values of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


@functools.cache
def evaluated(cases: Path) -> tuple[list[Any], dict[str, Any]]:
    """What our evaluation writes: the verdicts, and the metrics."""
    with tempfile.TemporaryDirectory() as out:
        evaluate_results(cases, cases / "results", out=out)
        metrics_text = (Path(out) / METRICS).read_text(encoding="utf-8")
        return lines(Path(out) / VERDICTS), json.loads(metrics_text)


def verdicts(cases: Path) -> Comparison:
    """Each verdict, by its fields."""
    ours = {(FOLDER + line["file"], line["row"]): line for line in evaluated(cases)[0]}
    for expected in lines(cases / "expected_verdicts.jsonl"):
        place = expected["file"], expected["row"]
        fields = ours[place].keys() - {"file"}
        yield f"{place}", all(ours[place][name] == expected[name] for name in fields)


def metrics(cases: Path) -> Comparison:
    """Each metric of each file."""
    ours = evaluated(cases)[1]
    for name, expected in json.loads((cases / "expected_metrics.json").read_text(encoding="utf-8")).items():
        for key, value in expected.items():
            if not key.startswith(NOT_COMPARED):
                yield f"{name} {key}", ours[name.removeprefix(FOLDER)][key] == value


def tool_returns(cases: Path) -> Comparison:
    """What each call returned, or that it failed."""
    sandbox = Sandbox.load(cases)
    replayed = Replay(sandbox)
    for run in lines(cases / "expected_tool_calls.jsonl"):
        done, _ = replayed.of([call["call"] for call in run["calls"]])
        for expected, call in zip(run["calls"], done, strict=True):
            if "exc" in expected or "exc" in call:
                yield call["call"], "exc" in expected and "exc" in call
            else:
                text = json.dumps(call["ret"], sort_keys=True)
                yield call["call"], hashlib.sha256(text.encode()).hexdigest() == expected["ret_sha256"]


def edge_cases(cases: Path) -> Comparison:
    """The returns and the state changes of each sequence."""
    sandbox = Sandbox.load(cases)
    replayed = Replay(sandbox)
    for expected in lines(cases / "expected_edge_cases.jsonl"):
        done, changes = replayed.of([call["call"] for call in expected["calls"]])
        yield f"{expected['calls']}", as_json(changes) == expected["state_changes"]
        for call, wanted in zip(done, expected["calls"], strict=True):
            failed = "exc" in call
            yield call["call"], failed == ("exc" in wanted) and (failed or call["ret"] == wanted["ret"])


def truth_differences(cases: Path) -> Comparison:
    """The returns and the state changes of each ground truth."""
    sandbox = Sandbox.load(cases)
    replayed = Replay(sandbox)
    for expected in lines(cases / "expected_truth_diffs.jsonl"):
        done, changes = replayed.of(expected["actions"])
        returns = [call.get("ret") for call in done]
        yield expected["query"], (returns, as_json(changes)) == (expected["rets"], expected["state_changes"])


def as_json(value: Any) -> Any:
    """A value as it is after writing and reading it."""
    return json.loads(json.dumps(value))


CHECKS: dict[str, Callable[[Path], Comparison]] = {
    "verdicts": verdicts,
    "metrics": metrics,
    "tool returns": tool_returns,
    "edge cases (sequences and calls)": edge_cases,
    "ground truths": truth_differences,
}


UNFINISHED = "some of the wanted changes and no other: compat counts them as a side effect"
BESIDE = "the wanted state but for what compat does not compare (numbers, times)"
ORDER = "the wanted changes in another order, or under other labels, or mail that replaced other mail"
REVERSED = "changed and changed back, under other labels"


def disagreement(compat: CompatVerdict, strict: StrictVerdict) -> str | None:
    """Why the two verdicts on one run differ; None if they agree.

    Returns:
        One of `UNFINISHED`, `BESIDE`, `ORDER` and `REVERSED`.
    """
    if (compat.correct, compat.side_effects) == (strict.correct, strict.side_effects):
        return None
    if strict.unwanted:
        return BESIDE
    if strict.missing:
        return UNFINISHED if compat.side_effects else BESIDE
    return ORDER if strict.wanted_count else REVERSED


def disagreements(cases: Path, results: str = "results") -> Counter[str]:
    """How many strict verdicts on the results in a folder differ from the published ones, by the reason."""
    sandbox = Sandbox.load(cases)
    tasks = {task.query: task for task in read_tasks(cases)}
    compat, strict = CompatJudge(sandbox), StrictJudge(sandbox)
    found: Counter[str] = Counter()
    for file in result_files(cases / results):
        for result in file.read():
            answer = tasks[result.query].answer
            reason = disagreement(
                compat.verdict(result.calls, answer, error=result.error),
                strict.verdict(result.calls, answer, error=result.error),
            )
            found[reason or "the same"] += 1
    return found


def main() -> int:
    """Print the tables."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    cases = Path(sys.argv[1])
    print("| what | compared | different |\n| --- | ---: | ---: |")
    wrong = 0
    for name, check in CHECKS.items():
        same = [fits for _, fits in check(cases)]
        wrong += same.count(False)
        print(f"| {name} | {len(same):,} | {same.count(False):,} |")
    print("\n| strict beside compat | runs |\n| --- | ---: |")
    for reason, count in disagreements(cases).most_common():
        print(f"| {reason} | {count:,} |")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
