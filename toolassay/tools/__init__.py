"""Tools and the tool library: arguments, types, words of names, results."""
