"""The project's own workplace and 690 requests, drawn from a seed."""

from __future__ import annotations

from toolassay.benchmarks.workbench.generate.folder import GENERATOR, write_folder
from toolassay.benchmarks.workbench.generate.tables import world
from toolassay.benchmarks.workbench.generate.tasks import MadeTask, draw_tasks
from toolassay.benchmarks.workbench.generate.workplace import sandbox_of

__all__ = ["GENERATOR", "MadeTask", "draw_tasks", "sandbox_of", "world", "write_folder"]
