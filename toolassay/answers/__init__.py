"""What an agent says to a person, and whether that is what they asked for."""
