"""The routes of a review on a real server, and who may use them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest_asyncio
from yarl import URL

from tests.support.reviewing import HOSTILE, actions, folder_of, folder_with, label, serving, session_of
from toolassay.review.server import BIGGEST, ReviewServer

WHO = {"reviewer": "Ann", "queue": "all"}


@pytest_asyncio.fixture
async def server(tmp_path: Path) -> AsyncIterator[ReviewServer]:
    async with serving(session_of(folder_with(tmp_path / "d"))) as opened:
        yield opened


@pytest_asyncio.fixture
async def client(server: ReviewServer) -> AsyncIterator[aiohttp.ClientSession]:
    """A browser that has opened the printed address."""
    jar = aiohttp.CookieJar(unsafe=True)  # loopback addresses have cookies too
    async with aiohttp.ClientSession(server.base, cookie_jar=jar) as session:
        async with session.get(server.address) as response:
            assert (response.status, str(response.url)) == (200, server.base)
            assert "script-src 'self'" in response.headers["Content-Security-Policy"]
        yield session


async def get(client: aiohttp.ClientSession, path: str, **settings: Any) -> tuple[int, Any]:
    async with client.get(path, **settings) as response:
        return response.status, await response.json()


async def post(client: aiohttp.ClientSession, path: str, body: Any, **settings: Any) -> tuple[int, Any]:
    async with client.post(path, json=body, **settings) as response:
        return response.status, await response.json()


def wanted(server: ReviewServer, number: int, action: str, **more: Any) -> dict[str, Any]:
    fingerprint = server.session.samples[number].fingerprint
    return {**WHO, "number": number, "fingerprint": fingerprint, "action": action, **more}


async def test_a_decision_goes_in_and_can_be_undone(
    server: ReviewServer, client: aiohttp.ClientSession
) -> None:
    status, answer = await post(client, "/api/decide", wanted(server, 0, "correct", note="ok", seconds=2))
    assert (status, answer["item"]["decision"]) == (200, "correct")
    assert answer["progress"]["reviewers"] == {"Ann": 1}
    status, shown = await get(client, "/api/samples/0", params=WHO)
    assert (shown["mine"]["action"], shown["note"], shown["shape"]) == ("correct", "ok", "chain")
    assert shown["cards"]["Painter"]["gives"] == ["image"]
    status, answer = await post(client, "/api/undo", WHO)
    assert (answer["number"], answer["item"]["decision"]) == (0, None)
    status, found = await get(client, "/api/overview", params=WHO)
    assert [item["id"] for item in found["items"]] == [0, "s1", 2, "s3", 4, "s5"]
    assert found["first"] == 0
    assert (await get(client, "/api/search", params={"text": "bonjour 4"}))[1] == {"numbers": [4]}
    assert (await get(client, "/api/summary"))[1]["samples"]["all"]["undecided"] == 6


async def test_what_is_refused_says_why(server: ReviewServer, client: aiohttp.ClientSession) -> None:
    parts = {"task_nodes": [{"task": "Paintr"}]}
    status, answer = await post(client, "/api/check", {"number": 0, "parts": parts})
    assert (status, answer["rejected"], answer["changed"]) == (200, True, ["task_nodes"])
    status, answer = await post(client, "/api/decide", wanted(server, 0, "fix_graph", parts=parts))
    assert (status, answer["rejected"]) == (409, True)
    assert answer["findings"][0]["reason"] == "'Paintr' is no tool"
    status, answer = await post(client, "/api/decide", wanted(server, 0, "correct") | {"fingerprint": "old"})
    assert (status, answer["changed"]) == (409, True)
    wrong: list[Any] = [
        wanted(server, 0, "correct") | {"number": 99},
        wanted(server, 0, "correct") | {"number": True},
        wanted(server, 0, "correct") | {"reviewer": ""},
        wanted(server, 0, "correct") | {"queue": "mine"},
        wanted(server, 0, "correct", note=["a"]),
        *(wanted(server, 0, "correct", seconds=value) for value in (-1, 10**400, float("nan"), True, "1")),
        *(wanted(server, 0, "correct") | {"number": value} for value in (-1, 10**400, 1.5, "\ud800", None)),
        wanted(server, 0, "correct", note="x" * 20_001),
        [],
    ]
    for body in wrong:
        status, answer = await post(client, "/api/decide", body)
        assert (status, bool(answer["error"])) == (400, True), body
    status, answer = await post(
        client, "/api/decide", wanted(server, 0, "fix_graph", parts=parts, insist=True)
    )
    assert status == 200
    assert list(actions(server.session.store.path("Ann"))) == [(0, "fix_graph")]


async def test_without_the_secret_address_every_request_is_refused(server: ReviewServer) -> None:
    async with aiohttp.ClientSession(server.base) as stranger:
        for path in ("/", "/?token=wrong", "/api/overview", "/page/review.js"):
            status, answer = await get(stranger, path)
            assert (status, "sample" in str(answer)) == (403, False), path
        status, _ = await post(stranger, "/api/decide", wanted(server, 0, "correct"))
        assert status == 403
    assert not server.session.store.folder.exists()


async def test_other_pages_of_the_browser_change_nothing(
    server: ReviewServer, client: aiohttp.ClientSession
) -> None:
    body = wanted(server, 0, "correct")
    for origin in ("https://evil.example", "null", "http://127.0.0.1:1"):
        status, _ = await post(client, "/api/decide", body, headers={"Origin": origin})
        assert status == 403, origin
    status, _ = await get(
        client, "/api/overview", params=WHO, headers={"Host": f"evil.example:{server.port}"}
    )
    assert status == 403
    async with client.post("/api/decide", data=str(body), headers={"Content-Type": "text/plain"}) as answer:
        assert answer.status == 415
    status, _ = await post(client, "/api/decide", body, headers={"Origin": server.base.rstrip("/")})
    assert status == 200


async def test_bodies_are_bounded_and_are_json(server: ReviewServer, client: aiohttp.ClientSession) -> None:
    kind = {"Content-Type": "application/json"}
    for data in (b"{", b'{"number": NaN}', b"[" * 100_000, b"\xff"):
        async with client.post("/api/check", data=data, headers=kind) as answer:
            assert answer.status == 400, data[:20]
    async with client.post("/api/check", data=b" " * (BIGGEST + 1), headers=kind) as answer:
        assert answer.status == 413


async def test_only_the_files_of_the_page_are_given_out(
    server: ReviewServer, client: aiohttp.ClientSession
) -> None:
    for name in ("review.js", "review.css", "cytoscape.min.js", "cytoscape-dagre.min.js"):
        async with client.get(f"/page/{name}") as answer:
            assert answer.status == 200
    for path in ("/page/review.html", "/page/..%2f..%2ftools.py", "/etc/passwd", "/page/decision.py"):
        async with client.get(URL(path, encoded=True)) as answer:
            assert answer.status == 404, path


async def test_the_cookie_is_for_this_page_only(server: ReviewServer) -> None:
    async with (
        aiohttp.ClientSession() as session,
        session.get(server.address, allow_redirects=False) as answer,
    ):
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
    assert "HttpOnly" in cookie and "SameSite=Strict" in cookie


async def test_hostile_texts_are_data(tmp_path: Path) -> None:
    made = label(0)
    made["user_request"] = HOSTILE
    made["task_nodes"][0]["task"] = HOSTILE
    made["id"] = HOSTILE
    async with serving(session_of(folder_of(tmp_path / "d", [made]))) as server:
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(server.base, cookie_jar=jar) as session:
            async with session.get(server.address) as answer:
                assert HOSTILE not in await answer.text()
            async with session.get("/api/samples/0", params=WHO) as answer:
                assert answer.content_type == "application/json"
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
                assert (await answer.json())["parts"]["user_request"] == HOSTILE
