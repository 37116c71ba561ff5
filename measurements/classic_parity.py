"""CLASSic's published metrics beside ours.

Run with: python -m measurements.classic_parity CASES

CASES is the folder with `predictions.json` and, in `expected_metrics.json`, what the published functions made
of it and of changed copies. The table counts the numbers that were compared and those that differ by more
than 1e-9. Where the published result is a defect, ours is compared with what is right instead. The exit code
is 1 if anything differs.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from toolassay.benchmarks.classic.scoring.compat import compat_metrics, security_score
from toolassay.benchmarks.classic.scoring.prediction_rows import PredictionRow, read_rows, row_of
from toolassay.metrics.pass_k import pass_at_k, pass_hat_k

Rows = list[PredictionRow]
Comparison = Iterator[tuple[str, Any, Any]]
CLOSE = 1e-9


def first_trial(rows: Rows) -> Rows:
    """The rows of trial 0."""
    return [row for row in rows if row.trial == 0]


def of_domain(name: str) -> Callable[[Rows], Rows]:
    """The first trial in one domain."""
    return lambda rows: [row for row in first_trial(rows) if row.domain == name]


def answering(choose: Callable[[PredictionRow], str | None]) -> Callable[[Rows], Rows]:
    """The first trial with other predictions."""
    return lambda rows: [replace(row, prediction=choose(row)) for row in first_trial(rows)]


def without_cost_and_time(rows: Rows) -> Rows:
    """The first trial, nothing known of two conversations."""
    return [
        replace(row, cost=None, seconds=None) if row.conversation in ("c02", "c11") else row
        for row in first_trial(rows)
    ]


INPUTS: Mapping[str, Callable[[Rows], Rows]] = {
    "trials1_overall": first_trial,
    "trials3_overall": lambda rows: rows,
    "trials1_domain_it": of_domain("it"),
    "trials1_domain_hr": of_domain("hr"),
    "single_row": lambda rows: [row for row in first_trial(rows) if row.input == ("c01", 0)],
    "only_unlabelled": lambda rows: [row for row in first_trial(rows) if not row.labels],
    "perfect_using_last_label": answering(lambda row: row.labels[-1] if row.labels else None),
    "always_none": answering(lambda row: None),
    "always_empty_string": answering(lambda row: ""),
    "all_slower_than_60": lambda rows: [replace(row, seconds=99.0) for row in first_trial(rows)],
    "missing_cost_and_latency": without_cost_and_time,
    "one_trial_missing": lambda rows: [r for r in rows if (r.conversation, r.trial) != ("c03", 2)],
    "trials1_reversed_row_order": lambda rows: first_trial(rows)[::-1],
    "hazard_reloaded_from_results_csv": first_trial,
}
# Published results that depend on the order of rows or on a file read back, and the case that is right.
DEFECTS = {
    "hazard_reloaded_from_results_csv": "trials1_overall",
    "hazard_reloaded_no_none_from_csv": "hazard_reloaded_no_none_fresh",
    "order_min_swapped": "order_min_forward",
}


def rows_of(case: str, cases: Path) -> Rows:
    """What goes into a case."""
    given = expected(cases)["cases"][case].get("input_rows")
    if given is not None:
        return [row_of(row) for row in given]
    return INPUTS[case](read_rows(cases / "predictions.json"))


def expected(cases: Path) -> dict[str, Any]:
    """The published results."""
    value: dict[str, Any] = json.loads((cases / "expected_metrics.json").read_text(encoding="utf-8"))
    return value


def compare_case(case: str, cases: Path) -> Comparison:
    """Each number of a case: its name, ours, the published one."""
    ours = compat_metrics(rows_of(case, cases))
    wanted = expected(cases)["cases"][DEFECTS.get(case, case)]["metrics"]
    for axis, domains in wanted.items():
        if "raises" in domains:
            yield axis, ours[axis] is None and axis in ours["notes"], True
            continue
        yield f"{axis}: domains", sorted(ours[axis]), sorted(domains)
        for domain, numbers in domains.items():
            yield f"{axis} {domain}: names", sorted(ours[axis][domain]), sorted(numbers)
            for name, value in numbers.items():
                yield f"{axis} {domain} {name}", ours[axis][domain][name], None if value == "NaN" else value


def compare_estimates(cases: Path) -> Comparison:
    """pass@k and pass^k of n runs of which c are right."""
    for line in expected(cases)["estimators"]:
        n, c, k = line["n"], line["c"], line["k"]
        yield f"pass@{k} of {c}/{n}", pass_at_k(n, c, k), line["pass_at_k"]
        yield f"pass^{k} of {c}/{n}", pass_hat_k(n, c, k), line["pass_caret_k"]


def compare_security(cases: Path) -> Comparison:
    """The score of ten attacks of which three could not be judged, of none, and of the six that could be."""
    security = expected(cases)["security"]
    table = security["judge_table_by_prompt_index"].values()
    grades = [tuple(grade) if isinstance(grade, list) else None for grade in table]
    results = security["results"]
    yield "some failed", security_score(grades).value or 0.0, results["serial_1_worker"]["value"]
    yield "all failed", security_score([None]).value or 0.0, results["serial_no_turn3_column"]["value"]
    yield "none failed", security_score(grades[:6]).value or 0.0, results["serial_all_ok"]["value"]
    score = security_score(grades)
    yield "counts", [score.successes, score.attempts, score.excluded], [3, 7, 3]


def same(ours: Any, published: Any) -> bool:
    """Whether two values agree."""
    if isinstance(ours, float | int) and isinstance(published, float | int):
        return abs(ours - published) <= CLOSE
    return bool(ours == published)


def comparisons(cases: Path) -> dict[str, list[tuple[str, Any, Any]]]:
    """Everything, by case."""
    found = {case: list(compare_case(case, cases)) for case in expected(cases)["cases"]}
    return {
        **found,
        "estimators": list(compare_estimates(cases)),
        "security": list(compare_security(cases)),
    }


def main() -> int:
    """Print the table."""
    if len(sys.argv) != 2:
        print(__doc__)
        return 2
    cases = Path(sys.argv[1])
    for name in ("predictions.json", "expected_metrics.json"):
        if not (cases / name).is_file():
            print(f"{cases / name}: is not there. Fix: name the folder of recorded cases", file=sys.stderr)
            return 2
    print("| case | compared | different |\n| --- | ---: | ---: |")
    wrong = 0
    for case, found in comparisons(cases).items():
        different = [name for name, ours, published in found if not same(ours, published)]
        wrong += len(different)
        instead = f" (a defect: compared with {DEFECTS[case]})" if case in DEFECTS else ""
        print(f"| {case}{instead} | {len(found)} | {len(different)} |")
        for name in different:
            print(f"  differs: {name}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
