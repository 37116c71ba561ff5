"""How large the page of a report is, how long it takes to write, and how fast it is in a browser.

    python -m measurements.report_page [--items 10000] [--data_dir data_multimedia] [--chromium PATH]

The labels of a data folder are repeated under new ids; three made-up models answer them, each with a seeded
share of changed plans. The browser part needs playwright and Chromium.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolassay import evaluate, write_report
from toolassay.console.screen import SILENT
from toolassay.console.tables import Table
from toolassay.files.data_files import write_json_lines

MODELS = {"model-a": 0.25, "model-b": 0.35, "model-c": 0.5}
"""Share of changed plans of each made-up model."""


def predictions(labels: list[dict[str, Any]], share: float, seed: int) -> Iterator[dict[str, Any]]:
    """The gold plans, a share of them with a call less."""
    generator = random.Random(seed)
    for label in labels:
        plan = {key: label[key] for key in ("task_steps", "task_nodes", "task_links")}
        if generator.random() < share:
            plan = {**plan, "task_nodes": plan["task_nodes"][:-1], "task_links": plan["task_links"][:-1]}
        yield {"id": label["id"], "user_request": label["user_request"], "result": plan}


def build(source: Path, folder: Path, items: int) -> None:
    """A data folder with `items` requests and the predictions of the models."""
    for name in ("tool_desc.json", "graph_desc.json", "benchmark.json"):
        if (source / name).is_file():
            shutil.copy(source / name, folder / name)
    bundled = [json.loads(line) for line in (source / "data.json").read_text(encoding="utf-8").splitlines()]
    labels = [{**bundled[number % len(bundled)], "id": str(number)} for number in range(items)]
    write_json_lines(folder / "data.json", labels)
    (folder / "predictions").mkdir()
    for seed, (name, share) in enumerate(MODELS.items()):
        write_json_lines(folder / f"predictions/{name}.json", predictions(labels, share, seed))


def in_browser(path: Path, chromium: str, items: int) -> dict[str, float]:
    """Milliseconds and megabytes in Chromium."""
    from playwright.sync_api import sync_playwright

    settled = "new Promise(go => requestAnimationFrame(() => requestAnimationFrame(go)))"
    change = f"""async (value) => {{
        const start = performance.now(), status = document.querySelector('[role=status]').textContent;
        const input = document.querySelector('input[type=search]');
        input.value = value;
        input.dispatchEvent(new Event('input'));
        while (document.querySelector('[role=status]').textContent === status) await {settled};
        await {settled};
        return performance.now() - start;
    }}"""
    with sync_playwright() as api:
        flags = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
        browser = api.chromium.launch(executable_path=chromium, args=flags)
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.goto(path.as_uri())
        paint = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        start = time.perf_counter()
        page.evaluate("location.hash = '#/items/0'")
        page.wait_for_selector(".tabulator-row")
        table = time.perf_counter() - start
        filtering = float(page.evaluate(change, "audio"))
        start = time.perf_counter()
        page.evaluate("address => { location.hash = address }", f"#/item/0/{items - 1}")
        page.wait_for_selector(".plan canvas")
        item = time.perf_counter() - start
        heap = float(page.evaluate("performance.memory.usedJSHeapSize / 1e6"))
        browser.close()
    return {
        "first paint, ms": float(paint),
        "table of items, ms": 1000 * table,
        "filter by text, ms (80 of them waiting for more typing)": filtering,
        "an item, ms": 1000 * item,
        "heap, MB": heap,
    }


def main() -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=10_000)
    parser.add_argument("--data_dir", type=Path, default=Path("data_multimedia"))
    parser.add_argument("--chromium", default=shutil.which("chromium") or "")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        folder, page = Path(place) / "data", Path(place) / "report.html"
        folder.mkdir()
        build(given.data_dir, folder, given.items)
        evaluate(folder, llm="all", screen=SILENT)
        start = time.perf_counter()
        write_report(folder, out=page, screen=SILENT)
        seconds = time.perf_counter() - start
        size = page.stat().st_size / 1e6
        figures = {
            "written in, s": seconds,
            "page, MB": size,
            "page, MB for 1,000 items and a model": size / len(MODELS) / given.items * 1000,
            "memory of the whole measurement, MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000,
        }
        if given.chromium:
            figures |= in_browser(page, given.chromium, given.items)
    heads = (f"{given.items:,} items, {len(MODELS)} models", "")
    print(Table(heads, [(name, f"{value:.2f}") for name, value in figures.items()]).markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
