"""A real endpoint that bears so many requests a minute, and one that always fails."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.real_servers import litellm_proxy
from tests.real_servers.inference_job import REQUESTS, Job
from tests.support.running import entries_of, lines_of
from toolassay.models.retry import MAX_IDENTICAL

pytestmark = [
    pytest.mark.server,
    pytest.mark.parametrize(
        "server", [litellm_proxy.RECIPE], indirect=True, ids=lambda recipe: recipe.name, scope="module"
    ),
]


def test_requests_beyond_the_limit_of_a_minute_wait_for_the_next(job: Job) -> None:
    done = job.infer("--llm", "limited", seconds=400)
    assert done.code == 0, done.err
    run = job.run.with_name("limited")
    journal = entries_of(run / "journal.jsonl")
    assert Counter(entry["outcome"] for entry in journal) == {"answered": REQUESTS}
    ledger = lines_of(run / "ledger.jsonl")
    outcomes = Counter(line["outcome"] for line in ledger)
    assert outcomes["answered"] == REQUESTS
    assert 0 < outcomes["HTTP 429"] == len(ledger) - REQUESTS


def test_a_model_that_always_fails_is_given_up_in_one_line(job: Job) -> None:
    done = job.infer("--llm", "broken")
    assert done.code == 1
    assert "HTTP 500" in done.error
    attempts = [line["attempt"] for line in lines_of(job.run.with_name("broken") / "ledger.jsonl")]
    assert max(attempts) == MAX_IDENTICAL
