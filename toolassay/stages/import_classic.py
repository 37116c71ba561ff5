"""Import of a data set of CLASSic: from the hub or downloaded files to a data folder."""

from __future__ import annotations

from pathlib import Path

from toolassay.benchmarks.classic.data import read_data
from toolassay.data_folder import DataFolder
from toolassay.errors import UsageError
from toolassay.files import sha256_of
from toolassay.importers.classic import TABLES, from_folder, from_hub, write_csv
from toolassay.stages.importing import arriving, new_folder
from toolassay.stages.screen import DEFAULT, Screen
from toolassay.text_formatting import count_of


def import_classic(
    data_dir: str | Path,
    *,
    repo: str | None = None,
    revision: str | None = None,
    folder: str | Path | None = None,
    screen: Screen = DEFAULT,
) -> DataFolder:
    """Make a data folder out of the four tables messages, workflows, domains and jailbreak_prompts.

    The last one may be missing. Nothing is written before all of it is read and checked, and a file that is
    there already is never replaced by another.

    Args:
        data_dir: made if missing.
        repo: the data set on the hub; a gated one needs `HF_TOKEN` in the environment.
        revision: of it; None for the newest.
        folder: downloaded files instead of the hub: CSV or Parquet.
        screen: who listens.

    Raises:
        UsageError: neither or both of the sources, a missing or malformed table or row, a missing package, or
            the data folder holds other data.
        ToolassayError: the hub cannot be reached, or the folder cannot be written.
    """
    target = new_folder(data_dir)
    if (repo is None) == (folder is None):
        raise UsageError("one source is needed", fix="give --repo NAME, or --from FOLDER")
    source = from_hub(repo, revision) if repo is not None else from_folder(Path(folder or ""))
    with arriving(target) as work:
        for table, files in source.tables.items():
            write_csv(work.path / f"{table}.csv", files)
        try:
            data = read_data(work.path)
        except UsageError as error:
            file = source.tables[Path(error.file or "").stem][0]
            raise UsageError(str(error).replace(str(error.file), str(file), 1)) from None
        work.describe(
            benchmark="classic",
            **source.facts,
            source_sha256={table: sha256_of(work.path / f"{table}.csv") for table in source.tables},
        )
    workflows = sum(map(len, data.workflows.values()))
    if TABLES[-1] not in source.tables:
        screen.say(f"there is no table '{TABLES[-1]}': security has no prompts")
    messages, domains = count_of(len(data.examples), "message"), count_of(len(data.domains), "domain")
    found = f"{messages} of {domains} with {count_of(workflows, 'workflow')}"
    screen.show(f"{target.path}: {found}, from {source.facts['source']}")
    return target
