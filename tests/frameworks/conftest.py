"""The programs need packages that the tests' own environment has not."""

collect_ignore_glob = ["programs/*"]
