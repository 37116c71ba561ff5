"""The output folder of `toolassay check`: gates run over the samples in parts, and each sample goes to the
file of its level.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, NamedTuple

import msgspec
from msgspec import UNSET

from toolassay.backinstruct.critics import JUDGED_BY
from toolassay.backinstruct.format import FINGERPRINT
from toolassay.engines import Engine
from toolassay.errors import ToolassayError, UsageError
from toolassay.files.data_files import (
    LineRange,
    atomic_writer,
    copy_file,
    keep_dated_copy,
    path_from,
    path_in,
    sha256_of,
    unescaped_json,
    write_json,
)
from toolassay.files.locks import exclusive_folder
from toolassay.gates.coverage import SampleCounts
from toolassay.gates.critic import TeacherGate
from toolassay.gates.gate import LEVELS, CheckedSample, Gate, Level
from toolassay.gates.gate_pipeline import (
    ExecutionGate,
    GateFunnel,
    GateRecipe,
    Inspection,
    SampleContext,
    inspect,
    proven_label,
)
from toolassay.gates.labelled_set import LabelledSet, LabelReader
from toolassay.gates.repair import Repair, repair
from toolassay.graph import ToolGraph
from toolassay.graph.edits import EDITS
from toolassay.plans.execution_record import FILE as EXECUTIONS
from toolassay.plans.gold import Gold
from toolassay.records.cases import FILE as CASES
from toolassay.records.cases import case_lines
from toolassay.records.data_folder import WRITTEN, CheckedSet, DataFolder

Output = Literal[
    "gates", "rejected", "repairs", "passed", "passed requests", "quarantine", "quarantine requests"
]
"""An output file: `gates.jsonl`, `rejected.json`, `repairs.jsonl`, or the labels or requests of a level."""
Line = tuple[Output, str]
_KEPT: Mapping[Level, tuple[Output, Output]] = {
    "pass": ("passed", "passed requests"),
    "quarantine": ("quarantine", "quarantine requests"),
}


def _lines_of(
    gold: Gold, checked: CheckedSample, repairs: Sequence[Repair], provenance: Mapping[str, Any]
) -> Iterator[Line]:
    """The lines of one sample for the files; `checked` is its line in `gates.jsonl`."""
    line = msgspec.to_builtins(checked)
    label = {**proven_label(gold, checked.findings), **provenance}
    values: list[tuple[Output, Mapping[str, Any]]] = [("gates", line)]
    values += [("repairs", {"id": gold.id, **change._asdict()}) for change in repairs]
    if checked.level in _KEPT:
        labels, requests = _KEPT[checked.level]
        values += [(labels, label), (requests, {"id": gold.id, "user_request": gold.request})]
    else:
        values.append(("rejected", {**label, "findings": line["findings"]}))
    return ((output, unescaped_json(value) + "\n") for output, value in values)


CHECKED = "checked"
"""Key of `benchmark.json` that marks the output of a check."""
QUARANTINE = "quarantine"
GATES = "gates.jsonl"
REJECTED = "rejected.json"
REPAIRS = "repairs.jsonl"
FUNNEL = "funnel.json"
FUNNEL_PAGE = "funnel.md"
FUNNEL_PICTURE = "funnel.png"
_LOCK = ".check.lock"
_SHA = "data_sha256"
_FROM = "from"
_WRITING = "writing"
_ABOUT = ("source", "today", "generation", WRITTEN)
"""Keys of `benchmark.json` about the origin of a set; they are copied, as they also hold for its parts."""


@dataclass
class CheckedFolder:
    """The output of a check: a data folder with the passed samples and one with the quarantined samples.

    Attributes:
        path: Output folder; created if missing.
        source: The checked folder.
        force: Replace also files that were changed since, or that come from another folder; dated copies are
            kept.
        releases: Whether the source holds the candidates of `path` itself, so that `path` has tools, a graph
            and samples already, and `benchmark.json` keeps what is in it.
        provenance: `written_by` and `executor` of each released label, as far as known.
    """

    path: Path
    source: DataFolder
    force: bool = False
    releases: bool = False
    provenance: Mapping[str, str] = field(default_factory=dict)

    @property
    def passed(self) -> DataFolder:
        """The samples that pass."""
        return DataFolder(self.path)

    @property
    def quarantine(self) -> DataFolder:
        """The quarantined samples."""
        return DataFolder(self.path / QUARANTINE)

    def require(self) -> list[Path]:
        """The existing files that need a dated copy.

        Raises:
            UsageError: The folder is the source, a file, or has files that must not be replaced.
        """
        if self.path.exists() and not self.path.is_dir():
            raise UsageError("is a file, a folder is needed", file=self.path, fix="check --out")
        if self.path.resolve() == self.source.path.resolve():
            raise UsageError("is the folder that is checked", file=self.path, fix="choose another --out")
        changed_files = []
        for folder in (self.passed, self.quarantine):
            is_own = self.releases and folder.path == self.path
            changed = _refused_release(folder) if is_own else _refusal(folder, self.source)
            if changed is not None and not (self.force and (is_own or _is_checked(folder))):
                raise changed
            if changed is not None and folder.data.exists():
                changed_files.append(folder.data)
        return changed_files

    @contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder.

        Raises:
            UsageError: As `require`, or another check holds the lock (the message names its process).
            ToolassayError: The folder cannot be written.
        """
        self.require()
        fix = "wait until it is done, or choose another --out"
        with exclusive_folder(self.path, _LOCK, what="another check", fix=fix):
            self.require()  # another check may have written there
            try:
                yield
            finally:
                with suppress(OSError):  # the folder is not empty
                    self.quarantine.path.rmdir()

    def claim(self) -> None:
        """Mark the folder as the output of this check, before any other file is written to it.

        Raises:
            ToolassayError: The folder cannot be written.
        """
        if self.passed.benchmark.checked is None and not self.releases:
            self.passed.update_benchmark(**{CHECKED: {_FROM: path_from(self.path, self.source.path)}})

    @contextmanager
    def writing(self, graph: ToolGraph, *, repairs: bool) -> Iterator[Callable[[Iterable[Line]], None]]:
        """Writes lines of samples; all files are replaced when the block ends without an exception.

        Args:
            graph: Tool graph, with the dependency type of the set.
            repairs: Whether to write `repairs.jsonl`.

        Raises:
            ToolassayError: A file cannot be written. No file of labels is changed then.
        """
        for path in self.require():
            keep_dated_copy(path)
        with ExitStack() as files:

            def opened(path: Path) -> tuple[IO[str], Path]:
                return files.enter_context(atomic_writer(path)), path

            streams: dict[Output, tuple[IO[str], Path]] = {
                "gates": opened(self.path / GATES),
                "rejected": opened(self.path / REJECTED),
                **({"repairs": opened(self.path / REPAIRS)} if repairs else {}),
                "passed": opened(self.passed.data),
                "passed requests": opened(self.passed.user_requests),
                "quarantine": opened(self.quarantine.data),
                "quarantine requests": opened(self.quarantine.user_requests),
            }

            def write(lines: Iterable[Line]) -> None:
                for output, text in lines:
                    stream, path = streams[output]
                    try:
                        stream.write(text)
                    except OSError as error:
                        raise ToolassayError(
                            f"cannot write: {error.strerror or error}",
                            file=path,
                            fix="check the folder's permissions and space",
                        ) from error

            yield write
            for label, request in case_lines(self.source.path):
                lines: tuple[Line, Line]
                lines = ("passed", unescaped_json(label)), ("passed requests", unescaped_json(request))
                write((output, f"{text}\n") for output, text in lines)
            for folder in (self.passed, self.quarantine):
                if not (self.releases and folder.path == self.path):
                    self._copy_tools(folder, graph)
                self._describe(folder, graph, {_WRITING: True})
        if not repairs:
            (self.path / REPAIRS).unlink(missing_ok=True)
        for folder in (self.passed, self.quarantine):
            self._describe(folder, graph, {_SHA: sha256_of(folder.data)})

    def _copy_tools(self, folder: DataFolder, graph: ToolGraph) -> None:
        source = self.source
        others = (EDITS, EXECUTIONS, CASES)
        for there in (source.tool_desc, source.graph_desc, *(source.path / name for name in others)):
            here = folder.path / there.name
            if there.exists():
                copy_file(there, here)
            elif there.name != EXECUTIONS:  # this folder may have been executed itself
                here.unlink(missing_ok=True)
        if not source.tool_desc.exists():
            write_json(folder.tool_desc, graph.library.to_json())

    def _describe(self, folder: DataFolder, graph: ToolGraph, state: Mapping[str, Any]) -> None:
        source = self.source.written_benchmark
        about = {key: source[key] for key in _ABOUT if key in source}
        gone = [key for key in _ABOUT if key not in source]
        level = "quarantine" if folder.path != self.path else "pass"
        checked = {_FROM: path_from(folder.path, self.source.path), "level": level, **state}
        if self.releases:
            gone.append(FINGERPRINT)  # `format` must not replace the released set
        folder.update_benchmark(*gone, dependency_type=graph.dependency_type, **about, **{CHECKED: checked})


