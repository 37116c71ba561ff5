"""The fixtures of these tests: a server that is installed, and a small folder to plan for."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.real_servers.inference_job import DATA, REQUESTS, Job
from tests.real_servers.serving import Recipe, Server

NOT_SET = "TOOLASSAY_SERVERS is not set; python tests/real_servers/install.py FOLDER makes one to set it to"


def home_of(name: str) -> Path:
    """The virtual environment of a server; the test is skipped where there is none."""
    folder = os.environ.get("TOOLASSAY_SERVERS")
    if not folder:
        pytest.skip(NOT_SET)
    home = Path(folder).resolve() / name
    if not (home / "bin" / "python").exists():
        pytest.skip(f"no {name} in {folder}: python tests/real_servers/install.py {folder} {name}")
    return home


@pytest.fixture(scope="module")
def server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A running server of the recipe that the test is parametrised with."""
    recipe: Recipe = request.param
    server = Server(recipe, home_of(recipe.name), tmp_path_factory.mktemp(recipe.name))
    server.start()
    yield server
    server.stop()


@pytest.fixture
def job(server: Server, tmp_path: Path) -> Job:
    """The first requests of a bundled data set, with short answers."""
    data = tmp_path / "data"
    data.mkdir()
    for name in ("tool_desc.json", "graph_desc.json"):
        shutil.copy(DATA / name, data)
    lines = (DATA / "user_requests.json").read_text(encoding="utf-8").splitlines(keepends=True)
    (data / "user_requests.json").write_text("".join(lines[:REQUESTS]), encoding="utf-8")
    (tmp_path / "extra.json").write_text('{"max_tokens": 24}')
    return Job(server, tmp_path)
