"""vLLM, on a plain CPU."""

from __future__ import annotations

from typing import Any

from tests.real_servers.serving import Place, Recipe, make_tiny_model
from tests.real_servers.tiny_model import CONTEXT


def commands(place: Place) -> list[list[str]]:
    server = [place.python, "-m", "vllm.entrypoints.openai.api_server"]
    model = ["--model", "tiny", "--served-model-name", "tiny", "--dtype", "float32"]
    where = ["--host", "127.0.0.1", "--port", str(place.port)]
    small = ["--enforce-eager", "--max-model-len", str(CONTEXT), "--max-num-seqs", "8"]
    # A model that has learnt nothing would fill an answer with the blanks that JSON allows.
    compact = ["--structured-outputs-config", '{"backend": "xgrammar", "disable_any_whitespace": true}']
    tools = ["--enable-auto-tool-choice", "--tool-call-parser", "hermes"]  # without these, tools get HTTP 400
    return [[*server, *model, *where, *small, *compact, *tools]]


def schema(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "plan", "schema": wanted}}


RECIPE = Recipe(
    "vllm",
    make_tiny_model,
    commands,
    environment={"VLLM_CPU_KVCACHE_SPACE": "1", "VLLM_NO_USAGE_STATS": "1", "DO_NOT_TRACK": "1"},
    schema=schema,
)
