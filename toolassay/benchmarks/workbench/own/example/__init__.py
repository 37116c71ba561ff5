"""A small lending library: what `toolassay workbench new` writes if nothing is given."""
