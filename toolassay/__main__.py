"""`python -m toolassay`."""

from toolassay.cli.main import main

if __name__ == "__main__":
    main()
