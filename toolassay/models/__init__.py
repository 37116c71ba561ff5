"""Chat models: the `ChatModel` protocol, the HTTP client with its transports, and `create_model`.

This package is independent of benchmarks and tools.
"""

from toolassay.models.errors import ModelError as ModelError
from toolassay.models.options import ModelOptions as ModelOptions
from toolassay.models.protocol import Attempt as Attempt
from toolassay.models.protocol import ChatModel as ChatModel
from toolassay.models.protocol import ChatRequest as ChatRequest
from toolassay.models.protocol import ChatResponse as ChatResponse
from toolassay.models.protocol import Message as Message
from toolassay.models.protocol import Meter as Meter
from toolassay.models.protocol import NoMeter as NoMeter
from toolassay.models.protocol import ToolCall as ToolCall
from toolassay.models.registry import create_model as create_model
