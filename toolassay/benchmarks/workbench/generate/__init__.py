"""The project's own workplace with 690 requests, generated from a seed."""
