"""Judges of the state that an agent leaves: `compat` repeats the published evaluator, `strict` corrects
it.
"""
