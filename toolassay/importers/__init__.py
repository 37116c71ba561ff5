"""Other people's files, read into the published forms."""
