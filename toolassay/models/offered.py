"""The tools that requests offer."""

from __future__ import annotations

import json
from functools import cached_property
from typing import Any


class OfferedTools(list[dict[str, Any]]):
    """The `tools` of many requests, never changed: written as JSON once, not for each of them.

    >>> OfferedTools([{"type": "function"}]).text
    '[{"type": "function"}]'
    """

    @cached_property
    def text(self) -> str:
        """As JSON, in ASCII."""
        return json.dumps(self)

    @cached_property
    def size(self) -> int:
        """Bytes of their JSON in UTF-8, by which tokens are estimated."""
        return len(json.dumps(self, ensure_ascii=False).encode(errors="replace"))
