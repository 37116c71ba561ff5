"""The view stage: the report's page on loopback, up to date while models run."""

from __future__ import annotations

import shutil
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from toolassay.benchmarks.registry import benchmark_of
from toolassay.console.screen import DEFAULT, SILENT, Screen
from toolassay.errors import ToolassayError, UsageError, as_called
from toolassay.evaluation.places import EVERY_MODEL, metrics_folder, model_name, prediction_folder
from toolassay.files.locks import temporary_folder
from toolassay.records.data_folder import DataFolder
from toolassay.reports.decision import Decision, Verdict
from toolassay.reports.report_page import write_report_page
from toolassay.runs.event_loop import run_coroutine
from toolassay.runs.journal import AppendOnlyLines
from toolassay.runs.ledger import booked
from toolassay.runs.manifest import LEDGER
from toolassay.runs.recorded_usage import spending
from toolassay.stages.evaluate import evaluate
from toolassay.stages.report import build_report
from toolassay.stages.settings import PageSettings, ReportSettings

ACTIVE = 60.0
"""Seconds since the last answer within which a run counts as in progress."""
REFRESH = 10
"""Seconds after which a browser loads the page of a run in progress again."""
_RATE = 60.0  # seconds over which the rate of answers is measured


def view(
    data_dir: str | Path,
    *,
    llm: str | Sequence[str] = EVERY_MODEL,
    prediction_dir: str | Path = "predictions",
    page: PageSettings = PageSettings(),
    screen: Screen = DEFAULT,
) -> None:
    """Show the page of the report on 127.0.0.1 until interrupted.

    Predictions are scored in a temporary folder, so the data folder stays as it is, and neither `evaluate`
    nor a run folder is needed.

    Args:
        data_dir: Data folder of any benchmark.
        llm: One or several models; "all" is every model with predictions.
        prediction_dir: Prediction folder, below the data folder or as a path.
        page: Where the page is shown.
        screen: Receives the address.

    Raises:
        UsageError: The data folder does not exist, or the port is in use.
        KeyboardInterrupt: At Ctrl-C.
    """
    folder = DataFolder(Path(data_dir)).require()
    benchmark_of(folder)

    async def run(output_folder: Path) -> None:
        from toolassay.serving.loopback import PageServer

        server = PageServer(LivePage(folder, prediction_dir, llm, output_folder).current)
        advice = "open that address in a browser on this machine; Ctrl-C ends"
        await server.show(page.port, screen, advice, open_browser=page.open_browser)

    with temporary_folder() as output_folder:
        run_coroutine(run(output_folder))


class LivePage:
    """The page of a data folder, written again when its predictions have changed.

    Args:
        folder: Data folder.
        prediction_dir: Prediction folder, below the data folder or as a path; may not exist yet.
        llm: Models to show.
        place: Folder for the page and the scores.
    """

    def __init__(
        self, folder: DataFolder, prediction_dir: str | Path, llm: str | Sequence[str], output_folder: Path
    ) -> None:
        self._folder = folder
        self._prediction_dir = Path(prediction_dir)
        self._llm = llm
        self._output_folder = output_folder
        self._shown: object = None

    @property
    def _predictions(self) -> Path:
        try:
            return prediction_folder(self._folder.path, self._prediction_dir)
        except UsageError:  # the first run has not started yet
            return self._folder.path / self._prediction_dir

    @property
    def _outcomes(self) -> Path:
        return metrics_folder(self._folder.path, self._predictions) / "outcomes"

    def current(self) -> Path:
        """The file of the page, up to date.

        Raises:
            ToolassayError: The data or the predictions cannot be read.
        """
        path = self._output_folder / "view.html"
        state = (self._stamps(), lines := list(self.progress()))
        if state != self._shown or not path.is_file():
            self._write(path, lines)
            self._shown = state
        return path

    def progress(self) -> Iterator[str]:
        """A line for each run that is in progress or has stopped before its end."""
        total = sum(1 for _ in self._golds())
        for journal in sorted(self._predictions.glob("runs/*/journal.jsonl")):
            with AppendOnlyLines(journal, what="journal", read_only=True) as lines:
                entries = [entry for _, entry in lines.scan(lambda line: (line["key"], line.get("outcome")))]
            outcomes = {key: str(outcome) for key, outcome in entries if outcome}  # the others are answers
            done = sum(outcome in ("answered", "malformed", "refused") for outcome in outcomes.values())
            idle = time.time() - journal.stat().st_mtime
            if total and done >= total:
                continue
            name = model_name(self._predictions, journal.parent.name)
            parts = [f"{name}: {done:,} of {total:,} answered" if total else f"{name}: {done:,} answered"]
            if idle > ACTIVE:
                parts.append(f"stopped; the same {as_called('infer')} command continues")
            elif rate := _rate(journal.with_name(LEDGER)):
                left = f", about {(total - done) / rate:.0f} min left" if total else ""
                parts.append(f"{rate:.0f} a minute{left}")
            if cost := spending([journal.with_name(LEDGER)]).totals.known_cost:
                parts.append(f"{cost:.2f} USD so far")
            failed = Counter(outcome for outcome in outcomes.values() if outcome != "answered")
            parts += [f"{count:,} {name}" for name, count in failed.most_common()]
            yield "; ".join(parts)

    def _golds(self) -> Iterator[object]:
        try:
            yield from benchmark_of(self._folder).items.golds(self._folder)
        except UsageError:  # without labels, the number of items is unknown
            return

    def _stamps(self) -> dict[str, tuple[int, int]]:
        files = [*self._predictions.glob("*.json"), *self._predictions.glob("trials/*/*.json")]
        files += self._outcomes.glob("*.json")
        return {
            file.as_posix(): (status.st_mtime_ns, status.st_size)
            for file in files
            for status in [file.stat()]
        }

    def _write(self, path: Path, lines: Sequence[str]) -> None:
        running = any("stopped;" not in line for line in lines)
        metrics = self._output_folder / "metrics"
        notes: list[str] = []
        if self._outcomes.is_dir():
            shutil.copytree(self._outcomes, metrics / "outcomes", dirs_exist_ok=True)
        try:
            evaluate(
                self._folder.path,
                llm=[self._llm] if isinstance(self._llm, str) else list(self._llm),
                prediction_dir=self._predictions,
                save_dir=metrics.resolve(),
                screen=SILENT,
            )
        except ToolassayError as error:  # also if some models cannot be scored: the others are shown
            notes = [str(error)]
        try:
            settings = ReportSettings(self._llm, self._predictions, metrics.resolve())
            built = build_report(self._folder.path, settings, SILENT)
            pages = built.pages
            decision = replace(built.decision, warnings=[*notes, *built.decision.warnings])
        except ToolassayError as error:
            reasons = [*notes, str(error)]
            decision = Decision([], Verdict("", (), ["There are no scores yet."]), warnings=reasons)
            pages = []
        write_report_page(decision, pages, path, refresh=REFRESH if running else 0, live=lines)


def _rate(ledger: Path) -> float:
    """Answers per minute over the last `_RATE` seconds; 0.0 if unknown."""
    times = [line.time for line in booked(ledger)]
    if not times:
        return 0.0
    recent = [time for time in times if time >= times[-1] - _RATE]
    return 60.0 * len(recent) / max(times[-1] - max(times[0], times[-1] - _RATE), 1.0)
