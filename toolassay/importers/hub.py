"""Data sets of the Hugging Face hub: fetches files, reads rows of JSON, JSON Lines, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError, UsageError, install
from toolassay.files import Line, holds_list, read_json, read_json_lines

INSTALL_HINT = install("hub")


def read_rows(path: Path) -> Iterator[Line]:
    """Each row of a file with its number, counted from 1 (in JSON Lines: its line).

    `.json` holds one object a line, or a list of them. `.arrow` is what the `datasets` library saves.

    Raises:
        UsageError: missing or malformed file, or pyarrow is needed and missing.
    """
    if path.suffix in (".parquet", ".arrow"):
        yield from _arrow_rows(path)
    elif holds_list(path):
        yield from (Line(number, value) for number, value in enumerate(read_json(path), start=1))
    else:
        yield from read_json_lines(path, fix="check the folder")


def _arrow_rows(path: Path) -> Iterator[Line]:
    try:
        import pyarrow as arrow
        import pyarrow.parquet as parquet
    except ImportError as error:
        raise UsageError("pyarrow is needed to read it", file=path, fix=INSTALL_HINT) from error
    try:
        number = 0
        with path.open("rb") as stream:
            if path.suffix == ".parquet":
                batches = parquet.ParquetFile(stream).iter_batches()
            else:
                batches = arrow.ipc.open_stream(stream)
            for batch in batches:
                for value in batch.to_pylist():
                    number += 1
                    yield Line(number, value)
    except OSError as error:
        raise UsageError(f"cannot be read: {error}", file=path, fix="check the file") from None
    except arrow.ArrowException as error:
        raise UsageError(
            f"is no {path.suffix[1:]} file: {error}", file=path, fix="download it again"
        ) from None


_ADVICE = "check the name and the network, or download the files and give them with --from FOLDER"


class HubDataset:
    """A data set at one revision; files come through the cache of huggingface_hub.

    `HF_ENDPOINT` names another hub, `HF_TOKEN` is used and never written down.

    Args:
        name: of the repository, e.g. `acme/tool-requests`.
        revision: a branch, tag or commit; None for the newest.

    Attributes:
        revision: the commit.
        names: of all its files.

    Raises:
        UsageError: huggingface_hub is missing.
        ToolassayError: the hub cannot be reached, or has no such data set.
    """

    def __init__(self, name: str, revision: str | None = None) -> None:
        try:
            import huggingface_hub
        except ImportError as error:
            raise UsageError("--hub needs the huggingface_hub package", fix=INSTALL_HINT) from error
        self.name = name
        self._hub: Any = huggingface_hub
        self._endpoint = os.environ.get("HF_ENDPOINT")
        try:
            api = huggingface_hub.HfApi(endpoint=self._endpoint)
            found = api.dataset_info(name, revision=revision)
        except Exception as error:  # of many kinds: of the hub, of its HTTP client, of the network
            raise self._failed(name, error) from error
        self.revision = str(found.sha)
        self.names = [str(file.rfilename) for file in found.siblings or []]

    def fetch(self, name: str) -> Path:
        """A file as it lies in the cache.

        Raises:
            ToolassayError: it cannot be fetched.
        """
        try:
            path = self._hub.hf_hub_download(
                self.name, name, repo_type="dataset", revision=self.revision, endpoint=self._endpoint
            )
        except Exception as error:  # as above
            raise self._failed(f"{self.name}/{name}", error) from error
        return Path(path)

    @staticmethod
    def _failed(what: str, error: Exception) -> ToolassayError:
        reason = next(iter(str(error).strip().splitlines()), "") or type(error).__name__
        return ToolassayError(f"{what} cannot be fetched from the hub: {reason[:200]}", fix=_ADVICE)
