"""What a server really holds: values that its tools accept, and links that its results refute."""
