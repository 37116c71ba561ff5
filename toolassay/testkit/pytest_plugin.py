"""Fixtures for pytest; a test module or `conftest.py` asks for them:

pytest_plugins = ("toolassay.testkit.pytest_plugin",)
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from toolassay.testkit.fake_server import FakeServer


@pytest.fixture
def fake_server() -> Iterator[FakeServer]:
    """A running server."""
    server = FakeServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test waits between tries."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", lambda number, error: 0)
