"""Gates: is a gold plan worth releasing? Each looks at one thing, and says why it holds a sample back."""