def as_reviewed(benchmark: Mapping[str, Any], source: Path, target: Path) -> dict[str, Any]:
    """`benchmark.json` of a reviewed set, derived from that of the checked set.

    Args:
        benchmark: Content of `benchmark.json` of the set that was reviewed.
        source: Its folder.
        target: Output folder of the review; the relative path to the checked data is adapted to it.
    """
    checked = benchmark.get(CHECKED)
    if not isinstance(checked, Mapping):
        return dict(benchmark)
    kept = {key: value for key, value in checked.items() if key not in (_SHA, _WRITING)}
    if _FROM in kept:
        kept[_FROM] = path_from(target, path_in(source, str(kept[_FROM])))
    return {**benchmark, CHECKED: kept}


def _is_checked(folder: DataFolder) -> bool:
    return folder.benchmark.checked is not None and folder.benchmark.reviewed is None


def _refused_release(folder: DataFolder) -> UsageError | None:
    """The error if the data set of a folder must not be replaced by its release; None if it may be."""
    checked = folder.benchmark.checked or CheckedSet()
    if not folder.data.exists() or checked.writing:
        return None
    if sha256_of(folder.data) in (folder.benchmark.data_sha256, checked.data_sha256):
        return None
    return UsageError(
        "was changed since it was written, or comes from elsewhere",
        file=folder.data,
        fix="use another --data_dir, or --force true (keeps a dated copy)",
    )


