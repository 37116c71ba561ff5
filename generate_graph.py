"""The same as `toolassay graph`."""

from toolassay.cli.main import run_script

if __name__ == "__main__":
    run_script("graph")
