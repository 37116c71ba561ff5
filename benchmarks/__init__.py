"""Programs that print the tables of docs/, and what they measure with."""
