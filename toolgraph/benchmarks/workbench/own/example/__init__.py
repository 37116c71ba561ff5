"""A small lending library: what `toolgraph workbench new` writes if nothing is given."""
