"""How often the simulator and a real server agree on whether a plan runs.

    python -m measurements.simulated_outcomes FOLDER [FOLDER ...]

Each folder has an `executions.jsonl` of a real server. The same plans are executed by the simulator in a copy
of the folder. A plan counts if both ended in "ran" or "failed".
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

from toolassay import SILENT, execute
from toolassay.console.tables import Table
from toolassay.plans.execution_record import FILE, read_executions

_ENDS = ("ran", "failed")
_FILES = ("data.json", "tool_desc.json", "graph_desc.json", "benchmark.json")


def outcomes(folder: Path) -> dict[str, tuple[str, str]]:
    """Outcome and reason of each plan."""
    return {str(one.id): (one.outcome, one.reason) for one in read_executions(folder / FILE)}


def main(arguments: list[str]) -> int:
    """Print a table with one row per folder, and what the disagreements are about."""
    if not arguments:
        print(__doc__, file=sys.stderr)
        return 2
    rows, reasons = [], Counter[str]()
    for name in arguments:
        folder = Path(name)
        shown = folder.parent.name if folder.name == "data" else folder.name
        real = outcomes(folder)
        with tempfile.TemporaryDirectory() as place:
            for file in _FILES:
                if (folder / file).exists():
                    shutil.copy(folder / file, Path(place) / file)
            execute(place, executor="simulate", screen=SILENT)
            simulated = outcomes(Path(place))
        pairs = {key: (real[key], simulated[key]) for key in real if key in simulated}
        judged = {key: pair for key, pair in pairs.items() if all(one[0] in _ENDS for one in pair)}
        counts = Counter((one[0], other[0]) for one, other in judged.values())
        agreed = counts["ran", "ran"] + counts["failed", "failed"]
        share = f"{agreed / len(judged):.1%}" if judged else "-"
        numbers = [f"{counts[one, other]:,}" for one in _ENDS for other in _ENDS]
        rows.append((shown, f"{len(judged):,}", share, *numbers))
        for (one, why), (other, why_simulated) in judged.values():
            if one != other:
                what = f"real {one}, simulated {other}: {(why or why_simulated)[:90]}"
                reasons[f"{shown}: {what}"] += 1
    headings = ("folder", "plans", "agree", "both ran", "only real ran", "only simulated ran", "both failed")
    print(Table(headings, rows).markdown())
    for reason, count in reasons.most_common(12):
        print(f"{count:5,}  {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
