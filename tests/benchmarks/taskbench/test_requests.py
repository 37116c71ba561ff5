from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.dataset import read_requests
from toolassay.errors import UsageError
from toolassay.requests import Chosen, Requests, key_of

IDS = st.lists(st.one_of(st.integers(0, 4), st.sampled_from(["0", "1", "é", "\ud83d"])), max_size=12)


@given(IDS)
def test_the_last_line_of_an_id_counts(ids: list[int | str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "user_requests.json"
        path.write_text(
            "".join(json.dumps({"id": i, "user_request": f"{n}"}) + "\n\n" for n, i in enumerate(ids))
        )
        requests = Requests(path)
        every = list(read_requests(path))
        last = {request.id: request.line for request in every}
        expected = [request for request in every if last[request.id] == request.line]
        repeated = list(dict.fromkeys(one.id for one in every if last[one.id] != one.line))
        assert list(requests) == list(requests) == expected
        assert len(requests) == len(expected)
        assert requests.repeated == repeated


def test_a_file_that_changes_meanwhile_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "user_requests.json"
    path.write_text('{"id": 1, "user_request": "a"}\n')
    requests = Requests(path)
    assert len(list(requests)) == 1
    path.write_text('{"id": 1, "user_request": "b"}\n')
    os.utime(path, (1, 1))
    with pytest.raises(UsageError, match=r"changed while it was being used\. Fix: run it again"):
        list(requests)


def test_every_line_is_checked_before_the_first_is_used(tmp_path: Path) -> None:
    path = tmp_path / "user_requests.json"
    path.write_text('{"id": 1, "user_request": "a"}\n{"id": 2}\n')
    with pytest.raises(UsageError, match="2: has no 'user_request'"):
        Requests(path)


@given(IDS, st.integers(1, 5) | st.none(), st.data())
def test_those_chosen_are_the_first_of_those_named_in_the_order_of_the_file(
    ids: list[int | str], limit: int | None, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "user_requests.json"
        path.write_text(
            "".join(json.dumps({"id": i, "user_request": f"{n}"}) + "\n" for n, i in enumerate(ids))
        )
        requests = Requests(path)
        named = data.draw(st.none() | st.sets(st.sampled_from(ids), min_size=1)) if ids else None
        texts = None if named is None else {str(one) for one in named}
        wanted = [r for r in requests if texts is None or str(r.id) in texts][:limit]
        chosen = Chosen(requests, ids=named, limit=limit)
        assert [key_of(r.id) for r in chosen] == [key_of(r.id) for r in wanted]
        assert list(chosen) == wanted and len(chosen) == len(wanted)
