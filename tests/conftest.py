"""What every test may use."""

from __future__ import annotations

import gc
import os
import re
import signal
import tempfile
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.doctest import DoctestModule
from hypothesis import HealthCheck, settings

from tests.support.builders import data_folder, running_server
from toolassay.models.options import DOTENV, ClientName
from toolassay.reports.pictures import draw_scoreboard
from toolassay.testkit import FakeServer

if TYPE_CHECKING:
    from tests.support.dask_workers import DaskWorkers
    from tests.support.workplace import Desk
    from toolassay.benchmarks.workbench.sandbox import Sandbox
    from toolassay.reports.decision import FolderReport

# No test depends on how fast the machine is. In continuous integration the examples are the same every time.
settings.register_profile(
    "tests",
    max_examples=50,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
    derandomize="CI" in os.environ,
)
settings.load_profile("tests")

pytest_plugins = ("toolassay.testkit.pytest_plugin", "tests.support.browsing")

ROOT = Path(__file__).resolve().parent.parent

# No test depends on the models that somebody has downloaded, and none downloads any.
os.environ["HF_HOME"] = "/nonexistent"
os.environ["HF_HUB_OFFLINE"] = "1"

# With this variable, each of some hundred processes that tests start would compile the package again, which
# takes longer than the tests themselves.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# A shell starts background jobs with Ctrl-C ignored, nohup starts them with SIGHUP ignored; tests that send
# these would wait without end.
signal.signal(signal.SIGINT, signal.default_int_handler)
for name in ("SIGTERM", "SIGHUP"):
    if hasattr(signal, name):
        signal.signal(getattr(signal, name), signal.SIG_DFL)


@pytest.hookimpl(wrapper=True)
def pytest_collect_file() -> Generator[None, list[pytest.Collector], list[pytest.Collector]]:
    """The tests have no examples in docstrings, and looking for some takes each process seconds."""
    collectors = yield
    return [collector for collector in collectors if not isinstance(collector, DoctestModule)]


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect without garbage collections, which would visit the growing number of tests again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def no_flushes_to_disk() -> Iterator[None]:
    """Skip `fsync` in this process: tests kill processes, not the machine, and a flush takes milliseconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.fsync", lambda descriptor: None)
        yield


@pytest.fixture(autouse=True)
def no_dotenv() -> Iterator[None]:
    """Forget what a command of this process read of a `.env` file."""
    yield
    for name in DOTENV:
        os.environ.pop(name, None)
    DOTENV.clear()


@pytest.fixture(autouse=True)
def no_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures are drawn where they are tested, and empty elsewhere: they take most of a report's time.

    A figure is then made for one of its three formats only, which is most of what is left of that time.
    """
    if re.search("tests/report/|test_visualize", request.node.nodeid):
        return

    def drawn_once(folders: Sequence[FolderReport], path: Path, **how: Any) -> Path:
        if path.suffix == ".png":
            return draw_scoreboard(folders, path, **how)
        path.write_bytes(b"")
        return path

    monkeypatch.setattr("matplotlib.figure.Figure.savefig", lambda self, stream, **how: stream.write(b""))
    monkeypatch.setattr("toolassay.stages.report.draw_scoreboard", drawn_once)


@pytest.fixture(scope="session")
def reference() -> Path:
    """The folder of published data; tests that need it are skipped without it."""
    folder = os.environ.get("TOOLASSAY_REFERENCE")
    if not folder:
        pytest.skip("TOOLASSAY_REFERENCE is not set: no published data to compare with")
    path = Path(folder).resolve()
    if not path.is_dir():
        pytest.skip(f"TOOLASSAY_REFERENCE points to {path}, which is no folder")
    return path


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A new data folder, made by `build_folder(path)` of the test module (default: `data_folder`)."""
    build: Callable[[Path], Path] = getattr(request.module, "build_folder", data_folder)
    path = tmp_path / "data"
    path.mkdir()
    return build(path)


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[FakeServer]:
    """A running server that answers with `server_answer` of the test module (default: canned plans)."""
    with running_server(getattr(request.module, "server_answer", None)) as server:
        yield server


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DaskWorkers]:
    """A Dask scheduler and two workers: three seconds to start, and a twentieth of a core while they wait."""
    from tests.support.dask_workers import DaskWorkers

    found = DaskWorkers(tmp_path_factory.mktemp("dask"))
    yield found
    found.close()


@pytest.fixture
def sandbox() -> Sandbox:
    """A small made-up workplace."""
    from tests.support.workplace import TABLES
    from toolassay.benchmarks.workbench.sandbox import Sandbox

    return Sandbox.of(TABLES)


@pytest.fixture
def desk(sandbox: Sandbox) -> Desk:
    """The tools on that workplace."""
    from tests.support.workplace import Desk

    return Desk(sandbox)


@pytest.fixture
def temporary_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of temporary files, which must be empty in the end."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not list(folder.iterdir())


@pytest.fixture(params=["aiohttp", "openai"])
def client(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ClientName:
    """Both clients, without what the environment says of servers."""
    for variable in ("OPENAI_BASE_URL", "OPENAI_API_KEY", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    name: ClientName = request.param
    return name
