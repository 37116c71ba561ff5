"""Variety of a data set: repeated requests, wording, and the use of tools, links, sizes and shapes."""
