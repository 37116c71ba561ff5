"""Documents from outside: JSON, YAML and JSON Lines, with bounds."""

from __future__ import annotations

from pathlib import Path

import pytest

from toolassay.errors import UsageError
from toolassay.importers import documents
from toolassay.importers.documents import DEEPEST, parse_yaml, read_document, read_values


def test_yaml_scalars_follow_the_json_schema() -> None:
    text = "no: no\nday: 2026-11-23\n200: ok\n1.50: v\noct: 007\nn: -3\nf: 1e3\nnull_: ~\nt: true\n"
    text += "q: '1'\nb: |\n  x\n"
    assert parse_yaml(text) == {
        "no": "no",
        "day": "2026-11-23",
        "200": "ok",
        "1.50": "v",
        "oct": "007",
        "n": -3,
        "f": 1000.0,
        "null_": None,
        "t": True,
        "q": "1",
        "b": "x\n",
    }


def test_anchors_and_merge_keys_are_resolved() -> None:
    assert parse_yaml("a: &a {x: 1, y: 2}\nb: {<<: *a, y: 3}\nc: [*a]\n") == {
        "a": {"x": 1, "y": 2},
        "b": {"x": 1, "y": 3},
        "c": [{"x": 1, "y": 2}],
    }


def bomb() -> str:
    """Ten levels of ten aliases: 10^10 values in 400 bytes."""
    lines = ["a0: &a0 [x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 11)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (bomb(), "expands to too many values through its aliases"),
        ("[" * 200_000, "nested"),
        ("a:\n" + "".join("  " * n + "- \n" for n in range(1, DEEPEST + 5)), "levels deep"),
        ("a: *b", "has no anchor"),
        ("paths:\n  /a: {get: 1}\n  /a: {post: 2}\n", ":3: the key '/a' occurs twice"),
        ('{"a": {"b": 1, "b": 2}}', "has the key 'b' twice"),
        ("a: 1\n---\nb: 2\n", "several YAML documents"),
        ("a: [1,\nb: 2", "neither JSON nor YAML"),
    ],
)
def test_what_exceeds_a_bound_or_is_broken_is_one_error(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "api.yaml"
    path.write_text(text)
    with pytest.raises(UsageError, match=reason) as error:
        read_document(path)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


def test_tags_of_yaml_construct_nothing() -> None:
    assert parse_yaml("a: !!python/object/apply:os.system ['exit 1']") == {"a": ["exit 1"]}


def test_a_file_over_the_limit_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(documents.MOST_BYTES, "JSON", 10)
    (tmp_path / "a.json").write_text('{"a": "1234567890"}')
    with pytest.raises(UsageError, match="is larger than"):
        read_document(tmp_path / "a.json")


def test_json_lines_are_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "tools.jsonl"
    path.write_text('{"a": 1}\n\n{"a": 2}\n')
    assert [(line.number, line.value) for line in read_values(path)] == [(1, {"a": 1}), (3, {"a": 2})]
    path.write_text('[\n {"a": 1}\n]')
    assert [line.value for line in read_values(path)] == [[{"a": 1}]]
    path.write_text('{"a": 1}\n{"a": 2\n')
    with pytest.raises(UsageError, match=":2: is not valid JSON"):
        list(read_values(path))
