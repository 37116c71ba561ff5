"""Export gold plans to formats for training and sharing.

A label becomes a `CallPlan` (checked, ordered, typed), and a plan becomes a line of one of the formats.
"""
