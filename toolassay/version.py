"""Version of the package, and its former name."""

__version__ = "0.3.0"

OLD_NAME = "toolgraph"
"""Former name of the package; files that contain it are read like files with the new name."""
