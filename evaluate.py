"""The same as `toolassay evaluate`."""

from toolassay.cli.main import run_script

if __name__ == "__main__":
    run_script("evaluate")
