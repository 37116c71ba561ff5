"""For tests of anything that talks to a model: a chat-completions server that fails as it is told."""

from toolassay.serving.completions import Received, Reply
from toolassay.testkit.fake_server import FakeServer, canned_answer

__all__ = ["FakeServer", "Received", "Reply", "canned_answer"]
