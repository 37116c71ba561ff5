"""English: which words are nouns, verbs and plurals, and their forms; lists of words that hold for any text."""
