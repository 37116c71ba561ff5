"""The same as `toolgraph infer`."""

from toolgraph.cli.main import run_script

if __name__ == "__main__":
    run_script("infer")
