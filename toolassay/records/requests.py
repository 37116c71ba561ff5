"""The requests of a folder; each iteration reads the file, so that a million requests stay on disk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path

from toolassay.console.text_formatting import some_of
from toolassay.errors import UsageError
from toolassay.files.data_files import read_json, read_text, record_of, stamp_of
from toolassay.records.dataset import Request, RequestId, WrittenSplits, read_requests


class Requests:
    """The requests of a file, in file order; only the last request of a repeated id.

    Args:
        path: The file. It is validated; afterwards only the numbers of superseded lines are kept.

    Attributes:
        repeated: Repeated ids, by first appearance.

    Raises:
        UsageError: The file is missing or malformed, or changed since it was first read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._stamp = path, stamp_of(path)
        self._superseded = set[int]()
        last = dict[str, int]()
        repeated = dict[str, RequestId]()
        for request in read_requests(path):
            if (key := key_of(request.id)) in last:
                self._superseded.add(last[key])
                repeated[key] = request.id
            last[key] = request.line
        self._count = len(last)
        self.repeated = [repeated[key] for key in last if key in repeated]

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Request]:
        if stamp_of(self.path) != self._stamp:
            raise UsageError("changed while it was being used", file=self.path, fix="run it again")
        for request in read_requests(self.path):
            if request.line not in self._superseded:
                yield request


class Chosen:
    """A subset of the requests, in file order.

    Args:
        requests: All requests.
        ids: Ids of the subset, as text or as in the file; None for all.
        limit: Maximum number of requests; None for all.

    Raises:
        UsageError: An id is unknown (the message names the first ones), or there is no id.
    """

    def __init__(
        self, requests: Requests, *, ids: Collection[RequestId] | None = None, limit: int | None = None
    ) -> None:
        self._requests = requests
        self._ids = None if ids is None else {str(name) for name in ids}
        count = len(requests)
        if self._ids is not None:
            if not self._ids:
                raise UsageError("--ids names no id", fix="write one id per line, or a JSON list")
            chosen = [str(request.id) for request in requests if str(request.id) in self._ids]
            if unknown := sorted(self._ids - set(chosen)):
                raise UsageError(
                    f"has no request {some_of(unknown, 5)}",
                    file=requests.path,
                    fix="check --ids: one id per line, or a JSON list",
                )
            count = len(chosen)
        self._count = count if limit is None else min(limit, count)

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Request]:
        fitting = (request for request in self._requests if self._ids is None or str(request.id) in self._ids)
        return islice(fitting, self._count)


def read_ids(path: Path) -> list[RequestId]:
    """Read the ids in a file: one per line, or a JSON list; `split_ids.json:test` names a split.

    Raises:
        UsageError: The file is missing, not a list of ids, or lacks the split.
    """
    file, colon, split = str(path).rpartition(":")
    if colon and not path.exists():
        ids = WrittenSplits.load(Path(file)).ids(split)
        if ids is None:
            wrong = f"has no '{split}_ids'"
            raise UsageError(wrong, file=file, fix="check the name after the colon in --ids")
        return ids
    text = read_text(path, fix="check --ids")
    if not text.lstrip().startswith("["):
        return [line.strip() for line in text.splitlines() if line.strip()]
    return record_of(read_json(path), list[RequestId], file=path, fix='write ["1", "2"], or one id per line')


def request_fingerprint(text: str) -> str:
    """A hash of a request's wording, 16 hexadecimal digits."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def key_of(request_id: RequestId) -> str:
    """The key of a request in the journal; the number 1 and the text "1" are two ids.

    >>> key_of(1), key_of("1")
    ('1', '"1"')
    """
    return json.dumps(request_id, ensure_ascii=False)
