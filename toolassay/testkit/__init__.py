"""For tests of model clients: a chat-completions server with programmable faults."""

from toolassay.serving.completions import Received, Reply
from toolassay.testkit.fake_server import FakeServer, canned_answer

__all__ = ["FakeServer", "Received", "Reply", "canned_answer"]
