"""Persons and occasions that fit a library: its writer proposes them, once."""

from __future__ import annotations

from pathlib import Path
from string import Template
from typing import Annotated

import msgspec

from toolassay.prompts.plan_schemas import object_schema
from toolassay.prompts.templates import package_template
from toolassay.runs.questions import ModelQuestion, asked_once
from toolassay.runs.settings import RunSettings
from toolassay.tools.library import ToolLibrary
from toolassay.writing.shown import shown_service

FOLDER = "situations"
"""Folder of the run, below the data folder."""
_NUMBER = 12  # of persons, and of occasions
_FEWEST = 6  # with fewer, requests would be more alike than with the packaged ones
_MOST_NAMES = 200  # of tools in the prompt

_Phrase = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]
_Phrases = Annotated[tuple[_Phrase, ...], msgspec.Meta(min_length=_FEWEST, max_length=2 * _NUMBER)]


class Situations(msgspec.Struct, frozen=True):
    """Who uses a service, and on which occasions."""

    persons: _Phrases
    occasions: _Phrases


def library_situations(folder: Path, library: ToolLibrary, run: RunSettings) -> Situations | None:
    """The persons and occasions of a library; None if the writer's answer has none, or before a dry run.

    Args:
        folder: Data folder, in whose `situations/` they are kept.
        library: The tools.
        run: The writer and its limits.

    Raises:
        ToolassayError: The writer gave no answer.
    """
    phrases = {"type": "array", "items": {"type": "string"}}
    prompt = Template(package_template("writing", FOLDER)).substitute(
        service=shown_service(library), tools=", ".join(library.ids[:_MOST_NAMES]), number=_NUMBER
    )
    question = ModelQuestion(
        FOLDER,
        prompt,
        Situations,
        object_schema({"persons": phrases, "occasions": phrases}),
        {"temperature": 0.7, "max_tokens": 2500},
        "the built-in persons and occasions are drawn",
    )
    return asked_once(question, folder, run)
