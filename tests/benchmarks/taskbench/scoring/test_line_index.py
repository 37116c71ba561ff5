"""Prediction lines by id, and differences between files of scores."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolassay.evaluation.line_index import _READ_AHEAD, LineIndex, Prediction
from toolassay.evaluation.verification import Difference, differences, shortened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "m.json"


def _index(path: Path, *lines: str) -> LineIndex:
    path.write_text("\n".join(lines), encoding="utf-8")
    return LineIndex(path, fix="make it")


def test_ids_are_json_values(path: Path) -> None:
    with _index(path, '{"id": 1}', '{"id": "1"}', "", '{"x": 0, "id": "ü\\u00e9"}', '{"id": 1.5}') as lines:
        assert dict(lines.by_id) == {1: 1, "1": 2, "üé": 4, 1.5: 5}
        assert lines.by_text == {"1": 2, "üé": 4, "1.5": 5}


def test_the_id_is_that_of_the_line_and_not_of_something_in_it(path: Path) -> None:
    texts = ('{"steps": [{"id": "x"}], "id": "a"}', '{"id": "b", "id": "c"}', '{"id": "d", "s": {"id": 1}}')
    with _index(path, *texts) as lines:
        assert list(lines.by_id) == ["a", "c", "d"]


def test_broken_lines_keep_their_id_where_it_can_be_read(path: Path) -> None:
    texts = ('{"id": "a", "result": {"task', '{"id": "b', "[", '{"id": "c", "s": [{"id": 1}')
    with _index(path, *texts) as lines:
        assert dict(lines.by_id) == {"a": 1, "c": 4}
        assert lines.prediction(lines.place(1)) is None
        assert lines.prediction(lines.place(4)) is None
        assert sorted(lines.broken) == [1, 2, 3, 4]


def test_lines_without_an_id(path: Path) -> None:
    with _index(path, "{}", "[1]", '{"id": null}', '{"id": ["a"]}', "7") as lines:
        assert lines.nameless == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("line", "prediction"),
    [
        ('{"id": 1, "result": {"task_nodes": []}}', Prediction({"task_nodes": []}, None)),
        ('{"id": 1, "result": null, "outcome": "refused"}', Prediction(None, "refused")),
        ('{"id": 1, "task_nodes": []}', Prediction({"id": 1, "task_nodes": []}, None)),
        ('{"id": 1, "user_request": "r"}', Prediction(None, None, "r")),
        ('{"id": 1, "user_request": 7}', Prediction(None, None)),
        ('{"id": 1, "result": null, "outcome": 7}', Prediction(None, None)),
    ],
)
def test_forms_of_a_prediction_line(path: Path, line: str, prediction: Prediction) -> None:
    with _index(path, line) as lines:
        assert lines.prediction(lines.place(1)) == prediction


def test_byte_order_mark_and_windows_line_ends(path: Path) -> None:
    path.write_bytes(b'\xef\xbb\xbf{"id": "a", "result": 1}\r\n\r\n{"id": "b", "result": 2}\r\n')
    with LineIndex(path, fix="") as lines:
        assert dict(lines.by_id) == {"a": 1, "b": 3}
        assert lines.prediction(lines.place(1)) == Prediction(1, None)
        assert lines.prediction(lines.place(3)) == Prediction(2, None)


def test_the_first_of_doubled_ids_may_count(tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text('{"id": "1", "n": 1}\n{"id": 1, "n": 2}\n{"id": "1", "n": 3}\n')
    with LineIndex(path, fix="", keep="first") as index:
        assert index.by_id == {"1": 1, 1: 2}
        assert index.by_text == {"1": 1}
        assert index.doubled == [("1", 3)]
    with LineIndex(path, fix="") as index:
        assert index.by_id == {"1": 3, 1: 2}
        assert index.by_text == {"1": 3}


@given(
    sizes=st.lists(st.integers(0, 3 * _READ_AHEAD), min_size=1, max_size=8),
    order=st.lists(st.integers(0, 7), max_size=12),
)
def test_lines_are_read_in_any_order(
    tmp_path_factory: pytest.TempPathFactory, sizes: list[int], order: list[int]
) -> None:
    path = tmp_path_factory.mktemp("lines") / "m.json"
    path.write_text("".join(f'{{"id": {n}, "x": "{"y" * size}"}}\n' for n, size in enumerate(sizes)))
    with LineIndex(path, fix="") as lines:
        for number in [*range(len(sizes)), *(place % len(sizes) for place in order)]:
            assert lines.read(number + 1) == {"id": number, "x": "y" * sizes[number]}


def test_numbers_within_the_tolerance_are_the_same() -> None:
    assert not list(differences({"a": [1.0, {"b": 2}]}, {"a": [1.0 + 1e-10, {"b": 2}]}))
    assert list(differences({"a": 1.0}, {"a": 1.0 + 1e-8})) == [Difference("a", 1.0, 1.0 + 1e-8)]


def test_a_missing_key_is_a_difference_unless_the_other_is_null() -> None:
    assert list(differences({"a": 1}, {})) == [Difference("a", 1, None)]
    assert not list(differences({"a": None}, {}))


def test_true_is_not_one() -> None:
    assert list(differences(True, 1)) == [Difference("", True, 1)]


def test_long_values_are_shown_where_they_differ() -> None:
    old, new = shortened("x" * 500 + "a" + "y" * 500, "x" * 500 + "b" + "y" * 500)
    assert old.startswith("…xxx")
    assert old[20:23] != new[20:23]
    assert "a" in old
    assert "b" in new
    assert max(len(old), len(new)) < 100
