"""Compares predictions and scores with those recomputed from the raw answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from toolassay.console.screen import Screen
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError, made_by
from toolassay.evaluation.line_index import LineIndex
from toolassay.evaluation.metrics_file import RUN_KEYS, SECURITY, MetricsGroup
from toolassay.files.data_files import read_json_lines
from toolassay.records.data_folder import DataFolder
from toolassay.runs.journal import Journal
from toolassay.runs.manifest import MANIFEST, recorded_settings
from toolassay.runs.outcomes import WORDINGS

TOLERANCE = 1e-9  # absolute difference of two equal scores: sums in another order differ in the last digits
# Characters of a long text that are shown, and those of them before the first difference.
_WINDOW = 80
_BEFORE = 20


class Difference(NamedTuple):
    """A value that differs; None stands for a missing value."""

    path: str
    old: Any
    new: Any

    def __str__(self) -> str:
        old, new = shortened(self.old, self.new)
        return f"{self.path}: {old} -> {new}"


def differences(old: Any, new: Any, path: str = "") -> Iterator[Difference]:
    """Each place where two JSON values differ; a missing key equals null.

    >>> list(map(str, differences({"a": {"b": 0.5}, "c": 1}, {"a": {"b": 0.25}, "c": 1 + 1e-12})))
    ['a.b: 0.5 -> 0.25']
    """
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            yield from differences(old.get(key), new.get(key), f"{path}.{key}" if path else str(key))
    elif not _is_same(old, new):
        yield Difference(path, old, new)


def shortened(old: Any, new: Any) -> tuple[str, str]:
    """Both values as text; long ones are cut to a window around the first difference."""
    from json import dumps

    texts = dumps(old, ensure_ascii=False), dumps(new, ensure_ascii=False)
    if max(map(len, texts)) <= _WINDOW:
        return texts
    pairs = zip(*texts, strict=False)
    first = next((at for at, (a, b) in enumerate(pairs) if a != b), min(map(len, texts)))
    start = max(0, first - _BEFORE)
    return _window_of(texts[0], start), _window_of(texts[1], start)


def _window_of(text: str, start: int) -> str:
    end = start + _WINDOW
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _is_same(old: Any, new: Any) -> bool:
    if isinstance(old, bool) or isinstance(new, bool):
        return old is new
    if isinstance(old, int | float) and isinstance(new, int | float):
        return math.isclose(old, new, rel_tol=0, abs_tol=TOLERANCE)
    if isinstance(old, list) and isinstance(new, list):
        return len(old) == len(new) and all(map(_is_same, old, new))
    return bool(old == new)


# Ids that a notice names.
_NAMED = 5
NEW = ("n_labels", "n_asked", "n_scored", "partial", "coverage", "compat_intervals")
"""Numbers that version 0.1.0 lacked or defined differently."""
NEW_IN_MODE = (".trials", ".low", ".high", "intervals_by_group")
"""Those that scores before `STRICT_MODE` lacked or defined differently, of a model with one trial."""
# Differences that are listed; the others are counted.
_MOVED = 20
_OF_GROUP = ("group", "n", "items")  # items are compared one by one


@dataclass
class LineComparison:
    """Comparison of a prediction file with the recomputed lines.

    Attributes:
        compared: Number of recomputed lines.
        adopted: Number of lines that the journal adopted from a file, without a raw answer.
        differing: Number of lines that differ.
        changed: The first differences, with their ids.
        missing: Ids that the file lacks.
        unknown: Ids that only the file has.
    """

    compared: int = 0
    adopted: int = 0
    differing: int = 0
    changed: list[Difference] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)

    @property
    def is_equal(self) -> bool:
        """Whether the file equals the recomputed lines."""
        return not (self.differing or self.missing or self.unknown)

    def watch(self, lines: Iterable[object], file: Path) -> Iterator[dict[str, Any]]:
        """Yield the recomputed lines as JSON and compare each with the line of its id in the file.

        Raises:
            UsageError: The file cannot be read.
        """
        with LineIndex(file, fix=made_by("infer")) as before:
            met = set()
            for line in map(msgspec.to_builtins, lines):
                self.compared += 1
                met.add(line["id"])
                number = before.by_id.get(line["id"])
                if number is None:
                    self.missing.append(repr(line["id"]))
                else:
                    self._compare(line, before, number)
                yield line
            self.unknown = [repr(key) for key in before.by_id if key not in met]
            self.unknown += [f"line {number}" for number in (*before.broken, *before.nameless)]

    def _compare(self, line: dict[str, Any], before: LineIndex, number: int) -> None:
        try:
            old = before.read(number)
        except ValueError:
            old = "no JSON"
        if old == line:
            return
        self.differing += 1
        if len(self.changed) < _NAMED:
            difference = next(differences(old, line))
            self.changed.append(difference._replace(path=f"{line['id']!r} {difference.path}".rstrip()))

    def report(self) -> Iterator[str]:
        """Lines for the screen about the differences."""
        if self.differing:
            yield f"{count_of(self.differing, 'line')} otherwise than the raw answers give:"
            yield from (f"  {change}" for change in self.changed)
            if self.differing > len(self.changed):
                yield "  …"
        if self.missing:
            listed = some_of(self.missing, _NAMED)
            yield f"{count_of(len(self.missing), 'answer')} that the file lacks: {listed}"
        if self.unknown:
            yield (
                f"{count_of(len(self.unknown), 'line')} of the file without an answer to a request as it is"
                f" worded now: {some_of(self.unknown, _NAMED)}"
            )


def moved_scores(
    old: Mapping[str, MetricsGroup], new: Mapping[str, MetricsGroup], left_out: Collection[str]
) -> list[Difference]:
    """Scores in `old` that differ from those in `new`; `signatures` compares the signatures.

    Cost, latency and stability are not compared: they depend on ledgers and on other trials.

    Args:
        old: Groups of a metrics file.
        new: Recomputed groups; further groups are ignored.
        left_out: Keys that contain one of these words are not compared.
    """
    return [
        difference
        for key, group in old.items()
        for difference in differences(_scores(group), _scores(new.get(key)), key)
        if not difference.path.endswith("strict.signature")
        and not any(word in difference.path for word in left_out)
    ]


def moved_items(old: Path, new: Path, left_out: Collection[str]) -> list[Difference]:
    """The first difference of each item that differs between two files; `left_out` as in `moved_scores`.

    Raises:
        UsageError: A file is missing or malformed.
    """
    moved = []
    for before, now in zip_longest(read_json_lines(old), read_json_lines(new)):
        values = [None if line is None else line.value for line in (before, now)]
        name = next((str(value["id"]) for value in values if isinstance(value, dict) and "id" in value), "?")
        differing = (
            difference
            for difference in differences(values[0], values[1], name)
            if not any(word in difference.path for word in left_out)
        )
        moved += list(islice(differing, 1))
    return moved


def signatures(
    old: MetricsGroup, new: MetricsGroup, predictions: str, left_out: Collection[str]
) -> list[Difference]:
    """The parts in which the signatures of a group differ.

    Args:
        old: The group in the file.
        new: The recomputed group.
        predictions: Fingerprint of the prediction file; `new` has that of a temporary file.
        left_out: Parts that were not recomputed.
    """
    before = old.parts
    now = {**new.parts, "predictions": predictions[:12]}
    # The file of the first trial is a temporary one, too, so that only the number of trials is comparable.
    for parts in (before, now):
        parts["trials"] = parts.get("trials", "1").partition("-")[0]
    skipped = {*_OF_GROUP, WORDINGS, *left_out}  # the wordings are those of the tasks, whose hash is compared
    return [
        Difference(name, before.get(name), now.get(name))
        for name in dict.fromkeys([*before, *now])
        if name not in skipped and before.get(name) != now.get(name)
    ]


def listed(title: str, differences: list[Difference], *, most: int = _MOVED) -> Iterator[str]:
    """Lines for the screen about differences; none without differences."""
    if differences:
        yield title
        yield from (f"  {difference}" for difference in differences[:most])
        if len(differences) > most:
            yield f"  … and {len(differences) - most:,} more"


def _scores(group: MetricsGroup | None) -> dict[str, Any]:
    numbers = group.numbers if group else {}
    return {name: value for name, value in numbers.items() if name == SECURITY or name not in RUN_KEYS}


@dataclass(frozen=True)
class RecordedRun:
    """A run whose predictions are recomputed from its raw answers.

    Attributes:
        folder: Data folder.
        llm: Name of the model.
        run_folder: Folder with the manifest and the journal.
        journal: Journal of the run, open for reading.
        work: Empty temporary folder.
        screen: Receives messages and progress.
    """

    folder: DataFolder
    llm: str
    run_folder: Path
    journal: Journal
    work: Path
    screen: Screen

    @property
    def settings(self) -> dict[str, Any]:
        """The settings in the manifest.

        Raises:
            UsageError: there is no manifest.
        """
        settings = recorded_settings(self.run_folder)
        if settings is None:
            raise UsageError(
                "no such file", file=self.run_folder / MANIFEST, fix="it records how the agent was run"
            )
        return settings
