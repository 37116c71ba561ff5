"""Values of arguments: the places that a schema has for them, values that it allows, and fed arguments."""
