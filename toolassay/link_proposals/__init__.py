"""A model proposes links of a schema graph and shapes of unknown results; the data folder keeps them.

Each request is about the results of some tools, and shows a bounded number of others. What the model answers
is checked against the schemas whenever the graph is built, so that a changed tool needs no new answer.
"""
