"""The project's own workplace with 690 requests, generated from a seed."""

from __future__ import annotations

from toolassay.benchmarks.workbench.generate.data_folder import GENERATOR, sandbox_of, write_folder
from toolassay.benchmarks.workbench.generate.generated_tasks import GeneratedTask, draw_tasks
from toolassay.benchmarks.workbench.generate.tables import draw_tables

__all__ = ["GENERATOR", "GeneratedTask", "draw_tables", "draw_tasks", "sandbox_of", "write_folder"]
