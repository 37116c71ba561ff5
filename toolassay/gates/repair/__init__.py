"""Repair of what is mechanical and can be meant in one way only; every change is recorded."""

from toolassay.gates.repair.changes import Repair
from toolassay.gates.repair.repair import repair

__all__ = ["Repair", "repair"]
