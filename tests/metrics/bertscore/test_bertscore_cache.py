from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from toolassay.metrics.bertscore.scorer import ScoreCache, cache_file, pair_key

ROW = (0.25, 0.5, 1 / 3)


def keys(count: int) -> list[bytes]:
    return [pair_key("model", str(number), "text") for number in range(count)]


def test_what_was_kept_is_found_again_exactly(tmp_path: Path) -> None:
    path = tmp_path / "new" / "cache.sqlite3"
    known = keys(1_200)
    with ScoreCache(path) as cache:
        assert cache.find(known) == {}
        cache.add((key, ROW) for key in known)
    with ScoreCache(path) as cache:
        assert cache.find([*known, b"other"]) == dict.fromkeys(known, ROW)


def test_keys_depend_on_the_model_and_on_both_texts() -> None:
    parts = [
        ("m", "a", "b"),
        ("n", "a", "b"),
        ("m", "b", "a"),
        ("m", "ab", ""),
        ("m", "", "ab"),
        ("ma", "", "b"),
    ]
    assert len({pair_key(*part) for part in parts}) == len(parts)
    assert len(pair_key("m", "half a pair \ud83d", "é")) == 16


def test_a_broken_file_is_set_aside_and_a_new_one_is_started(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    path.write_bytes(b"this is no database" * 100)
    with ScoreCache(path) as cache:
        cache.add([(b"key", ROW)])
        assert cache.find([b"key"]) == {b"key": ROW}
    assert (tmp_path / "cache.sqlite3.broken").read_bytes().startswith(b"this is no database")


def test_a_file_that_breaks_in_the_middle_costs_only_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    with ScoreCache(path) as cache:
        cache.add((key, ROW) for key in keys(2_000))
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    with ScoreCache(path) as cache:
        assert cache.find(keys(2_000)) == {}
        cache.add([(b"key", ROW)])
        assert cache.find([b"key"]) == {b"key": ROW}


def test_where_nothing_can_be_written_nothing_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with ScoreCache(tmp_path / "file" / "cache.sqlite3") as cache:
        cache.add([(b"key", ROW)])
        assert cache.find([b"key"]) == {}


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "cache.sqlite3"
    script = f"""
import sys
from pathlib import Path
from toolassay.metrics.bertscore.scorer import ScoreCache
with ScoreCache(Path({str(path)!r})) as cache:
    for number in range(100):
        cache.add([(f"{{sys.argv[1]}} {{number}}".encode(), (0.1, 0.2, 0.3))])
"""
    writers = [subprocess.Popen([sys.executable, "-c", script, name]) for name in "ab"]
    assert [writer.wait() for writer in writers] == [0, 0]
    with ScoreCache(path) as cache:
        assert len(cache.find([f"{name} {number}".encode() for name in "ab" for number in range(100)])) == 200


def test_it_lies_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_file() == tmp_path / "toolassay" / "bertscore.sqlite3"
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setattr(sys, "platform", "linux")
    assert cache_file() == Path.home() / ".cache" / "toolassay" / "bertscore.sqlite3"


def test_a_cache_of_the_old_name_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    old, new = (tmp_path / name / "bertscore.sqlite3" for name in ("toolgraph", "toolassay"))
    old.parent.mkdir()
    old.touch()
    assert cache_file() == old
    new.parent.mkdir()
    new.touch()
    assert cache_file() == new
