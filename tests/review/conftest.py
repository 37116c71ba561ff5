"""What tests of reviews share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.reviewing import folder_with, session_of
from toolassay.review.session import Session


@pytest.fixture
def session(tmp_path: Path) -> Session:
    """A review of a new folder."""
    return session_of(folder_with(tmp_path / "d"))
