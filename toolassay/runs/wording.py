"""The wording of a run: the texts of this package in its prompts, as the run began with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, write_json
from toolassay.prompts.templates import FIXED_TEXTS

WORDING = "wording.json"


class Wording:
    """The fixed texts of a run by name.

    A continued run sends the recorded texts, so that another version of this package neither makes its
    answers useless nor mixes two prompts. A text that is not recorded yet is that of the package.

    Args:
        path: `wording.json` in the folder of the run.
        texts: The recorded texts.
    """

    def __init__(self, path: Path, texts: dict[str, str]) -> None:
        self._path = path
        self._texts = texts
        self._is_open = False

    @classmethod
    def read(cls, folder: Path, *like: Path, again: bool = False) -> Wording:
        """Read the wording of a run.

        Args:
            folder: Folder of the run.
            like: Folders of other runs; without a recorded wording, that of the first one of them is used.
            again: Use the texts of the package, as a run does that may start again (`--force`).

        Raises:
            UsageError: The file cannot be read.
        """
        paths = [run_folder / WORDING for run_folder in (folder, *like)]
        files = [] if again else [path for path in paths if path.is_file()]
        texts = read_json(files[0]) if files else {}
        if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
            raise UsageError("not texts by name", file=files[0], fix="restore it, or use --force true")
        return cls(folder / WORDING, texts)

    @contextmanager
    def used(self) -> Iterator[None]:
        """Let the prompts that are rendered in this block have these texts."""
        token = FIXED_TEXTS.set(self._text)
        try:
            yield
        finally:
            FIXED_TEXTS.reset(token)

    def record(self) -> None:
        """Write the texts that were used; from now on also further ones, before anything is sent with them.

        The journal must be open, so that no other process writes the file.
        """
        self._is_open = True
        if self._texts:
            write_json(self._path, self._texts)

    def _text(self, name: str, text: str) -> str:
        if name not in self._texts:
            self._texts[name] = text
            if self._is_open:
                write_json(self._path, self._texts)
        return self._texts[name]
