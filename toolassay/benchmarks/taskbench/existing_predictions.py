"""Adopts predictions that have no journal, e.g. those of the published scripts, into a new journal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from toolassay.benchmarks.taskbench.parse import problem_of
from toolassay.dataset import Request
from toolassay.errors import UsageError
from toolassay.files import copy_file, read_json_lines
from toolassay.locks import open_regular
from toolassay.requests import key_of, request_fingerprint
from toolassay.runs import Journal


def adopt_predictions(output: Path, requests: Iterable[Request], journal: Journal) -> int:
    """Add the lines of a prediction file that are not in the journal to it.

    Such a file was written by the published scripts, or its journal was lost. A copy of the file is kept
    beside the journal.

    Returns:
        The number of lines added.

    Raises:
        UsageError: a line is not a prediction.
    """
    known = len(journal)

    def unknown() -> Iterator[tuple[str, dict[str, Any]]]:
        return _lines_not_in_journal(output, journal, known)

    textless, any_unknown = set(), False
    for key, line in unknown():
        any_unknown = True
        if _request_text(line) is None:
            textless.add(key)
    if not any_unknown:
        return 0
    texts = {}
    if textless:
        texts = {key: request.text for request in requests if (key := key_of(request.id)) in textless}
    kept, adopted = journal.path.with_name("adopted.jsonl"), 0
    for key, line in unknown():
        if not kept.exists():
            copy_file(output, kept)
        text = _request_text(line)
        outcome = "answered" if problem_of(line.get("result", line)) is None else "malformed"
        entry = {
            "outcome": outcome,
            "request": request_fingerprint(str(texts.get(key) if text is None else text)),
            "adopted": line,
        }
        journal.append(key, entry)
        adopted += 1
    return adopted


def adoptable_predictions(output: Path, journal: Journal) -> dict[str, str | None]:
    """The lines that `adopt_predictions` would add: their keys with the fingerprint of the request they
    answer, or None if the line does not contain its request.

    Raises:
        UsageError: a line is not a prediction.
    """
    texts = ((key, _request_text(line)) for key, line in _lines_not_in_journal(output, journal, len(journal)))
    return {key: None if text is None else request_fingerprint(str(text)) for key, text in texts}


def _lines_not_in_journal(output: Path, journal: Journal, known: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """The lines of a prediction file whose keys are not among the first `known` of the journal."""
    for line in _whole_lines(output):
        key = key_of(line["id"])
        position = journal.position(key)
        if position is None or position >= known:
            yield key, line


def _request_text(line: dict[str, Any]) -> Any:
    return line.get("user_request", line.get("instruction"))


def _whole_lines(output: Path) -> Iterator[dict[str, Any]]:
    """The prediction lines of a file; a last line truncated by a crash is skipped."""
    number = 0
    try:
        for number, line in read_json_lines(output):
            if not isinstance(line, dict) or not isinstance(line.get("id"), str | int):
                raise UsageError(
                    "is not a prediction with an id", file=output, line=number, fix="remove the line"
                )
            yield line
    except UsageError as error:
        if error.line is None:
            raise
        with open_regular(output) as stream:
            last = sum(1 for _ in stream)
            stream.seek(-1, 2)
            torn = stream.read(1) != b"\n"
        if not (torn and error.line == last > number):
            raise
