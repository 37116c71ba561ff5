"""Files that reach workers by way of a storage: a folder, and a real S3 server."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.support.builders import chain, labelled_folder, scored_folder, workbench_folder
from tests.support.checking import label
from tests.support.dask_workers import DaskWorkers
from tests.support.running import files_below
from toolassay import check, evaluate, infer
from toolassay.engines.dask_cluster import SharedFiles, as_sent, fetch_into
from toolassay.errors import ToolassayError, UsageError

pytest.importorskip("fsspec")


@dataclass(frozen=True)
class Reads:
    """Reads a file, and says where it was."""

    path: Path

    def start(self) -> Callable[[int], tuple[str, bytes]]:
        return lambda _: (str(self.path), self.path.read_bytes())


@pytest.fixture
def storage(tmp_path: Path) -> SharedFiles:
    """A folder as storage; what is fetched comes into `fetched`."""
    fetch_into(tmp_path / "fetched")
    return SharedFiles(f"file://{tmp_path}/storage/")


def arrived(storage: SharedFiles, path: Path) -> Path:
    """A path after it was sent."""
    found = pickle.loads(storage.pickled(Reads(path))).path
    assert isinstance(found, Path)
    return found


def test_a_file_arrives_with_its_name_and_its_content(storage: SharedFiles, tmp_path: Path) -> None:
    file = tmp_path / "data.json"
    file.write_bytes(b"one\r\ntwo")
    copy = arrived(storage, file)
    assert copy.is_relative_to(tmp_path / "fetched")
    assert (copy.name, copy.read_bytes()) == ("data.json", b"one\r\ntwo")
    assert as_sent(f"{copy}:2: is not JSON") == f"{file}:2: is not JSON"


def test_each_content_is_sent_and_fetched_once(storage: SharedFiles, tmp_path: Path) -> None:
    file, same = tmp_path / "a.json", tmp_path / "b.json"
    file.write_text("1")
    same.write_text("1")
    arrived(storage, file)
    (stored,) = (tmp_path / "storage").iterdir()
    state = stored.stat()
    copy = arrived(SharedFiles(storage.url), same)
    assert arrived(storage, same) == copy
    assert stored.stat() == state
    file.write_text("23")
    assert arrived(storage, file).read_text() == "23"
    assert copy.read_text() == "1"


def test_a_storage_that_lost_or_changed_a_file_is_an_error(storage: SharedFiles, tmp_path: Path) -> None:
    file = tmp_path / "a.json"
    file.write_text("1")
    sent = storage.pickled(Reads(file))
    (stored,) = (tmp_path / "storage").iterdir()
    stored.write_text("2")
    with pytest.raises(ToolassayError, match="is not what was put there"):
        pickle.loads(sent)
    stored.unlink()
    with pytest.raises(ToolassayError, match="cannot be read by a worker"):
        pickle.loads(sent)


def test_a_storage_that_cannot_be_used_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ToolassayError, match=r"cannot be written.* Fix: check the URL"):
        SharedFiles(f"file://{tmp_path}/file").pickled(tmp_path / "file")
    with pytest.raises(UsageError, match="contains credentials"):
        SharedFiles("s3://key:secret@bucket/data")
    with pytest.raises(UsageError, match=r"nowhere://people@bucket cannot be opened"):
        SharedFiles("nowhere://people@bucket")  # as Azure writes a container and its account
    with pytest.raises(UsageError, match=r"nowhere://bucket cannot be opened"):
        SharedFiles("nowhere://bucket")


@pytest.fixture(scope="module")
def bucket() -> Iterator[dict[str, str]]:
    """A real S3 server with a bucket, as environment variables."""
    pytest.importorskip("s3fs")
    server = pytest.importorskip("moto.server").ThreadedMotoServer(
        ip_address="127.0.0.1", port=0, verbose=False
    )
    server.start()
    host, port = server.get_host_and_port()
    yield {
        "AWS_ENDPOINT_URL": f"http://{host}:{port}",
        "AWS_ACCESS_KEY_ID": "test-key",
        "AWS_SECRET_ACCESS_KEY": "test-secret",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    server.stop()


@contextmanager
def variables(values: dict[str, str]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name, value in values.items():
            patch.setenv(name, value)
        yield


@pytest.fixture(scope="module")
def engine(bucket: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A cluster whose workers read from the bucket."""
    import s3fs

    workers = DaskWorkers(tmp_path_factory.mktemp("workers"), 2, **bucket)
    with variables(bucket):
        s3fs.S3FileSystem(skip_instance_cache=True).mkdir("shared")
        yield f"{workers.engine}?files=s3://shared/some/folder"
    workers.close()


@pytest.mark.slow
def test_stages_have_the_same_bytes_through_an_s3_server(engine: str, tmp_path: Path) -> None:
    gold = {str(number): chain(*"abca"[number % 3 :]) for number in range(30)}
    plans = scored_folder(tmp_path / "plans", gold, {"m": {**gold, "3": chain("a")}}, tools="abc")
    tasks = workbench_folder(tmp_path / "tasks", slice(0, 690, 60))
    labels = labelled_folder(tmp_path / "labels", [label(0), label(1), label(1), label(2, task_nodes=[])])
    found = {}
    for name, chosen in (("one", None), ("many", engine)):
        evaluate(plans, llm="m", save_dir=name, engine=chosen)
        infer(tasks, llm="offline", engine=chosen, prediction_dir=f"{name}-answers")
        evaluate(tasks, llm="offline", prediction_dir="one-answers", save_dir=name, engine=chosen)
        check(labels, out=labels / name, engine=chosen)
        found[name] = [
            {key: value for key, value in files_below(folder / name).items() if key != "manifest.json"}
            for folder in (plans, tasks, labels)
        ]
    assert found["one"] == found["many"]
    assert all(found["one"])
    answers = [(tasks / f"{name}-answers/offline.json").read_bytes() for name in found]
    assert answers[0] == answers[1]


@pytest.mark.slow
def test_an_error_of_a_worker_names_the_file_of_the_user(engine: str, tmp_path: Path) -> None:
    folder = scored_folder(tmp_path / "plans", {"1": chain("a")}, {"m": {"1": chain("a")}}, tools="abc")
    (folder / "data.json").write_text('{"id": "1", "task_nodes": [}\n')
    with pytest.raises(UsageError) as here:
        evaluate(folder, llm="m")
    with pytest.raises(UsageError) as there:
        evaluate(folder, llm="m", engine=engine)
    assert str(there.value) == str(here.value)
    assert str(folder / "data.json") in str(here.value)
    assert os.environ["AWS_SECRET_ACCESS_KEY"] not in str(there.value)
