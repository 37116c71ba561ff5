"""The same as `toolassay visualize`."""

from toolassay.cli.main import run_script

if __name__ == "__main__":
    run_script("visualize")
