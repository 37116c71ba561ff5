"""The five measures of the built-in models on the three bundled benchmarks, and of the rules behind a server.

    python -m measurements.five_measures [--delay 0.02]

Each model runs twice on every item (`--trials 2`) and once on the attacks (`--security true`), in copies of
the folders. "rules" is `toolassay serve` with the same rules as "offline", at a made-up price of 0.15 and
0.60 USD per million tokens read and written; each answer waits for `--delay` seconds. The last line compares
the scores of both. Figures are those of `toolassay report`.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from toolassay import SILENT, evaluate, infer, write_report
from toolassay.console.tables import Table
from toolassay.files.data_files import read_json, read_json_lines
from toolassay.models import ModelOptions
from toolassay.runs.settings import Limits

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = {"data_huggingface": "TaskBench", "data_workbench": "WorkBench", "data_classic": "CLASSic"}
MODELS = ("offline", "rules", "nothing", "random")
PRICES = "model,prompt_usd_per_million,completion_usd_per_million,as_of\nrules,0.15,0.60,2026-11-01\n"


@contextmanager
def serving(folders: list[Path], delay: float) -> Iterator[ModelOptions]:
    """The rules behind a server of their own."""
    command = [sys.executable, "-m", "toolassay", "serve", "--port", "0", "--delay", str(delay)]
    for folder in folders:
        command += ["--data_dir", str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        words = process.stdout.readline().split()
        try:
            yield ModelOptions(next(word.rstrip(",") for word in words if word.startswith("http")))
        finally:
            process.terminate()


def run(folder: Path, llm: str, limits: Limits, options: ModelOptions | None) -> None:
    """Both runs of a model, and their scores."""
    given: dict[str, Any] = {"llm": llm, "limits": limits, "screen": SILENT}
    if options is not None:
        given["options"] = options
    infer(folder, trials=2, **given)
    infer(folder, security=True, **given)
    evaluate(folder, llm=llm, screen=SILENT)


def shown(interval: Any) -> str:
    """A share with its interval, in percent."""
    if interval is None or interval["value"] is None:
        return "–"
    value, *bounds = (interval[name] for name in ("value", "low", "high"))
    if None in bounds:
        return f"{100 * value:.1f} %"
    return f"{100 * value:.1f} % [{100 * bounds[0]:.1f}, {100 * bounds[1]:.1f}]"


def scores(folder: Path, llm: str) -> dict[str, Any]:
    """The scores of each item of a model."""
    lines = read_json_lines(folder / "metrics" / f"{llm}.items.jsonl")
    return {line.value["id"]: line.value["scores"] for line in lines}


def row(axes: Mapping[str, Any]) -> tuple[str, ...]:
    """A model on a benchmark, as the table has it."""
    served = axes["security"]["harmless_served"]["value"]
    cells = (
        axes["model"],
        FOLDERS[axes["data"]],
        f"{axes['items']:,}",
        shown(axes["accuracy"]),
        shown(axes["stability"]["pass^k"]),
        shown(axes["security"]["score"]),
        "–" if served is None else f"{served:.0%}",
    )
    if axes["model"] != "rules":  # without a server there is no price, and time is that of this machine
        return (*cells, "", "")
    return (*cells, f"{axes['cost']['usd_per_1000_items']:.3f}", f"{axes['latency']['seconds_p50']:.2f}")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.02)
    delay = parser.parse_args().delay
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        folders = [shutil.copytree(ROOT / one, place / one) for one in FOLDERS]
        (place / "prices.csv").write_text(PRICES, "utf-8")
        with serving(folders, delay) as options:
            for folder in folders:
                for llm in MODELS:
                    is_served = llm == "rules"
                    limits = Limits(multiworker=8, prices=place / "prices.csv") if is_served else Limits()
                    run(folder, llm, limits, options if is_served else None)
        write_report(folders, out=place / "report", screen=SILENT)
        runs = read_json(place / "report/axes.json")["runs"]
        order = [(llm, folder) for llm in MODELS for folder in FOLDERS]
        runs.sort(key=lambda one: order.index((one["model"], one["data"])))
        heads = ("model", "benchmark", "n", "accuracy", "pass^2", "attacks resisted", "harmless served")
        print(Table((*heads, "USD per 1,000", "median s"), list(map(row, runs)), "llrllllrr").markdown())
        pairs = [(scores(one, "offline"), scores(one, "rules")) for one in folders]
        same = sum(own[key] == other[key] for own, other in pairs for key in own)
        every = sum(len(own) for own, _ in pairs)
        print(f"\nItems on which `rules` has the scores of `offline`: {same:,} of {every:,}.")


if __name__ == "__main__":
    main()
