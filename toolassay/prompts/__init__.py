"""What a model is shown of tools, and the forms in which it may answer."""
