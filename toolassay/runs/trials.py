"""Trials, repeated runs of one model: their folders, files, seeds and settings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolassay.files.data_files import safe_name, sha256_of
from toolassay.runs.manifest import LEDGER, read_manifest
from toolassay.runs.wording import Wording

if TYPE_CHECKING:
    from toolassay.models import ModelOptions

FOLDER = "trials"
SEED = "seed"


@dataclass(frozen=True)
class Trial:
    """One run of a model: trial 0 is in the prediction folder, the others in `trials/<number>/` below it.

    Attributes:
        predictions: Prediction folder of trial 0.
        llm: Name of the model.
        number: Number of the trial, from 0.

    >>> trial = Trial(Path("predictions"), "acme/one", 2)
    >>> trial.output.as_posix(), trial.run_folder.as_posix()
    ('predictions/trials/2/acme__one.json', 'predictions/trials/2/runs/acme__one')
    """

    predictions: Path
    llm: str
    number: int = 0

    @property
    def folder(self) -> Path:
        """The prediction folder of this trial."""
        return self.predictions / FOLDER / str(self.number) if self.number else self.predictions

    @property
    def output(self) -> Path:
        """The prediction file."""
        return self.folder / f"{safe_name(self.llm)}.json"

    @property
    def run_folder(self) -> Path:
        """The folder of the journal, ledger and manifest."""
        return self.folder / "runs" / safe_name(self.llm)

    @property
    def ledger(self) -> Path:
        """The ledger of this trial."""
        return self.run_folder / LEDGER

    @property
    def other_ledgers(self) -> list[Path]:
        """The existing ledgers of the other trials, which share one budget with this one."""
        numbers = {0, *_numbers(self.predictions)} - {self.number}
        ledgers = (replace(self, number=number).ledger for number in sorted(numbers))
        return [ledger for ledger in ledgers if ledger.is_file()]

    def wording(self, *, again: bool = False) -> Wording:
        """The wording of this trial; of a further trial without one, that of trial 0."""
        return Wording.read(self.run_folder, replace(self, number=0).run_folder, again=again)

    def options(self, options: ModelOptions) -> ModelOptions:
        """The options with the seed of this trial: the given seed plus the trial's number.

        Built-in models that draw (`DRAWS`) start from seed 0 if none is given; served models without a seed
        get none.

        >>> from toolassay.models import ModelOptions
        >>> options = ModelOptions(extra_body={"seed": 7})
        >>> [Trial(Path(), "m", number).options(options).extra_body for number in (0, 2)]
        [{'seed': 7}, {'seed': 9}]
        """
        from toolassay.models.registry import DRAWS

        seed = options.extra_body.get(SEED, 0 if self.llm in DRAWS else None)
        if not self.number or type(seed) is not int:
            return options
        return replace(options, extra_body={**options.extra_body, SEED: seed + self.number})

    def settings(self, options: ModelOptions) -> dict[str, Any]:
        """The settings of the server's options for the manifest, with the seed of this trial."""
        shifted = self.options(options)
        seed = {} if shifted is options else {SEED: shifted.extra_body[SEED]}
        return {**options.settings, **seed}


def trials_of(predictions: Path, llm: str) -> list[Trial]:
    """Trial 0 of a model and the others that have a prediction file, in order of their numbers."""
    further = (Trial(predictions, llm, number) for number in _numbers(predictions))
    return [Trial(predictions, llm), *(trial for trial in further if trial.output.is_file())]


def same_settings(trials: list[Trial]) -> tuple[list[Trial], list[Trial]]:
    """The trials with the settings of the first one, and those with other settings.

    The seed, and files that the agent writes, may differ.

    Raises:
        UsageError: A manifest is invalid.
    """
    manifests = [read_manifest(trial.run_folder) for trial in trials]
    left_out = {SEED, *(name for manifest in manifests for name in manifest.left_out)}
    compared = [
        {name: value for name, value in (manifest.settings or {}).items() if name not in left_out}
        for manifest in manifests
    ]
    alike = [trial for trial, settings in zip(trials, compared, strict=True) if settings == compared[0]]
    return alike, [trial for trial in trials if trial not in alike]


def fingerprint(files: Sequence[Path]) -> str:
    """The number of trials and a hash of their prediction files, e.g. "3-0123456789ab"."""
    together = hashlib.sha256("".join(map(sha256_of, files)).encode()).hexdigest()
    return f"{len(files)}-{together[:12]}"


def _numbers(predictions: Path) -> list[int]:
    folder = predictions / FOLDER
    names = [entry.name for entry in folder.iterdir() if entry.is_dir()] if folder.is_dir() else []
    return sorted(int(name) for name in names if name.isdecimal() and name == str(int(name)) and int(name))


def number_of(predictions: Path) -> int:
    """The number of the trial with this prediction folder; 0 if the folder is not one of a further trial.

    >>> number_of(Path("predictions/trials/2")), number_of(Path("predictions"))
    (2, 0)
    """
    return int(predictions.name) if predictions.parent.name == FOLDER and predictions.name.isdecimal() else 0
