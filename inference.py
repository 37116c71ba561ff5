"""The same as `toolassay infer`."""

from toolassay.cli.main import run_script

if __name__ == "__main__":
    run_script("infer")
