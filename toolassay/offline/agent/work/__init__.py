"""A file a kind of work: from what a request says to the calls; None where it asks for something else."""
