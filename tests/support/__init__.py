"""What tests share: builders of data, runs of commands, servers and models to ask."""
