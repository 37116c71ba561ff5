"""English: which words are nouns, verbs and plurals, and their forms; word lists for any text."""
