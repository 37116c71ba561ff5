"""Requests as a batch (`--batch`): gathered from all items, submitted once, found again by the next start."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path

from toolassay.errors import UsageError
from toolassay.models import ModelOptions
from toolassay.models.registry import is_served
from toolassay.runs.batches.state import STATE, BatchState
from toolassay.runs.journal import Journal
from toolassay.runs.ledger import booked
from toolassay.runs.manifest import JOURNAL, LEDGER

MOST_REQUESTS = 50_000
"""Requests of a batch, by OpenAI's documentation; also the maximum of items in progress."""


def check_batch(options: ModelOptions, llm: str | None, *, in_steps: bool, cancel: bool) -> None:
    """Check that the requests of a run can be sent as a batch, if they are to be.

    Args:
        options: Endpoint and kind of batch.
        llm: Name of the model under test; None if the run asks no model.
        in_steps: Whether an item is a conversation, whose requests depend on earlier answers.
        cancel: Whether open batches are to be cancelled.

    Raises:
        UsageError: They cannot.
    """
    kind = options.batch
    if kind is None:
        if cancel:
            raise UsageError("--batch_cancel is for a run with --batch", fix="add --batch openai")
        return
    leave_out = "leave --batch out"
    what = "recorded answers ask" if llm is None else f"--llm {llm} asks"
    for is_wrong, problem, fix in (
        (llm is None or not is_served(llm), f"{what} no server, and --batch is for one", leave_out),
        (
            in_steps,
            "--batch is for items of one request, and an agent's steps depend on the answers before them",
            leave_out,
        ),
        (options.stream, "an answer in a batch is not streamed", "leave --stream or --batch out"),
        (
            options.connections is not None,
            "the server decides how many requests of a batch it works on",
            "leave --multiworker out",
        ),
        (options.dialect != "chat", f"--batch is not written for --api {options.dialect}", leave_out),
        (options.is_azure, "--batch is not written for Azure, whose batches differ", leave_out),
    ):
        if is_wrong:
            raise UsageError(problem, fix=fix)


def open_batches(run_folder: Path) -> list[str]:
    """The names of the batches of a run that may still be worked on.

    Raises:
        UsageError: Their list is broken.
    """
    if not (run_folder / STATE).is_file():
        return []
    with BatchState(run_folder, read_only=True) as state:
        return [batch.name for batch in state.open_batches if batch.kind == "openai"]


@contextmanager
def refused_open_batches(run_folder: Path) -> Iterator[None]:
    """Refuse to send requests one by one that a batch may still answer, or has answered.

    Raises:
        UsageError: There are such.
    """
    if (run_folder / STATE).is_file():
        booked_ids = {line.custom_id or "" for line in booked(run_folder / LEDGER)}
        with (
            BatchState(run_folder, read_only=True) as state,
            Journal(run_folder / JOURNAL, read_only=True) as journal,
        ):
            for batch, _ in chain(state.unread(booked_ids), state.kept_answers(journal)):
                raise UsageError(
                    f"{batch.name} of this run (--batch {batch.kind}) is not read yet, and its requests would"
                    " be paid for twice",
                    file=run_folder / STATE,
                    fix=f"add --batch {batch.kind}, and --batch_cancel true to give the batch up",
                )
    yield
