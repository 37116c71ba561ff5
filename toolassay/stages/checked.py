"""The folder that `toolassay check` writes, and whether what lies there may be replaced."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import (
    atomic_target,
    atomic_writer,
    clear_unfinished,
    keep_dated_copy,
    path_from,
    path_in,
    sha256_of,
    write_json,
)
from toolassay.graph import ToolGraph
from toolassay.locks import exclusive_folder
from toolassay.stages.checked_writer import CheckedWriter, Lines

CHECKED = "checked"
"""The entry of `benchmark.json` by which a folder is known as the output of a check."""
QUARANTINE = "quarantine"
GATES, REJECTED, REPAIRS = "gates.jsonl", "rejected.json", "repairs.jsonl"
FUNNEL, FUNNEL_PAGE, FUNNEL_PICTURE = "funnel.json", "funnel.md", "funnel.png"
REVIEWED = "reviewed"
"""The entry of `benchmark.json` by which a folder is known as what a review has left."""
_LOCK = ".check.lock"
_SHA, _FROM, _WRITING = "data_sha256", "from", "writing"
_ABOUT = ("source", "generation")
"""What `benchmark.json` says of who wrote a set; it is as true of a part of it."""


class CheckedFolder:
    """Where the results of a check go: a data folder of what passes, and one of what is in quarantine.

    Args:
        path: made if missing.
        source: the folder that is checked.
        force: replace what was changed since, or came from another folder, after keeping dated copies.

    Raises:
        UsageError: it is the source, a file, or holds a data set that this did not write.
    """

    def __init__(self, path: Path, source: DataFolder, *, force: bool = False) -> None:
        self.path, self._source, self._force = path, source, force
        if path.exists() and not path.is_dir():
            raise UsageError("is a file, a folder is needed", file=path, fix="check --out")
        if path.resolve() == source.path.resolve():
            raise UsageError("is the folder that is checked", file=path, fix="choose another --out")
        self._look()

    def _look(self) -> None:
        """Read what lies there, and whether it may be replaced."""
        self.passed, self.quarantine = DataFolder(self.path), DataFolder(self.path / QUARANTINE)
        self._kept: list[Path] = []
        for folder in (self.passed, self.quarantine):
            changed = _refusal(folder, self._source)
            if changed is not None and not (self._force and _is_checked(folder)):
                raise changed
            if changed is not None and folder.data.exists():
                self._kept.append(folder.data)

    @contextmanager
    def held(self) -> Iterator[None]:
        """Nobody else checks into it meanwhile; what a check that was killed left half-written is gone.

        Raises:
            UsageError: another check writes it now (names its process), or has just put there what must not
                be replaced.
            ToolassayError: it cannot be written.
        """
        fix = "wait until it is done, or choose another --out"
        with exclusive_folder(self.path, _LOCK, what="another check", fix=fix):
            self._look()
            for folder in (self.passed, self.quarantine):
                own = (GATES, REJECTED, REPAIRS, FUNNEL, FUNNEL_PAGE, FUNNEL_PICTURE)
                for path in (*folder.files, *(folder.path / name for name in own)):
                    clear_unfinished(path)
            try:
                yield
            finally:
                with suppress(OSError):  # there is something in it
                    self.quarantine.path.rmdir()

    def claim(self) -> None:
        """Mark the folder as the output of this check before anything else is written to it.

        Raises:
            ToolassayError: it cannot be written.
        """
        if CHECKED not in self.passed.benchmark:
            self.passed.describe(**{CHECKED: {_FROM: path_from(self.path, self._source.path)}})

    @contextmanager
    def writing(self, graph: ToolGraph, *, repairs: bool) -> Iterator[CheckedWriter]:
        """Give what takes the samples one by one; if the block ends well, all files are replaced.

        Args:
            graph: of the tools; says the dependency type.
            repairs: whether there may be any.

        Raises:
            ToolassayError: a file cannot be written; if it was one of the labels, all are as they were.
        """
        for path in self._kept:
            keep_dated_copy(path)
        with ExitStack() as files:

            def opened(path: Path) -> Lines:
                return Lines(files.enter_context(atomic_writer(path)), path)

            yield CheckedWriter(
                gates=opened(self.path / GATES),
                rejected=opened(self.path / REJECTED),
                repairs=opened(self.path / REPAIRS) if repairs else None,
                passed=(opened(self.passed.data), opened(self.passed.user_requests)),
                quarantine=(opened(self.quarantine.data), opened(self.quarantine.user_requests)),
            )
            for folder in (self.passed, self.quarantine):
                self._copy_tools(folder, graph)
                self._describe(folder, graph, {_WRITING: True})
        if not repairs:
            (self.path / REPAIRS).unlink(missing_ok=True)
        for folder in (self.passed, self.quarantine):
            self._describe(folder, graph, {_SHA: sha256_of(folder.data)})

    def _copy_tools(self, folder: DataFolder, graph: ToolGraph) -> None:
        source = self._source
        for there, here in ((source.tool_desc, folder.tool_desc), (source.graph_desc, folder.graph_desc)):
            if there.exists():
                with atomic_target(here) as stream:
                    stream.write(there.read_bytes())
            else:
                here.unlink(missing_ok=True)
        if not source.tool_desc.exists():
            write_json(folder.tool_desc, graph.library.to_json())

    def _describe(self, folder: DataFolder, graph: ToolGraph, state: Mapping[str, Any]) -> None:
        said = self._source.benchmark
        about = {key: said[key] for key in _ABOUT if key in said}
        gone = [key for key in _ABOUT if key not in said]
        what = "quarantine" if folder is self.quarantine else "pass"
        checked = {_FROM: path_from(folder.path, self._source.path), "level": what, **state}
        folder.describe(*gone, dependency_type=graph.dependency_type, **about, **{CHECKED: checked})


def as_reviewed(benchmark: Mapping[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """What `benchmark.json` says of a check, as it is true of the set that a review makes of that one.

    Args:
        benchmark: of the set that was reviewed.
        source: its folder.
        target: the folder of what the review left.
    """
    checked = benchmark.get(CHECKED)
    if not isinstance(checked, Mapping):
        return dict(benchmark)
    kept = {key: value for key, value in checked.items() if key not in (_SHA, _WRITING)}
    if _FROM in kept:
        kept[_FROM] = path_from(target, path_in(source, str(kept[_FROM])))
    return {**benchmark, CHECKED: kept}


def _is_checked(folder: DataFolder) -> bool:
    return CHECKED in folder.benchmark and REVIEWED not in folder.benchmark


def _refusal(folder: DataFolder, source: DataFolder) -> UsageError | None:
    """Why what lies in a folder must not be replaced; None where it may be."""
    there = next((path for path in folder.files if path.exists()), None)
    if there is None:
        return None
    checked = folder.benchmark.get(CHECKED)
    if not isinstance(checked, Mapping) or not _is_checked(folder):
        return UsageError(
            "is of a data set that this command did not write", file=there, fix="choose another --out"
        )
    conflict_fix = "choose another --out, or --force true (keeps a dated copy)"
    written = path_in(folder.path, str(checked.get(_FROM)))
    if written != source.path.resolve():
        return UsageError(f"is what was checked of {written}", file=folder.path, fix=conflict_fix)
    if checked.get(_WRITING) or not folder.data.exists() or checked.get(_SHA) is None:
        return None
    if checked[_SHA] != sha256_of(folder.data):
        return UsageError("was changed since it was written", file=folder.data, fix=conflict_fix)
    return None
