"""The stages of the pipeline, one file each: what a command and a library call both do."""