def _refusal(folder: DataFolder, source: DataFolder) -> UsageError | None:
    """The error if the files of a folder must not be replaced; None if they may be."""
    there = next((path for path in folder.files if path.exists()), None)
    if there is None:
        return None
    checked = folder.benchmark.checked
    if checked is None or not _is_checked(folder):
        return UsageError(
            "belongs to a data set that this command did not write", file=there, fix="choose another --out"
        )
    conflict_fix = "choose another --out, or --force true (keeps a dated copy)"
    written = path_in(folder.path, str(checked.source))
    if written != source.path.resolve():
        return UsageError(f"holds the result of checking {written}", file=folder.path, fix=conflict_fix)
    if checked.writing or not folder.data.exists() or checked.data_sha256 is None:
        return None
    if checked.data_sha256 != sha256_of(folder.data):
        return UsageError("was changed since it was written", file=folder.data, fix=conflict_fix)
    return None


class LabelPart(NamedTuple):
    """Some lines of a file of labels, and what is known about the samples on them."""

    lines: LineRange
    known: SampleContext


@dataclass
class CheckedPart:
    """What the gates found in a part.

    Attributes:
        funnel: Number of samples per gate and level.
        coverage: Number of samples per tool and edge.
        kept: Lines of the samples that no gate rejects.
        lines: Output file and text of each line, if requested.
        repairs: Number of repairs by kind.
        repairable: Number of samples that a repair would bring to a better level, if requested.
    """

    funnel: GateFunnel
    coverage: SampleCounts = field(default_factory=SampleCounts)
    kept: list[int] = field(default_factory=list)
    lines: list[Line] = field(default_factory=list)
    repairs: Counter[str] = field(default_factory=Counter)
    repairable: int = 0

    def extend(self, other: CheckedPart) -> None:
        """Add the counts of the part that follows."""
        self.funnel.extend(other.funnel)
        self.coverage.extend(other.coverage)
        self.repairs.update(other.repairs)
        self.repairable += other.repairable


