"""What a run knows of its batches, after any end of its process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.support.running import lines_of, write_lines
from toolassay.errors import UsageError
from toolassay.models import Attempt, ModelError
from toolassay.runs.batches import refused_open_batches
from toolassay.runs.batches.state import (
    STATE,
    Batch,
    BatchRequest,
    BatchState,
    Endpoint,
    ResultLine,
    parse_line,
)
from toolassay.runs.budget import Outstanding
from toolassay.runs.journal import AnswerLine, Journal, LineAddress
from toolassay.runs.ledger import Ledger
from toolassay.runs.manifest import JOURNAL, LEDGER

ADDRESS = LineAddress("half \ud800", "planner", 2, 1)
ONE = BatchRequest(ADDRESS, 400, 100)
HERE = Endpoint("http://host/v1", None)


def submitted(folder: Path, *ids: str, kind: str = "openai") -> Batch:
    """Write down a batch, as a process does that ends after it."""
    state = BatchState(folder)
    batch = state.submit(kind, "m", HERE, dict.fromkeys(ids, ONE))
    state.close()
    return batch


def result(custom_id: str, status: int = 200, code: str | None = None) -> dict[str, Any]:
    if code:
        return {"custom_id": custom_id, "response": None, "error": {"code": code}}
    return {"custom_id": custom_id, "response": {"status_code": status, "body": {}}, "error": None}


def end(folder: Path, batch: Batch, *results: dict[str, Any], status: str = "completed") -> None:
    state = BatchState(folder)
    write_lines(_folder_of(state.result_file(batch)), list(results))
    state.ended(batch, status)
    state.close()


def _folder_of(path: Path) -> Path:
    path.parent.mkdir(exist_ok=True)
    return path


def test_what_is_submitted_is_known_after_a_crash(tmp_path: Path) -> None:
    batch = submitted(tmp_path, "a-1", "b-1")
    with BatchState(tmp_path) as state:
        assert [one.key for one in state.open_batches] == [batch.key]
        assert state.is_submitted("a-1") and not state.is_submitted("c-1")
        assert state.next_id("a", ()) == "a-1" and state.next_id("c", ()) == "c-1"
        state.uploaded(state.batches[1], "file-1")
        state.created(state.batches[1], "batch_1")
    again = BatchState(tmp_path, read_only=True).batches[1]
    assert (again.file, again.id, again.requests["a-1"]) == ("file-1", "batch_1", ONE)
    assert again.requests["a-1"].outstanding == Outstanding("planner", ADDRESS.key, 400, 100)


def test_an_answer_is_kept_until_the_journal_has_it(tmp_path: Path) -> None:
    end(tmp_path, submitted(tmp_path, "a-1"), result("a-1"))
    with BatchState(tmp_path) as state, Journal(tmp_path / JOURNAL) as journal:
        assert state.has_result("a-1") and state.result("a-1") == msgspec.convert(result("a-1"), ResultLine)
        assert state.next_id("a", ["a-1"]) == "a-1"  # it is in the ledger, and may not be in the journal
        state.prune(journal, ["a-1"])
        assert [name for _, name in state.kept_answers(journal)] == ["a-1"]
        assert state.result("a-1") == msgspec.convert(result("a-1"), ResultLine)
        journal.add_answer(ADDRESS, AnswerLine("yes"))
        assert not list(state.kept_answers(journal))
        state.prune(journal, ["a-1"])
        assert not (tmp_path / "batches").exists()
    assert not BatchState(tmp_path, read_only=True).has_result("a-1")


def test_a_request_of_an_expired_batch_keeps_its_id(tmp_path: Path) -> None:
    batch = submitted(tmp_path, "a-1", "b-1")
    end(tmp_path, batch, result("a-1"), result("b-1", code="batch_expired"), status="expired")
    state = BatchState(tmp_path)
    assert not state.is_submitted("b-1") and not state.has_result("b-1") and state.next_id("b", ()) == "b-1"
    assert [name for _, name in state.unread([])] == ["a-1"]
    state.close()
    submitted(tmp_path, "b-1")
    state = BatchState(tmp_path)
    assert state.is_submitted("b-1") and state.owner("b-1").number == 2
    state.close()


def test_an_attempt_in_the_ledger_is_followed_by_another_one(tmp_path: Path) -> None:
    end(tmp_path, submitted(tmp_path, "a-1"), result("a-1", 500))
    with BatchState(tmp_path, read_only=True) as state:
        assert state.failures(()) == ["a-1"] and state.has_result("a-1") and state.next_id("a", ()) == "a-1"
        assert state.failures(["a-1"]) == [] and state.next_id("a", ["a-1"]) == "a-2"


def test_an_output_file_of_vllm_is_read_as_far_as_it_goes(tmp_path: Path) -> None:
    batch = submitted(tmp_path, "a-1", "b-1", "c-1", kind="vllm")
    state = BatchState(tmp_path)
    path = _folder_of(state.result_file(batch))
    state.close()
    path.write_text("")  # vLLM has begun
    state = BatchState(tmp_path)
    assert state.is_submitted("a-1")
    state.close()
    path.write_text(f"{json.dumps(result('a-1'))}\n\n{json.dumps(result('b-1'))[:-9]}")
    state = BatchState(tmp_path)
    assert state.has_result("a-1") and not state.has_result("b-1") and not state.is_submitted("b-1")
    state.close()
    write_lines(path, [result("a-1"), result("b-1"), result("stranger-1")])  # it has grown
    state = BatchState(tmp_path)
    assert state.has_result("b-1") and not state.has_result("stranger-1")
    with Journal(tmp_path / JOURNAL) as journal:
        state.prune(journal, ["a-1", "b-1"])
    state.close()
    assert path.exists()  # it is the user's


def test_a_broken_line_of_an_output_file_is_named(tmp_path: Path) -> None:
    batch = submitted(tmp_path, "a-1", kind="vllm")
    state = BatchState(tmp_path)
    path = _folder_of(state.result_file(batch))
    state.close()
    path.write_text(f"what is this\n{json.dumps(result('a-1'))}\n")
    with pytest.raises(UsageError, match=r"1\.output\.jsonl:1: not a line of a batch's output"):
        BatchState(tmp_path)


@pytest.mark.parametrize(
    "change",
    [
        {"step": 7},
        {"requests": [["a"]]},
        {"time": None},
    ],
)
def test_a_line_of_something_else_is_named(tmp_path: Path, change: dict[str, Any]) -> None:
    submitted(tmp_path, "a-1")
    (line,) = lines_of(tmp_path / STATE)
    write_lines(tmp_path / STATE, [{**line, **change}, line])
    with pytest.raises(UsageError, match=r"batches\.jsonl:1: broken line in a list of batches"):
        BatchState(tmp_path)


def test_unread_batches_are_refused_without_the_option(tmp_path: Path) -> None:
    with refused_open_batches(tmp_path):
        pass
    batch = submitted(tmp_path, "a-1")
    with (
        pytest.raises(UsageError, match=r"paid for twice.*add --batch openai"),
        refused_open_batches(tmp_path),
    ):
        pass
    end(tmp_path, batch, result("a-1"))
    with pytest.raises(UsageError), refused_open_batches(tmp_path):
        pass
    with Journal(tmp_path / JOURNAL) as journal:
        journal.add_answer(ADDRESS, AnswerLine("yes"))
    with pytest.raises(UsageError), refused_open_batches(tmp_path):  # its cost is not in the ledger
        pass
    with Ledger(tmp_path / LEDGER, prices={}) as ledger:
        ledger.after(Attempt("m", "planner", "7", 1, "answered", custom_id="a-1"))
    with refused_open_batches(tmp_path):
        pass


BODY = {
    "choices": [{"message": {"role": "assistant", "content": "yes"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 1},
}
VLLM_OVERFLOW = {
    "id": "vllm-952071d527f88526",
    "custom_id": "a-1",
    "response": {"status_code": 400, "request_id": "vllm-batch-81cf9c145c271e9c", "body": None},
    "error": {
        "error": {
            "message": "This model's maximum context length is 8192 tokens. However, your prompt contains at "
            "least 8193 input tokens.",
            "type": "BadRequestError",
            "param": "input_tokens",
            "code": 400,
        }
    },
}


def line(status: int | None, body: Any = None, error: Any = None) -> ResultLine:
    response = None if status is None else {"status_code": status, "request_id": "r", "body": body}
    return msgspec.convert({"id": "b", "custom_id": "a-1", "response": response, "error": error}, ResultLine)


def test_an_answer() -> None:
    answer = line(200, BODY).answer("here")
    assert (answer.text, answer.prompt_tokens, answer.seconds) == ("yes", 7, None)
    assert line(200, BODY).is_answer and not line(500, {}).is_answer


@pytest.mark.parametrize(
    ("found", "kind", "status", "transient", "outcome"),
    [
        (line(500, {"error": {"message": "oops"}}), "HTTP 500", 500, True, "provider error"),
        (line(400, {"error": {"code": "content_filter"}}), "HTTP 400", 400, False, "refused"),
        (msgspec.convert(VLLM_OVERFLOW, ResultLine), "HTTP 400", 400, False, "context overflow"),
        (line(400, None, "not in stream mode"), "HTTP 400", 400, False, "provider error"),
        (line(200, None), "batch: no answer", None, True, "provider error"),
        (
            line(None, error={"code": "request_timeout"}),
            "batch: request_timeout",
            None,
            True,
            "provider error",
        ),
        (ResultLine.missing("a-1"), "batch: missing", None, True, "provider error"),
        (line(200, {"choices": []}), "empty choices", None, True, "provider error"),
    ],
)
def test_an_error_is_that_of_a_single_request(
    found: ResultLine, kind: str, status: int | None, transient: bool, outcome: str
) -> None:
    with pytest.raises(ModelError) as raised:
        found.answer("here")
    error = raised.value
    assert (error.kind, error.status, error.transient, error.outcome) == (kind, status, transient, outcome)
    assert found.was_run


@pytest.mark.parametrize("code", ["batch_expired", "batch_cancelled"])
def test_a_request_that_was_never_run(code: str) -> None:
    assert not line(None, error={"code": code, "message": "…"}).was_run


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"custom_id": 7}', b'{"custom_id": "a"', b"\xff"])
def test_what_is_no_line(text: bytes) -> None:
    assert parse_line(text) is None
