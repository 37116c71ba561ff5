"""Both clients, without what the environment says of servers."""

from __future__ import annotations

import pytest

from toolassay.models.options import ClientName


@pytest.fixture(params=["aiohttp", "openai"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ClientName:
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    name: ClientName = request.param
    return name
