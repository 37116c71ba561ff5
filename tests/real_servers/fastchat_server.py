"""FastChat: a controller, a worker and the API. Its streams break with pydantic 2."""

from __future__ import annotations

from tests.real_servers.serving import Place, Recipe, free_port, make_tiny_model


def commands(place: Place) -> list[list[str]]:
    start, loopback = [place.python, "-m"], ["--host", "127.0.0.1", "--port"]
    port, worker_port = free_port(), free_port()
    controller = f"http://127.0.0.1:{port}"
    worker = ["--model-path", "tiny", "--device", "cpu", "--controller-address", controller]
    worker += ["--worker-address", f"http://127.0.0.1:{worker_port}"]
    return [
        [*start, "fastchat.serve.controller", *loopback, str(port)],
        [*start, "fastchat.serve.model_worker", *loopback, str(worker_port), *worker],
        [
            *start,
            "fastchat.serve.openai_api_server",
            *loopback,
            str(place.port),
            "--controller-address",
            controller,
        ],
    ]


RECIPE = Recipe("fastchat", make_tiny_model, commands, streams=False)
