"""Personal data replaced by placeholders: found by patterns, or a local language model too."""

from toolassay.benchmarks.classic.chats.masking.finder import Finder, find_with
from toolassay.benchmarks.classic.chats.masking.placeholders import Scope, mask_chat, mask_workflow

__all__ = ["Finder", "Scope", "find_with", "mask_chat", "mask_workflow"]
