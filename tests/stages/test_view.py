"""The report's page on loopback, also while models run."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
from pathlib import Path

import aiohttp
import pytest

from tests.support.builders import chain, scored_folder, workbench_folder
from tests.support.running import inside
from toolassay.errors import UsageError
from toolassay.records.data_folder import DataFolder
from toolassay.serving.loopback import PageServer
from toolassay.stages.view import LivePage


def live(folder: Path, place: Path) -> LivePage:
    return LivePage(DataFolder(folder), "predictions", "all", place)


def said(page: Path) -> list[str]:
    """The sentences of the verdict."""
    return re.findall('<p class="said">(.*?)</p>', page.read_text(encoding="utf-8"))


def test_predictions_without_a_run_folder_are_scored_and_shown(tmp_path: Path) -> None:
    gold = {str(n): chain("a", "b") for n in range(4)}
    folder = scored_folder(tmp_path / "d", gold, {"m": gold})
    before = sorted(path for path in folder.rglob("*"))
    shown = live(folder, tmp_path / "place")
    assert said(shown.current())[0].startswith("m is the only model measured: 100.0 %")
    assert list(shown.progress()) == []
    assert 'http-equiv="refresh"' not in shown.current().read_text(encoding="utf-8")
    assert sorted(path for path in folder.rglob("*")) == before


def test_new_predictions_are_shown_and_old_ones_not_scored_again(tmp_path: Path) -> None:
    gold = {str(n): chain("a", "b") for n in range(4)}
    folder = scored_folder(tmp_path / "d", gold, {"m": gold})
    shown = live(folder, tmp_path / "place")
    page = shown.current()
    first = page.stat().st_mtime_ns
    assert shown.current().stat().st_mtime_ns == first
    scored_folder(folder, gold, {"n": {"0": chain("a", "c")}})
    assert len(said(shown.current())) == 3  # the verdict, and each tied model
    assert "m leads" in said(page)[0] or "do not differ" in said(page)[0]


def test_a_run_in_progress_says_how_far_it_is(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "d", slice(8))
    assert inside("infer", "--data_dir", folder, "--llm", "random", "--limit", "3").code == 0
    shown = live(folder, tmp_path / "place")
    (line,) = shown.progress()
    assert line.startswith("random: 3 of 8 answered; ")
    assert "a minute, about" in line
    text = shown.current().read_text(encoding="utf-8")
    assert "Run in progress" in text
    assert 'http-equiv="refresh" content="10"' in text
    journal = folder / "predictions/runs/random/journal.jsonl"
    os.utime(journal, (1, 1))
    (line,) = shown.progress()
    assert "stopped; the same infer() command continues" in line
    assert 'http-equiv="refresh"' not in shown.current().read_text(encoding="utf-8")


def test_a_run_without_an_answer_has_no_scores_yet(tmp_path: Path) -> None:
    folder = workbench_folder(tmp_path / "d", slice(8))
    assert inside("infer", "--data_dir", folder, "--llm", "random", "--limit", "3").code == 0
    (folder / "predictions/random.json").unlink()
    page = live(folder, tmp_path / "place").current()
    assert said(page) == ["There are no scores yet."]
    shutil.rmtree(folder / "predictions")
    assert said(live(folder, tmp_path / "other").current()) == ["There are no scores yet."]


def test_a_first_run_of_imported_tools_is_found_when_it_comes(tmp_path: Path) -> None:
    gold = {str(n): chain("a", "b") for n in range(4)}
    folder = scored_folder(tmp_path / "d", gold, {"m": gold})
    (folder / "predictions").rename(tmp_path / "later")
    shown = live(folder, tmp_path / "place")
    assert said(shown.current()) == ["There are no scores yet."]
    (tmp_path / "later").rename(folder / "predictions_tools")
    assert said(shown.current())[0].startswith("m is the only model measured: 100.0 %")


def test_the_server_answers_under_its_own_address_only(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("<p>hello")

    async def ask() -> list[tuple[int, str]]:
        server = PageServer(lambda: page)
        await server.open()
        found = []
        try:
            async with aiohttp.ClientSession() as session:
                for host in (None, "evil.example", f"localhost:{server.port}"):
                    headers = {"Host": host} if host else {}
                    async with session.get(server.base, headers=headers) as answer:
                        found.append((answer.status, await answer.text()))
                page.unlink()
                async with session.get(server.base) as answer:
                    found.append((answer.status, ""))
            other = PageServer(lambda: page)
            with pytest.raises(UsageError, match="in use"):
                await other.open(server.port)
        finally:
            await server.close()
        return found

    found = asyncio.run(ask())
    assert found[0] == found[2] == (200, "<p>hello")
    assert (found[1][0], "its own address" in found[1][1]) == (403, True)
    assert found[3][0] == 500