@dataclass(frozen=True)
class CheckTask:
    """The check of the parts of a file, for an engine.

    Attributes:
        reader: Reads the labels.
        recipe: The gates.
        writes: Whether the lines for the output files are wanted.
        tries_repair: Whether a sample that does not pass is repaired, to see if it would pass then.
        provenance: What is added to each label, with the models that judged it; None adds nothing.
    """

    reader: LabelReader
    recipe: GateRecipe
    writes: bool
    tries_repair: bool
    provenance: Mapping[str, str] | None = None

    def start(self) -> Callable[[LabelPart], CheckedPart]:
        """Build the gates."""
        gates_for = self.recipe.build()

        def check(part: LabelPart) -> CheckedPart:
            checked = CheckedPart(GateFunnel(self.recipe.names))
            gates = gates_for(part.known)
            read = list(self.reader.repaired(part.lines))
            inspections = inspect([gold for gold, _ in read], gates)
            for inspection, (_, repairs) in zip(inspections, read, strict=True):
                self._add(checked, inspection, repairs, gates)
            return checked

        return check

    def _add(
        self, part: CheckedPart, inspection: Inspection, repairs: Sequence[Repair], gates: tuple[Gate, ...]
    ) -> None:
        gold = inspection.gold
        part.funnel.add(inspection)
        part.coverage.add(inspection, self.recipe.background.library)
        part.repairs.update(change.kind for change in repairs)
        if inspection.level != "reject":
            part.kept.append(gold.line)
        if self.tries_repair:
            part.repairable += self._would_be_better(inspection, gates)
        if self.writes:
            critics = [gate for gate in gates if isinstance(gate, TeacherGate)]
            verdicts = next(filter(None, (gate.verdicts(gold) for gate in critics)), UNSET)
            provenance = dict[str, Any]()
            if self.provenance is not None:
                provenance = {
                    **self.provenance,
                    JUDGED_BY: [name for gate in critics for name in gate.judges(gold)],
                }
                if inspection.states.get(ExecutionGate.name) == "not applicable":
                    provenance.pop("executor", None)
            level = inspection.level
            findings = inspection.findings
            states = inspection.states
            line = CheckedSample(gold.id, level, findings, states, len(repairs) or UNSET, verdicts)
            part.lines += _lines_of(gold, line, repairs, provenance)

    def _would_be_better(self, inspection: Inspection, gates: tuple[Gate, ...]) -> bool:
        """Whether a repair would bring a sample to a better level."""
        if inspection.level == "pass":
            return False
        record, repairs = repair(inspection.gold.record, self.recipe.background)
        if not repairs:
            return False
        (after,) = inspect([Gold.of(record, inspection.gold.line)], gates)
        return LEVELS.index(after.level) < LEVELS.index(inspection.level)


def checked_parts(
    labels: LabelledSet, context: SampleContext, task: CheckTask, engine: Engine
) -> Iterator[CheckedPart]:
    """Check a set in parts, in file order.

    Raises:
        UsageError: The file of labels changed during the check.
    """
    parts = (LabelPart(lines, context.within(lines.numbers)) for lines in labels.parts)
    return engine.map(task, parts)
