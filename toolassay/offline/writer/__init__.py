"""The writer: requests, steps and gold for sampled subgraphs of any tool library, without a server."""

from toolassay.offline.writer.instruction import write_instruction

__all__ = ["write_instruction"]
