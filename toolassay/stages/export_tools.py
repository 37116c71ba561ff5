"""The way back: the tools of a data folder as a list for a model API, a listing or a document."""

from __future__ import annotations

import json
from pathlib import Path

from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.exporters.exported_tools import ExportedTools, tool_exporter
from toolassay.files import refuse_to_replace, write_json, write_text
from toolassay.importers.intake import ImportFinding
from toolassay.screen import DEFAULT, Screen
from toolassay.stages.import_tools import show_findings
from toolassay.text_formatting import count_of


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
    losses = [ImportFinding(*loss) for loss in exported.losses]
    write_text(target, text)
    report = target.with_name(f"{target.name}.report.json")
    write_json(report, {"form": to, "n_tools": len(library), "losses": [loss._asdict() for loss in losses]})
    screen.show(f"{target}: written ({count_of(len(library), 'tool')}, {to})")
    show_findings([("loss", losses)], report, screen)
    return exported
