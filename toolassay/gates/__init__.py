"""Gates decide whether a gold plan can be released. Each checks one property and reports why it fails."""
