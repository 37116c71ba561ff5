"""Fixtures for pytest. A test module or `conftest.py` enables them with:

pytest_plugins = ("toolassay.testkit.pytest_plugin",)
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from toolassay.testkit.fake_server import FakeServer


@pytest.fixture
def fake_server() -> Iterator[FakeServer]:
    """A running `FakeServer`."""
    server = FakeServer()
    server.start()
    yield server
    server.stop()


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set every retry delay to 0."""
    monkeypatch.setattr("toolassay.models.retry.retry_delay", lambda number, error: 0)
