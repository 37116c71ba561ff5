"""The litellm proxy, with answers of its own: nothing stands behind it."""

from __future__ import annotations

import json
from typing import Any

from tests.real_servers.serving import Place, Recipe
from tests.real_servers.tiny_model import CONTEXT

PLAN = {"task_steps": ["Write it down"], "task_nodes": [{"task": "Summarization"}], "task_links": []}
A_MINUTE = 5
"""How many requests a minute the model `limited` bears."""
KEY = "sk-for-tests-on-loopback-only-0123456789"


def prepare(place: Place) -> None:
    def model(name: str, answer: str, **more: Any) -> dict[str, Any]:
        parameters = {"model": f"openai/{name}", "api_key": "none", "mock_response": answer, **more}
        # litellm counts the tokens of a prompt itself.
        return {
            "model_name": name,
            "litellm_params": parameters,
            "model_info": {"max_input_tokens": CONTEXT},
        }

    settings = {
        "model_list": [
            model("tiny", json.dumps(PLAN)),
            model("limited", json.dumps(PLAN), rpm=A_MINUTE),
            model("broken", "litellm.InternalServerError"),
        ],
        "router_settings": {
            "routing_strategy": "usage-based-routing-v2",
            "enable_pre_call_checks": True,
            "disable_cooldowns": True,
            "num_retries": 0,
        },
    }
    (place.folder / "config.yaml").write_text(json.dumps(settings))  # JSON is YAML


def commands(place: Place) -> list[list[str]]:
    program = str(place.home / "bin" / "litellm")
    return [[program, "--config", "config.yaml", "--host", "127.0.0.1", "--port", str(place.port)]]


RECIPE = Recipe(
    "litellm",
    prepare,
    commands,
    environment={"LITELLM_MASTER_KEY": KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "DO_NOT_TRACK": "1"},
    key=KEY,
    outcome="answered",
    finish_reason="stop",
)
