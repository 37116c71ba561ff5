from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from toolassay.errors import UsageError
from toolassay.files.data_files import (
    atomic_writer,
    indented_json,
    keep_dated_copy,
    line_of_item,
    line_ranges,
    read_json,
    read_json_lines,
    refuse_to_replace,
    safe_name,
    short_json,
    write_json,
    write_json_lines,
)


def test_what_is_written_is_read(tmp_path: Path) -> None:
    value = {"ids": [1, "zwölf"], "none": None}
    write_json(tmp_path / "deep" / "er" / "value.json", value)
    assert read_json(tmp_path / "deep" / "er" / "value.json") == value

    assert write_json_lines(tmp_path / "lines.json", [value, 2]) == 2
    assert [tuple(line) for line in read_json_lines(tmp_path / "lines.json")] == [(1, value), (2, 2)]


def test_a_failed_write_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    write_json(path, 1)
    with pytest.raises(RuntimeError), atomic_writer(path) as stream:
        stream.write("half")
        raise RuntimeError

    assert read_json(path) == 1
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{\n  "a": 1,\n  "b": oops\n}', r"bad\.json:3: not valid JSON"),
        (b'{"a": 1', r"bad\.json:1: not valid JSON"),
        (b"9" * 5000, r"bad\.json: not valid JSON: Exceeds the limit"),
        (b"", r"bad\.json:1: not valid JSON"),
        (b'"\xff"', r"bad\.json:1: not UTF-8 text \(byte 1\)"),
        (b"[" * 200_000, r"bad\.json: JSON nested too deeply"),
    ],
)
def test_json_errors_name_file_and_line(content: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_bytes(content)

    with pytest.raises(UsageError, match=message):
        read_json(tmp_path / "bad.json")


def test_refusing_to_replace_what_is_read(tmp_path: Path) -> None:
    refuse_to_replace(tmp_path / "a", [tmp_path / "b"], what="it", flag="--out")
    with pytest.raises(UsageError, match=r"a: it would replace .* Fix: choose another --out"):
        refuse_to_replace(
            tmp_path / "x/../a", [tmp_path / "a"], what="it would replace the input", flag="--out"
        )


def test_json_lines_errors_name_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "bad.json"
    path.write_text('{"id": 1}\n\n{"id": 2}\n{"id": \n')
    lines = read_json_lines(path)

    assert [next(lines).number, next(lines).number] == [1, 3]
    with pytest.raises(UsageError, match=r"bad\.json:4: not valid JSON"):
        next(lines)


texts = st.sampled_from(['"nodes"', "id", "]", "}", "\n", '\\"', ",", "nodes", ""])
values = st.recursive(
    st.one_of(st.none(), st.integers(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=6,
)
items = st.lists(
    st.dictionaries(st.one_of(texts, st.just("key")), values, min_size=1), min_size=1, max_size=4
)


@settings(deadline=None)
@given(items, st.dictionaries(texts.filter(lambda text: text != "nodes"), values), st.booleans())
def test_line_of_item_is_where_the_parser_finds_it(
    tmp_path_factory: pytest.TempPathFactory, nodes: list[dict[str, Any]], rest: dict[str, Any], alone: bool
) -> None:
    """Marked with an impossible word, the text stops the parser on the line that was told."""
    path = tmp_path_factory.mktemp("lines") / "value.json"
    value: Any = nodes if alone else {**rest, "nodes": nodes}
    path.write_text(json.dumps(value, indent=2))
    number = len(nodes)
    key = list(nodes[-1])[-1]
    told = line_of_item(path, None if alone else "nodes", number, key=key)
    assert told is not None

    nodes[-1][key] = "MARK"
    marked = json.dumps(value, indent=2).split("\n")
    assert '"MARK"' in marked[told - 1]
    item_line = line_of_item(path, None if alone else "nodes", number)
    assert item_line is not None and item_line <= told and marked[item_line - 1].strip() == "{"


def test_line_of_item_where_there_is_none(tmp_path: Path) -> None:
    path = tmp_path / "value.json"
    path.write_text('{"nodes":\n[\n{"a": 1}]}')

    assert line_of_item(path, "nodes", 1) == 3
    assert line_of_item(path, "nodes", 1, key="b") == 3
    assert line_of_item(path, "nodes", 2) is None
    assert line_of_item(path, "links", 1) is None
    assert line_of_item(path, None, 1) is None


def test_dated_copies_never_replace_each_other(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    copies = set()
    for text in "abc":
        path.write_text(text)
        copies.add(keep_dated_copy(path))

    assert len(copies) == 3
    assert sorted(copy.read_text() for copy in copies) == ["a", "b", "c"]
    assert all(copy.name.startswith("graph.") and copy.suffix == ".json" for copy in copies)


@pytest.mark.parametrize(
    "name",
    [
        "acme/model 1",
        "..",
        "",
        "/etc/passwd",
        "modèle",
    ],
)
def test_safe_names_are_never_folders(name: str, tmp_path: Path) -> None:
    path = tmp_path / f"{safe_name(name)}"

    assert path.parent == tmp_path
    assert path.name not in ("", ".", "..")
    path.write_text("")


def test_half_a_surrogate_pair_is_written_and_read_back(tmp_path: Path) -> None:
    path = tmp_path / "lines.json"
    write_json_lines(path, [{"text": "half \ud83d of one"}])
    assert [value for _, value in read_json_lines(path)] == [{"text": "half \ud83d of one"}]


@given(
    st.lists(st.sampled_from(['{"a": "é"}', "7", "", "  ", "[1,\t2]"]), max_size=12),
    st.sampled_from(["\n", "\r\n", "\r"]),
    st.booleans(),
    st.sampled_from([b"", b"\xef\xbb\xbf"]),
    st.integers(1, 5),
)
def test_a_file_in_ranges_has_the_same_lines(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], end: str, ends: bool, mark: bytes, size: int
) -> None:
    path = tmp_path_factory.mktemp("ranges") / "lines.json"
    path.write_bytes(mark + (end.join(lines) + (end if ends else "")).encode())
    ranges = list(line_ranges(path, size))
    read = [line for part in ranges for line in read_json_lines(path, lines=part)]
    assert read == list(read_json_lines(path))
    numbers = [number for part in ranges for number in part.numbers]
    assert numbers == list(range(1, len(numbers) + 1))
    for part in ranges:
        assert {line.number for line in read_json_lines(path, lines=part)} <= set(part.numbers)


def test_a_range_of_a_file_that_changed_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "lines.json"
    write_json_lines(path, [1, 2, 3, 4])
    first, second = line_ranges(path, 2)
    write_json_lines(path, [1, 2, 3, 5])
    assert [line.value for line in read_json_lines(path, lines=first)] == [1, 2]
    with pytest.raises(UsageError, match=r"lines\.json: changed while it was being used"):
        list(read_json_lines(path, lines=second))
    path.write_text("1\n2\n3\noops\n")
    third = list(line_ranges(path, 3))[1]
    with pytest.raises(UsageError, match=r"lines\.json:4: not valid JSON"):
        list(read_json_lines(path, lines=third))


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=12,
)


@given(value=values, most=st.integers(1, 200))
def test_a_short_form_is_bounded_and_whole_where_it_fits(value: Any, most: int) -> None:
    whole, short = json.dumps(value, ensure_ascii=False), short_json(value, most)
    assert len(short) <= most
    assert len(whole) > most or short == whole


def test_a_short_form_keeps_what_stands_behind_a_long_list() -> None:
    rows = [{"id": number, "text": "x" * 300} for number in range(60)]
    short = json.loads(short_json({"rows": rows, "next": {"page": 2}}, 1_000))
    assert short["next"] == {"page": 2} and short["rows"][0]["id"] == 0
    assert json.loads(short_json([[["x" * 99] * 99] * 99] * 99, 400))[0][0]


@given(value=values, indent=st.sampled_from([None, 1, 2, 4]))
def test_indented_json_is_that_of_json(value: Any, indent: int | None) -> None:
    assert indented_json(value, indent) == json.dumps(value, indent=indent, ensure_ascii=False)
