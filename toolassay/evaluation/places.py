"""Paths of predictions and metrics of a data folder, and the names of their models."""

from __future__ import annotations

from pathlib import Path

from toolassay.errors import UsageError, as_called
from toolassay.files.data_files import safe_name
from toolassay.records.data_folder import DataFolder
from toolassay.runs.manifest import recorded_settings
from toolassay.runs.outcomes import has_record
from toolassay.runs.settings import PREDICTIONS

EVERY_MODEL = "all"
"""Value of `--llm` for every model with a prediction file."""
_OF_WAYS = tuple(f"{PREDICTIONS}{way}" for way in ("", "_tools", "_react", "_calls", "_agents"))


def models_of(data_dir: str | Path, prediction_dir: str | Path = "predictions") -> list[str]:
    """The models with a prediction file, sorted by file name.

    A name is that in the run's manifest, else that of the file.

    Raises:
        UsageError: The folder does not exist or has no prediction file.
    """
    folder = prediction_folder(DataFolder(Path(data_dir)).require().path, Path(prediction_dir))
    files = sorted(folder.glob("*.json"))
    if not files:
        raise UsageError("holds no prediction file", file=folder, fix=f"make one with {as_called('infer')}")
    return [model_name(folder, path.stem) for path in files]


def model_name(predictions: Path, stem: str) -> str:
    """The model of a prediction file: the name in the run's manifest, else `stem`, the name of the file."""
    name = recorded_model(predictions, stem)
    return name if safe_name(name) == stem else stem


def recorded_model(predictions: Path | None, stem: str) -> str:
    """The model that the run's manifest names, also if its files were renamed; without one, `stem`."""
    settings = recorded_settings(predictions / "runs" / stem) if predictions is not None else None
    return str((settings or {}).get("llm") or stem)


def prediction_folder(data_dir: Path, prediction_dir: Path, llm: str = "") -> Path:
    """The prediction folder, by default one of the model: below the data folder, else as a path.

    Raises:
        UsageError: It does not exist.
    """
    folder = _existing_folder(data_dir, prediction_dir, llm)
    if not folder.is_dir():
        raise UsageError(
            f"no prediction folder '{prediction_dir}' (nor in {data_dir})", fix="check --prediction_dir"
        )
    return folder


def prediction_file(data_dir: Path, prediction_dir: Path, llm: str) -> Path:
    """The prediction file of a model.

    Raises:
        UsageError: There is none; the message names the existing ones.
    """
    folder = prediction_folder(data_dir, prediction_dir, llm)
    path = folder / f"{safe_name(llm)}.json"
    if not path.is_file():
        if has_record(folder / "runs" / path.stem):
            raise UsageError(
                "does not exist: no item of this run has an answer yet",
                file=path,
                fix=f"run the same {as_called('infer')} command again; it reports why items failed",
            )
        predictions = ", ".join(sorted(file.stem for file in folder.glob("*.json"))) or "none"
        raise UsageError("no such prediction file", file=path, fix=f"check --llm; found: {predictions}")
    return path


def metrics_folder(
    data_dir: Path,
    prediction_dir: str | Path,
    save_dir: str | Path | None = None,
    alignment: str | None = None,
) -> Path:
    """The metrics folder of a prediction folder, always inside the data folder.

    "predictions" in the name is replaced by "metrics"; other names get the prefix "metrics_".

    >>> metrics_folder(Path("d"), "predictions_direct", alignment="node").as_posix()
    'd/metrics_direct_alignment_node'
    >>> metrics_folder(Path("d"), "outputs").as_posix()
    'd/metrics_outputs'
    """
    if save_dir is not None:
        return data_dir / save_dir
    relative = Path(prediction_dir)
    predictions = _existing_folder(data_dir, relative).resolve()
    home = data_dir.resolve()
    if predictions.is_dir() and predictions.is_relative_to(home):
        relative = predictions.relative_to(home)
    elif relative.is_absolute() or ".." in relative.parts:
        relative = Path(relative.name)
    text = relative.as_posix()
    if "predictions" in text:
        relative = Path(text.replace("predictions", "metrics"))
    else:
        relative = relative.with_name(f"metrics_{relative.name}") if relative.name else Path("metrics")
    suffix = "" if alignment is None else f"_alignment_{alignment}"
    return data_dir / relative.with_name(relative.name + suffix)


def find_metrics_folder(data_dir: Path, prediction_dir: str | Path, given: str | Path | None) -> Path:
    """The existing metrics folder: `given` below the data folder, else as a path; None for the default."""
    folder = metrics_folder(data_dir, prediction_dir, given)
    return folder if given is None or folder.is_dir() else Path(given)


def default_predictions(data_dir: Path, llm: str = "") -> str | None:
    """The prediction folder that commands read by default: plans before calls and agents, then tagged ones.

    The first that has predictions of the model, else the first that is no tagged one; None if there is none.
    """
    there = [name for name in _OF_WAYS if (data_dir / name).is_dir()]
    tagged = sorted(path.name for path in data_dir.glob(f"{PREDICTIONS}*") if path.is_dir())
    of_model = (name for name in (*there, *tagged) if (data_dir / name / f"{safe_name(llm)}.json").is_file())
    return next(of_model, there[0] if there else None)


def _existing_folder(data_dir: Path, prediction_dir: Path, llm: str = "") -> Path:
    if prediction_dir == Path(PREDICTIONS):
        prediction_dir = Path(default_predictions(data_dir, llm) or PREDICTIONS)
    inside = data_dir / prediction_dir
    return inside if inside.is_dir() else prediction_dir
