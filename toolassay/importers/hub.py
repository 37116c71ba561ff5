"""Files of a data set on the Hugging Face hub."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from toolassay.errors import ToolassayError, UsageError
from toolassay.importers.rows import NEEDED

_ADVICE = "check the name and the network, or download the files and give them with --from FOLDER"


class HubDataset:
    """A data set at one revision; files come through the cache of huggingface_hub.

    `HF_ENDPOINT` names another hub, `HF_TOKEN` is used and never written down.

    Args:
        name: of the repository, e.g. `microsoft/Taskbench`.
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
            raise UsageError("--hub needs the huggingface_hub package", fix=NEEDED) from error
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
