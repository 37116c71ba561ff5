"""Chat models: the `ChatModel` protocol, the HTTP client with its transports, and `create_model`.

This package is independent of benchmarks and tools.
"""

from typing import TYPE_CHECKING, Any

from toolassay.extras import exported

if TYPE_CHECKING:
    from toolassay.models.errors import ModelError
    from toolassay.models.options import ModelOptions
    from toolassay.models.protocol import (
        Attempt,
        ChatModel,
        ChatRequest,
        ChatResponse,
        Message,
        Meter,
        NoMeter,
        ToolCall,
    )
    from toolassay.models.registry import create_model

__all__ = [
    "Attempt",
    "ChatModel",
    "ChatRequest",
    "ChatResponse",
    "Message",
    "Meter",
    "ModelError",
    "ModelOptions",
    "NoMeter",
    "ToolCall",
    "create_model",
]

_MODULE_OF = {
    "Attempt": "protocol",
    "ChatModel": "protocol",
    "ChatRequest": "protocol",
    "ChatResponse": "protocol",
    "Message": "protocol",
    "Meter": "protocol",
    "ModelError": "errors",
    "ModelOptions": "options",
    "NoMeter": "protocol",
    "ToolCall": "protocol",
    "create_model": "registry",
}


def __getattr__(name: str) -> Any:
    return exported(__name__, _MODULE_OF, name)
