"""Files: read and written whole, locked between processes, as spreadsheets; the files of a program."""
