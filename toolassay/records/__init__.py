"""The files of a data folder as records; published forms are converted at the edge."""
