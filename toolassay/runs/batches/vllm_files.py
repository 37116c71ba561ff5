"""`VllmFiles`: writes the input file of vLLM's `run_batch`, and says how to run it.

    python -m vllm.entrypoints.openai.run_batch -i 1.input.jsonl -o 1.output.jsonl --model NAME

The user runs it, on whatever machine has the GPU; the next start of the run reads the output file.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable

from toolassay.errors import UsageError
from toolassay.files import atomic_target
from toolassay.models import ModelOptions
from toolassay.runs.batches.state import Batch, BatchState

MODULE = "vllm.entrypoints.openai.run_batch"


def write_input(state: BatchState, batch: Batch, lines: Iterable[bytes]) -> None:
    """Write the input file of a batch.

    Raises:
        ToolassayError: The folder cannot be written.
    """
    with atomic_target(state.input_file(batch)) as stream:
        stream.writelines(lines)


def command_of(state: BatchState, batch: Batch) -> str:
    """The command that answers a batch."""
    words = ["python", "-m", MODULE, "-i", str(state.input_file(batch)), "-o", str(state.result_file(batch))]
    return shlex.join([*words, "--model", batch.model])


def check_no_secret(options: ModelOptions) -> None:
    """Refuse extra fields of requests that hold a credential, because the input file would hold it too.

    Raises:
        UsageError: There is one.
    """
    if options.secret_fields:
        raise UsageError(
            f"--extra_body has the field {options.secret_fields[0]}, and --batch vllm writes it to a file",
            fix="remove it: run_batch needs no key",
        )
