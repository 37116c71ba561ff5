"""The example that `toolassay workbench new` writes if no files are given: a small lending library."""
