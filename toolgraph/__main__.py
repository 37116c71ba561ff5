"""`python -m toolgraph`."""

from toolgraph.cli.main import main

if __name__ == "__main__":
    main()
