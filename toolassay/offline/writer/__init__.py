"""The writer: requests, steps and gold for sampled subgraphs of any tool library, without a server."""

from toolassay.offline.writer.instruction import unfillable, write_instruction

__all__ = ["unfillable", "write_instruction"]
