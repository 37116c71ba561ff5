"""The folder of an export: it appears when it is complete, and never replaces files of other origin."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec

from toolassay.errors import UsageError
from toolassay.files.data_files import keep_dated_copy, read_json, record_of, sha256_of, write_json
from toolassay.files.locks import exclusive_folder
from toolassay.version import OLD_NAME

MANIFEST = "export.json"
MADE_BY = "toolassay export"


class Destination:
    """A folder that is written next to its final path and moved there when it is complete.

    Args:
        path: the final path.
        force: replace files that were edited or that an export did not write, keeping dated copies.

    Attributes:
        path: the final path.
        facts: further entries of `export.json`; set them before the block of `folder` ends.
        copies: the dated copies of files that were replaced by force.

    Raises:
        UsageError: `path` is a file, or holds files that only `force` replaces.
    """

    def __init__(self, path: Path, *, force: bool = False) -> None:
        self.path = path
        self.facts: dict[str, Any] = {}
        self.copies: list[Path] = []
        self._force = force
        if path.exists() and not path.is_dir():
            raise UsageError("is a file, a folder is needed", file=path, fix="pass a folder with --out")
        self._before = self._checked()

    def _checked(self) -> dict[str, str] | None:
        """The files of an earlier export with their hashes; None without one.

        Raises:
            UsageError: the folder holds files that only `force` replaces.
        """
        path = self.path
        before = _files_of_manifest(self.path)
        if self._force or not path.exists():
            return before
        if before is None and any(path.iterdir()):
            raise UsageError(
                "the folder holds files that no export wrote",
                file=path,
                fix="pass an empty folder with --out, or use --force true (keeps dated copies)",
            )
        for name, digest in (before or {}).items():
            if (path / name).is_file() and sha256_of(path / name) != digest:
                raise UsageError(
                    "was edited since it was exported",
                    file=path / name,
                    fix="pass another folder with --out, or use --force true (keeps dated copies)",
                )
        return before

    @contextlib.contextmanager
    def folder(self) -> Iterator[Path]:
        """A folder to write into, which becomes the destination if the block ends without an error.

        Its name is fixed, so that the next export removes what a killed one has left.

        Raises:
            UsageError: another export is writing, or has meanwhile written files that only `force` replaces.
        """
        new = self.path.parent / f".{self.path.name}.unfinished"
        lock = f".{self.path.name}.lock"
        fix = "wait until it has finished, or pass another folder with --out"
        with exclusive_folder(self.path.parent, lock, what="another export", fix=fix):
            try:
                shutil.rmtree(new, ignore_errors=True)
                new.mkdir()
                self._before = self._checked()
                yield new
                names = sorted(file.relative_to(new).as_posix() for file in new.rglob("*") if file.is_file())
                digests = {name: sha256_of(new / name) for name in names}
                write_json(new / MANIFEST, {"made_by": MADE_BY, **self.facts, "files": digests})
                self._move(new, digests)
            finally:
                shutil.rmtree(new, ignore_errors=True)

    def _move(self, new: Path, digests: Mapping[str, str]) -> None:
        before = self._before or {}
        for name in {*before, *digests}:
            old = self.path / name
            if old.is_file() and before.get(name) != sha256_of(old):
                self.copies.append(keep_dated_copy(old))
        for name in before:
            if name not in digests:
                (self.path / name).unlink(missing_ok=True)
                with contextlib.suppress(OSError):  # the folder is not empty
                    (self.path / name).parent.rmdir()
        for name in (*digests, MANIFEST):
            target = self.path / name
            target.parent.mkdir(parents=True, exist_ok=True)
            (new / name).replace(target)


class _Manifest(msgspec.Struct):
    made_by: str
    files: dict[str, str]


def _files_of_manifest(path: Path) -> dict[str, str] | None:
    """The files of an earlier export with their hashes; None without a manifest of an export."""
    try:
        manifest = record_of(read_json(path / MANIFEST), _Manifest, file=path / MANIFEST, fix="")
    except UsageError:
        return None
    if manifest.made_by not in (MADE_BY, f"{OLD_NAME} export"):
        return None
    return {
        name: digest
        for name, digest in manifest.files.items()
        if not Path(name).is_absolute() and ".." not in Path(name).parts
    }
