"""Imports tools into a data folder, and exports them for a model API."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from toolassay.benchmarks.work_folder import refuse_other_benchmarks
from toolassay.console.screen import DEFAULT, WARNING, Screen
from toolassay.console.tables import Table
from toolassay.console.text_formatting import count_of, some_of
from toolassay.errors import UsageError, as_called
from toolassay.executors.execution_options import McpExecution
from toolassay.executors.workspace import PLACEHOLDER
from toolassay.exporters.exported_tools import ExportedTools, tool_exporter
from toolassay.files.data_files import (
    atomic_writer,
    keep_dated_copy,
    read_json,
    refuse_to_replace,
    write_json,
    write_nodes,
    write_text,
)
from toolassay.files.locks import temporary_folder
from toolassay.importers import IMPORTER_OPTIONS, importer_named
from toolassay.importers.data_files import new_folder
from toolassay.importers.importer import ToolNote
from toolassay.importers.intake import ImportReport, Intake, described, grouped, take_in
from toolassay.importers.suspicious_texts import shown
from toolassay.records.data_folder import DataFolder
from toolassay.tools.library import ToolLibrary

# Rows and names on the screen; import_report.json has all of them.
_MOST_ROWS = 20
_MOST_NAMES = 10


@dataclass(frozen=True)
class Changes:
    """The differences between the tools of a folder and those of an import, by id.

    Attributes:
        added: Tools that are new.
        removed: Tools that are gone.
        changed: The others that differ, each with the keys that do.
    """

    added: Sequence[str]
    removed: Sequence[str]
    changed: Mapping[str, Sequence[str]]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)

    def __str__(self) -> str:
        counts = ((self.added, "added"), (self.removed, "removed"), (self.changed, "changed"))
        return ", ".join(f"{len(names):,} {what}" for names, what in counts if names) or "no difference"


def import_tools(
    kind: str,
    source: str | Path,
    data_dir: str | Path,
    *,
    options: Annotated[Any, IMPORTER_OPTIONS] = None,
    force: bool = False,
    update: bool = False,
    screen: Screen = DEFAULT,
) -> ImportReport:
    """Import tools to a data folder.

    Args:
        kind: Name of the importer, e.g. "openapi".
        source: Path, address or command line, as the importer takes it.
        data_dir: The data folder, created if missing.
        options: Options object of the importer; None for the defaults.
        force: Replace other tools that the folder has; a dated copy of them is kept.
        update: The same, and list the tools that were added, removed and changed.
        screen: Receives messages, results and progress.

    Returns:
        The report, which is also written to `import_report.json`.

    Raises:
        UsageError: The source cannot be read or has no tools; the folder has other tools.
    """
    importer = importer_named(kind)
    chosen = options if options is not None else importer.options()
    folder = new_folder(data_dir)
    if folder.path.exists():
        refuse_other_benchmarks(folder)
    intake = take_in(importer.name, importer.read(str(source), chosen, screen=screen))
    report = intake.report
    if not intake.nodes:
        reasons = "; ".join(f"{shown(part.where)}: {shown(part.reason)}" for part in report.skipped[:3])
        raise UsageError(
            f"{report.source} gave no tools" + (f": {reasons}" if reasons else ""),
            fix=f"check the source: toolassay import {importer.name} --help says what it may be",
        )
    before = _nodes_of(folder, force=force)
    changes = _compare(before or [], intake.nodes)
    if before is not None and changes and not (force or update):
        raise UsageError(
            f"has other tools ({changes})",
            file=folder.tool_desc if folder.tool_desc.exists() else folder.graph_desc,
            fix="use --update to list and make these changes, --force to make them, or another --data_dir",
        )
    outcome = _write(folder, intake, report, changes if before is not None else None)
    screen.show(f"{folder.tool_desc}: {outcome} ({described(report)})")
    if update and before is not None:
        _show_changes(changes, screen)
    _show_report(report, folder, screen)
    if before is not None and changes and folder.graph_desc.exists():
        screen.say(f"{WARNING}{folder.graph_desc} belongs to the former tools: run {as_called('graph')}")
    return report


def import_server(
    server: str, data_dir: Path, options: McpExecution, *, screen: Screen = DEFAULT
) -> ImportReport:
    """Import the tools of an MCP server, which is started on a copy of its workspace.

    Args:
        server: As the importer "mcp" takes it; it may name the workspace.
        data_dir: The data folder.
        options: The workspace, and headers.
        screen: Receives messages, results and progress.

    Raises:
        UsageError: It is no MCP server, or the folder has other tools.
    """
    with temporary_folder() as temporary:
        if options.workspace:
            copy = temporary / "workspace"
            shutil.copytree(options.workspace, copy)
            server = server.replace(PLACEHOLDER, str(copy))
        own = importer_named("mcp").options(header=options.header)
        return import_tools("mcp", server, data_dir, options=own, screen=screen)


def _nodes_of(folder: DataFolder, *, force: bool) -> list[dict[str, Any]] | None:
    """The tools that the folder has, as written; None without any, [] if they cannot be read and `force`."""
    for path in (folder.tool_desc, folder.graph_desc):
        if path.exists():
            try:
                value = read_json(path)
            except UsageError:
                if not force:
                    raise
                return []
            nodes = value.get("nodes") if isinstance(value, dict) else value
            return [node for node in nodes if isinstance(node, dict)] if isinstance(nodes, list) else []
    return None


def _compare(before: Sequence[dict[str, Any]], after: Sequence[dict[str, Any]]) -> Changes:
    old = {str(node.get("id")): node for node in before}
    new = {str(node["id"]): node for node in after}
    changed = {
        name: [key for key in dict.fromkeys([*old[name], *node]) if old[name].get(key) != node.get(key)]
        for name, node in new.items()
        if name in old and old[name] != node
    }
    return Changes(
        [name for name in new if name not in old], [name for name in old if name not in new], changed
    )


def _write(folder: DataFolder, intake: Intake, report: ImportReport, changes: Changes | None) -> str:
    """Write the files; returns a phrase for the message."""
    folder.path.mkdir(parents=True, exist_ok=True)
    write_json(folder.path / "import_report.json", report.to_json())
    before = ToolLibrary.load(folder.tool_desc).service if folder.tool_desc.exists() else ""
    if changes is not None and not changes and before == intake.service:
        return "up to date"
    kept = (
        f", the one before kept as {keep_dated_copy(folder.tool_desc).name}"
        if folder.tool_desc.exists()
        else ""
    )
    with atomic_writer(folder.tool_desc) as stream:
        write_nodes(stream, intake.nodes)
        if intake.service:
            stream.write(f',\n  "service": {json.dumps(intake.service, ensure_ascii=False)}')
        stream.write("\n}\n")
    # An update keeps what the links of an existing benchmark mean, unless its tools had resource types.
    recorded = folder.benchmark.dependency_type
    kind = "schema" if any(node.get("input_schema") is not None for node in intake.nodes) else "temporal"
    folder.update_benchmark(
        dependency_type=recorded if recorded in ("schema", "temporal") else kind,
        imported={"kind": report.kind, "source": report.source},
    )
    return f"written{kept}"


def _show_changes(changes: Changes, screen: Screen) -> None:
    for what, names in (("added", changes.added), ("removed", changes.removed)):
        if names:
            screen.show(f"{what}: {some_of(names, _MOST_NAMES)}")
    for name in list(changes.changed)[:_MOST_NAMES]:
        screen.show(f"changed: {name} ({', '.join(map(shown, changes.changed[name]))})")
    if len(changes.changed) > _MOST_NAMES:
        screen.show(f"changed: {len(changes.changed) - _MOST_NAMES:,} more")
    if not changes:
        screen.show("no tool was added, removed or changed")


def _show_report(report: ImportReport, folder: DataFolder, screen: Screen) -> None:
    rows = [("skipped", _literal(part.where), shown(part.reason), "", "") for part in report.skipped]
    findings = [("warning", report.warnings), ("loss", report.losses)]
    show_findings(findings, folder.path / "import_report.json", screen, rows)


def _literal(text: str) -> str:
    """A name as Markdown shows it unchanged, so that it can be copied."""
    return f"`{shown(text).replace('`', chr(39))}`" if text else ""


def show_findings(
    findings: Sequence[tuple[str, Sequence[ToolNote]]],
    file: Path,
    screen: Screen,
    rows: Sequence[tuple[str, ...]] = (),
) -> None:
    """Show a table of findings, equal ones counted together.

    Args:
        findings: The kinds of finding, each with its findings.
        file: Where all of them are.
        screen: Receives the table.
        rows: Rows before them.
    """
    rows = [*rows]
    for what, notes in findings:
        rows += [
            (
                what,
                _literal(note.field),
                shown(note.reason),
                f"{tools:,}" if note.tool else "",
                _literal(note.tool),
            )
            for note, tools in grouped(notes)
        ]
    if not rows:
        return
    table = Table(("", "where", "reason", "tools", "e.g."), rows[:_MOST_ROWS], align="llnrl")
    screen.table(table.markdown())
    hidden = f"{count_of(len(rows) - _MOST_ROWS, 'more row')}; " if len(rows) > _MOST_ROWS else ""
    screen.show(f"{hidden}every one is in {file}")


def export_tools(
    data_dir: str | Path, to: str, out: str | Path, *, force: bool = False, screen: Screen = DEFAULT
) -> ExportedTools:
    """Write the tools of a data folder in another form, and what that form cannot hold to `OUT.report.json`.

    Args:
        data_dir: The data folder.
        to: Name of the form, e.g. "openai".
        out: The file to write.
        force: Replace a file of other content.
        screen: Receives messages and results.

    Raises:
        UsageError: There are no tools, the form is unknown, or `out` has other content.
    """
    folder = DataFolder(Path(data_dir)).require()
    library = folder.library(say=screen.say)
    exported = tool_exporter(to)(library)
    target = Path(out)
    refuse_to_replace(
        target, folder.files, what="the tools would replace a file of their folder", flag="--out"
    )
    text = json.dumps(exported.document, indent=2, ensure_ascii=False) + "\n"
    if target.exists() and not force and target.read_text(encoding="utf-8", errors="replace") != text:
        raise UsageError(
            "already exists with other content", file=target, fix="use --force, or another --out"
        )
    write_text(target, text)
    report = target.with_name(f"{target.name}.report.json")
    write_json(
        report, {"form": to, "n_tools": len(library), "losses": [loss._asdict() for loss in exported.losses]}
    )
    screen.show(f"{target}: written ({count_of(len(library), 'tool')}, {to})")
    show_findings([("loss", exported.losses)], report, screen)
    return exported
