"""The name and the version of the package, importable from every layer."""

__version__ = "0.3.0"

OLD_NAME = "toolgraph"
"""The package's name before it was renamed: files that carry it are read like files with the new name."""
