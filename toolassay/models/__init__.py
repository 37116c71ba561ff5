"""Chat models: the `ChatModel` protocol, the HTTP client with its transports, and `create_model`.

This package is independent of benchmarks and tools.
"""

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
