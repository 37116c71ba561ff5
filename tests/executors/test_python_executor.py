"""Calls of Python functions: their types, their errors, and the bounds on what they do."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.mcp_servers import is_running
from tests.support.plan_runs import LIMITS, WRITES, executed, library_of, opened, planned, run_with
from tests.support.running import environment, files_below, wait_until
from toolassay.errors import UsageError
from toolassay.executors import PythonExecutor
from toolassay.executors.executor import CallLimits
from toolassay.executors.plan_run import TRIES, RunRules
from toolassay.files.data_files import write_json
from toolassay.plans.execution_record import Execution

pytestmark = pytest.mark.usefixtures("temporary_files")

FUNCTIONS = '''
import asyncio, dataclasses, datetime, os, sqlite3, subprocess, sys, time
from pathlib import Path

print("a banner")  # must not reach the results
LOG = Path(__file__).with_name("log")
Path(LOG).open("a").write(f"pid {os.getpid()}\\n")

@dataclasses.dataclass
class Visit:
    day: datetime.date
    guests: list[str]

def plan(visit: Visit, hours: int = 1) -> dict:
    """Plan a visit."""
    print("planning", flush=True)
    sys.stderr.write("e" * 100_000)
    for stream in (1, *range(3, 20)):  # no answer that a function writes itself counts
        try:
            os.write(stream, b'{"result": "forged"}\\n')
        except OSError:
            pass
    return {"end": visit.day + datetime.timedelta(days=1), "guests": len(visit.guests), "hours": hours}

async def later(words: str) -> list[str]:
    await asyncio.sleep(0)
    return words.split()

def visit(day: datetime.date) -> Visit:
    return Visit(day, ["Ann"])

def fail(words: str) -> None:
    raise KeyError(f"no {words}\\x1b[31m\\n")

def leave(words: str) -> None:
    sys.exit(f"usage: {words}")

def cancel() -> None:
    raise asyncio.CancelledError

def rude() -> None:
    class Rude(Exception):
        def __str__(self): raise ValueError
    raise Rude

def nested(depth: int) -> list:
    value = []
    for _ in range(depth):
        value = [value]
    return value

def odd() -> dict:
    return {"inf": float("inf"), "self": Path("/workspace"), "half": "\\ud800", 7: {1}}

def endless() -> None:
    Path(LOG).open("a").write("endless\\n")
    while True:
        pass

def sleep() -> None:
    Path(LOG).open("a").write("sleep\\n")
    time.sleep(600)

def die(code: int) -> None:
    Path(LOG).open("a").write("die\\n")
    os._exit(code)

def die_once() -> str:
    Path(LOG).open("a").write("once\\n")
    if Path(LOG).read_text().count("once") == 1:
        os._exit(1)
    return "alive"

def long(size: int, text: str = "x") -> str:
    return text * size

def eat(mebibytes: int) -> int:
    return len(bytearray(mebibytes * 2**20))

def child() -> int:
    return subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]).pid

def fork() -> int:
    pid = os.fork()
    if pid == 0:
        os.setsid()
        time.sleep(20)
        os._exit(0)
    return pid

def write(path: str, text: str) -> str:
    Path(path).write_text(text)
    return str(Path(path).absolute())

def read(path: str) -> str:
    return Path(path).read_text()

def here() -> str:
    return os.getcwd()

def variable(name: str) -> str:
    value = os.environ.get(name)
    if value is not None:
        Path("seen").write_text(value)
        base = sqlite3.connect("seen.db")
        base.execute(f"CREATE TABLE '{value}' (value)")
        base.execute("INSERT INTO '%s' VALUES (?)" % value, [value])
        base.commit()
    return f"{name} is {value}"

def raised(name: str) -> None:
    raise ValueError(os.environ[name])

MEMORY = []

def remembered() -> int:
    MEMORY.append(1)
    return len(MEMORY)
'''


@pytest.fixture
def functions(tmp_path: Path) -> Path:
    """The file of the functions; they log to `log` beside it."""
    path = tmp_path / "functions.py"
    path.write_text(FUNCTIONS)
    return path


async def run(functions: Path, *calls: tuple[str, dict[str, Any]], **more: Any) -> Execution:
    """The execution of one plan; no process is left."""
    done = await executed(
        PythonExecutor(), functions.parent, planned("plan", *calls), functions=str(functions), **more
    )
    log = (functions.parent / "log").read_text().splitlines()
    assert not [line for line in log if line.startswith("pid ") and is_running(int(line.split()[1]))]
    return done["plan"]


def shown(execution: Execution) -> Sequence[Any]:
    assert execution.reason.isprintable()
    return [call.result if call.error is None else call.error for call in execution.calls]


async def test_typed_functions_take_json_and_give_json(functions: Path) -> None:
    day = {"day": "2031-02-28", "guests": ["Ann", "Bo"]}
    done = await run(
        functions,
        ("plan", {"visit": day, "hours": "3"}),
        ("later", {"words": "oak <node-0>"}),
        ("visit", {"day": "<node-0>.end"}),
        ("plan", {"visit": "<node-2>"}),
        ("odd", {}),
    )
    assert done.outcome == "ran", done.reason
    assert shown(done) == [
        {"end": "2031-03-01", "guests": 2, "hours": 3},
        ["oak", '{"end":', '"2031-03-01",', '"guests":', "2,", '"hours":', "3}"],
        {"day": "2031-03-01", "guests": ["Ann"]},
        {"end": "2031-03-02", "guests": 1, "hours": 1},
        {"inf": None, "self": "/workspace", "half": "\ud800", "7": [1]},
    ]


async def test_an_exception_is_a_refusal_in_its_own_words(functions: Path) -> None:
    """The process lives on: all of these plans run in one."""
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("fail", {"words": "oak"}, "KeyError: 'no oak\\x1b[31m\\n'"),
        ("leave", {"words": "leave WORD"}, "SystemExit: usage: leave WORD"),
        ("cancel", {}, "CancelledError:"),
        ("rude", {}, "Rude"),
        ("plan", {"visit": {"day": "soon", "guests": []}}, "visit.day: Input should be a valid date"),
        ("plan", {}, "visit: Missing required argument"),
        ("plan", {"visits": 1}, "visit: Missing required argument"),
        ("nested", {"depth": 100_000}, "ValueError: "),
    ]
    later = ("later", {"words": "a"})
    items = [planned(number, later, case[:2], later) for number, case in enumerate(cases)]
    items.append(planned("deep", ("nested", {"depth": 200}), ("remembered", {})))
    folder = functions.parent
    done = await executed(
        PythonExecutor(), folder, *items, workers=1, functions=str(functions), fresh="worker", limits=LIMITS
    )
    for number, (_, _, error) in enumerate(cases):
        assert done[number].outcome == "failed", done[number].reason
        assert (done[number].calls[1].error or "").startswith(error)
        assert len(done[number].calls) == 2
        assert done[number].reason.isprintable()
    assert done["deep"].outcome == "ran"
    assert (folder / "log").read_text().count("pid ") == 1


async def test_what_a_function_does_to_its_process_rejects_no_plan(functions: Path, tmp_path: Path) -> None:
    began = time.monotonic()
    (tmp_path / "source").mkdir()
    how = "the process of the functions ended with exit status"
    cases: list[tuple[str, dict[str, Any], str]] = [
        ("sleep", {}, "the function did not return within 2 s"),
        ("die", {"code": 0}, f"{how} 0"),
        ("eat", {"mebibytes": 600}, f"{how} 137"),
        ("long", {"size": 100_001}, "the result has 100,001 bytes, more than --max_result allows"),
        ("long", {"size": 10_000_000}, "the result is larger than --max_result allows"),
    ]
    later = ("later", {"words": "a"})
    items = [planned(number, later, case[:2]) for number, case in enumerate(cases)]
    items.insert(2, planned("between", later))
    done = await executed(
        PythonExecutor(),
        tmp_path,
        *items,
        functions=str(functions),
        workspace=str(tmp_path / "source"),
        limits=CallLimits(2, 100_000, 300 * 2**20),
    )
    for number, (_, _, reason) in enumerate(cases):
        assert (done[number].outcome, done[number].reason) == ("provider_error", reason)
        assert [one.tool for one in done[number].calls] == ["later"]
    assert done["between"].outcome == "ran"
    words = (tmp_path / "log").read_text().split()
    assert words.count("sleep") == words.count("die") == TRIES
    assert not [pid for pid in map(int, filter(str.isdigit, words)) if is_running(pid)]
    assert time.monotonic() - began < 60


async def test_functions_see_no_variable_that_is_not_passed_and_no_key_is_kept(
    functions: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("SHOP_API_KEY", "SHOP_TOKEN", "SHOP_REGION"):
        monkeypatch.setenv(name, f"value-of-{name}-77")
    (tmp_path / "source").mkdir()
    calls = [("variable", {"name": name}) for name in ("SHOP_API_KEY", "SHOP_TOKEN", "SHOP_REGION")]
    more = {"pass_env": ["SHOP_TOKEN", "SHOP_REGION"], "workspace": str(tmp_path / "source")}
    done = await run(functions, *calls[:2], ("raised", {"name": "SHOP_TOKEN"}), **more)
    assert shown(done) == ["SHOP_API_KEY is None", "SHOP_TOKEN is ***", "ValueError: ***"]
    assert "seen.db/***" in (done.changes or ())
    assert "seen" in (done.changes or ())
    assert "value-of" not in (tmp_path / "journal.jsonl").read_text()
    (tmp_path / "journal.jsonl").unlink()
    done = await run(functions, *calls[2:], ("here", {}), **more)
    assert shown(done) == ["SHOP_REGION is value-of-SHOP_REGION-77", "/workspace"]
    with pytest.raises(UsageError, match="SHOP_NONE is not set"):
        await run(functions, ("here", {}), pass_env=["SHOP_NONE"])


async def test_functions_see_the_date_of_the_set(functions: Path, tmp_path: Path) -> None:
    item = planned("day", ("variable", {"name": "TOOLASSAY_TODAY"}))
    folder = tmp_path / "dated"
    folder.mkdir()
    given: dict[str, Any] = {"functions": str(functions), "workspace": str(folder)}
    for number, day in enumerate([None, "2026-11-30"]):
        if day is not None:
            write_json(folder / "benchmark.json", {"today": day})
        async with opened(PythonExecutor(), folder, library_of([item]), **given) as ready:
            done = await run_with(ready, tmp_path / f"{number}.jsonl", [item])
        assert shown(done["day"]) == [f"TOOLASSAY_TODAY is {day}"]


async def test_importing_and_writing_need_consent(functions: Path, tmp_path: Path) -> None:
    library = library_of([])
    with pytest.raises(UsageError, match="add --allow_tools"):
        async with opened(PythonExecutor(), tmp_path, library, allow_tools=False, functions=str(functions)):
            raise AssertionError("opened")
    with pytest.raises(UsageError, match="add --functions"):
        async with opened(PythonExecutor(), tmp_path, library):
            raise AssertionError("opened")
    assert not (tmp_path / "log").exists()
    done = await run(functions, ("here", {}), rules=RunRules())
    assert (done.outcome, done.calls) == ("not_allowed", ())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("import sys; sys.exit(2)", "SystemExit|exit status 2"),
        ("import os; os._exit(2)", "ended with exit status 2"),
        ("def (", "SyntaxError|invalid syntax"),
    ],
)
async def test_a_module_that_cannot_be_imported_is_a_usage_error(
    tmp_path: Path, source: str, message: str
) -> None:
    (tmp_path / "broken.py").write_text(source)
    with pytest.raises(UsageError, match=message):
        async with opened(PythonExecutor(), tmp_path, library_of([]), functions=str(tmp_path / "broken.py")):
            raise AssertionError("opened")
    with pytest.raises(UsageError, match="no such file"):
        async with opened(PythonExecutor(), tmp_path, library_of([]), functions=str(tmp_path / "none.py")):
            raise AssertionError("opened")


async def test_functions_work_in_a_fresh_copy(functions: Path, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.mkdir()
    (source / "a.txt").write_text("first")
    # Found in place of the library's, it would end every process.
    (source / "random.py").write_text("raise SystemExit('the wrong module')")
    before = files_below(source)
    item = [
        ("write", {"path": "a.txt", "text": "in /workspace"}),
        ("read", {"path": "/workspace/a.txt"}),
        ("read", {"path": "<node-0>"}),
        ("here", {}),
        ("remembered", {}),
    ]
    for fresh, counts in (("plan", [1, 1]), ("worker", [1, 2])):
        done = await executed(
            PythonExecutor(),
            tmp_path / fresh,
            *(planned(number, *item) for number in range(2)),
            rules=WRITES,
            workers=1,
            functions=str(functions),
            workspace=str(source),
            fresh=fresh,
        )
        for number, count in enumerate(counts):
            assert shown(done[number]) == [
                *("/workspace/a.txt", "in /workspace", "in /workspace", "/workspace", count)
            ]
            assert list(done[number].changes or ()) == ["a.txt"]
        assert done[0].state_after == done[1].state_after
    assert files_below(source) == before
    with pytest.raises(UsageError, match="is not a folder"):
        await run(functions, ("here", {}), workspace=str(source / "a.txt"))


async def test_without_a_copy_a_write_in_flight_is_in_doubt(functions: Path, tmp_path: Path) -> None:
    items = [planned("dies", ("later", {"words": "a"}), ("die_once", {})), planned("other", ("here", {}))]
    async with opened(
        PythonExecutor(), tmp_path, library_of(items), functions=str(functions), fresh="worker"
    ) as ready:
        assert not ready.is_isolated
        done = await run_with(ready, tmp_path / "journal.jsonl", items)
    assert done["dies"].outcome == "in_doubt"
    assert done["other"].outcome == "ran"
    assert (tmp_path / "log").read_text().split().count("once") == 1

    source = tmp_path / "source"
    source.mkdir()
    (tmp_path / "log").write_text("")
    (tmp_path / "journal.jsonl").unlink()
    isolated = await run(functions, ("die_once", {}), workspace=str(source))
    assert isolated.answer == ("alive",), isolated.reason


def test_an_endless_function_ends_with_a_killed_parent(functions: Path, tmp_path: Path) -> None:
    program = f"""
import asyncio, sys
sys.path[:0] = {[path for path in sys.path if path]!r}
from pathlib import Path
from tests.support.plan_runs import executed, planned
from toolassay.executors import PythonExecutor
item = planned("r", ("endless", {{}}))
asyncio.run(executed(PythonExecutor(), Path({str(tmp_path)!r}), item, functions={str(functions)!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", program], env=environment())
    log = tmp_path / "log"
    wait_until(lambda: log.exists() and "endless" in log.read_text(), process)
    process.kill()
    process.wait()
    pids = [int(line.split()[1]) for line in log.read_text().splitlines() if line.startswith("pid ")]
    wait_until(lambda: not any(map(is_running, pids)))


async def test_children_of_functions_are_ended_with_them(functions: Path) -> None:
    began = time.monotonic()
    done = await run(functions, ("child", {}), ("fork", {}))
    assert not [pid for pid in shown(done) if is_running(pid)]  # the second one left the group
    assert time.monotonic() - began < 15
