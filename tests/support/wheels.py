"""Packages of `tests/packages`, installed into a folder of their own."""

from __future__ import annotations

import tomllib
import zipfile
from pathlib import Path


def installed(source: Path, folder: Path) -> Path:
    """The folder, to be put on the path, with the files of the wheel of a package of one module.

    An installer does no more to a wheel without scripts, and takes half a second of a core to start.
    """
    target = folder / "installed"
    with zipfile.ZipFile(wheel_of(source, folder)) as wheel:
        wheel.extractall(target)
    return target


def wheel_of(source: Path, folder: Path) -> Path:
    """What a build backend makes of that package, without needing one."""
    project = tomllib.loads((source / "pyproject.toml").read_text())["project"]
    name, version = project["name"].replace("-", "_"), project["version"]
    points = [
        line
        for group, entries in project["entry-points"].items()
        for line in (f"[{group}]", *(f"{key} = {value}" for key, value in entries.items()))
    ]
    about = {
        "METADATA": f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n",
        "WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        "entry_points.txt": "\n".join(points),
        "RECORD": "",
    }
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.write(source / f"{name}.py", f"{name}.py")
        for file, text in about.items():
            archive.writestr(f"{name}-{version}.dist-info/{file}", text)
    return wheel
